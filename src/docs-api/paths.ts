/** Slack's buttons hold 2000 characters, and ours carry more than an id. */
const MAX_ID_LENGTH = 512;

/**
 * Returns whether an id is safe in a path. Slashes and dot segments are refused, even encoded: addresses are normalized
 * on the way, and some proxies decode `%2F` first.
 */
export function isSafeId(id: string): boolean {
  if (id.trim() === '' || id.length > MAX_ID_LENGTH || !id.isWellFormed() || /\p{Cc}/u.test(id)) return false;
  return !/[/\\]|%2f|%5c/iu.test(id) && !/^(?:\.|%2e){1,2}$/iu.test(id);
}

/** Fills a path template. Returns the path, and the fields that the template does not name. */
export function fillPath(template: string, fields: Record<string, unknown>) {
  const rest = { ...fields };
  const path = template.replace(/\{(\w+)\}/gu, (_, name: string) => {
    delete rest[name];
    return encodeURIComponent(String(fields[name]));
  });
  return { path, rest };
}

/** Returns a page's path in the platform's form: without slashes at its ends, the home page as `index`. */
export const toPagePath = (path: string) => path.replace(/^\/+|(?<!\/)\/+$/gu, '') || 'index';

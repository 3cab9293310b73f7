import { readFileSync } from 'node:fs';

/** Returns the parts of a checked base address: `origin` without a final slash, `prefix` empty or beginning with one. */
export function parseBaseUrl(baseUrl: string): { origin: string; prefix: string } {
  const { origin, pathname } = new URL(baseUrl);
  return { origin, prefix: withoutVersion(pathname) };
}

/** Removes a version from the end: platforms publish their base address with one, but each operation's path has it. */
function withoutVersion(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  if (/^v[12]$/iu.test(parts.at(-1) ?? '')) parts.pop();
  return parts.map((part) => `/${part}`).join('');
}

/** Returns whether a host name in the form of `URL` is `localhost`, `127.0.0.0/8` or `::1`. */
export const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);

/** Returns the key in a file, without the white space around it. Throws errors of the file system. */
export const readKeyFile = (path: string): string => readFileSync(path, 'utf8').trim();

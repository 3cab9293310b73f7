import { readFileSync } from 'node:fs';

/** A setting of the client that cannot work. `message` names the problem and its fix, and contains no secret. */
export class DocsApiSettingsError extends Error {
  override readonly name = 'DocsApiSettingsError';
}

/**
 * Parses the base address: `origin` without a final slash, `prefix` empty or beginning with one. Throws
 * `DocsApiSettingsError` without the address, which may contain a password.
 */
export function parseBaseUrl(baseUrl: string): { origin: string; prefix: string } {
  const url = URL.parse(baseUrl);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new DocsApiSettingsError(
      'The address of the docs platform is not an http(s) address. Use one such as https://api.example.com.',
    );
  if (url.username || url.password || url.search || url.hash)
    throw new DocsApiSettingsError(
      'DOCS_API_URL, the address of the docs platform, has a user, a query or a fragment. Use scheme, host and path only; the API key has a setting of its own.',
    );
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new DocsApiSettingsError(
      'The address of the docs platform is not encrypted, so the API key could be read on the way. Use https://. Plain http is accepted for loopback hosts only.',
    );
  return { origin: url.origin, prefix: withoutVersion(url.pathname) };
}

/** Removes a version from the end: platforms publish their base address with one, but each operation's path has it. */
function withoutVersion(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  if (/^v[12]$/iu.test(parts.at(-1) ?? '')) parts.pop();
  return parts.map((part) => `/${part}`).join('');
}

/** Returns whether a host name in the form of `URL` is `localhost`, `127.0.0.0/8` or `::1`. */
export const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);

/** Throws `DocsApiSettingsError` if the key cannot be in a header. */
export function checkKey(apiKey: string): void {
  if (/^[\x21-\x7e]+$/u.test(apiKey)) return;
  const problem =
    apiKey === ''
      ? 'The API key is empty.'
      : 'The API key has a space, a line break or a character outside ASCII.';
  throw new DocsApiSettingsError(
    `${problem} Copy the admin API key again from the API keys page of the platform.`,
  );
}

/** Returns the key in a file, without the white space around it. Throws errors of the file system. */
export const readKeyFile = (path: string): string => readFileSync(path, 'utf8').trim();

import { DocsApiSettingsError } from './errors.ts';

/** The target of requests: `origin` without a final slash, `prefix` empty or beginning with one. */
export interface BaseUrl {
  origin: string;
  prefix: string;
}

/** Parses the base address. Throws `DocsApiSettingsError` without the address, which may contain a password. */
export function parseBaseUrl(baseUrl: string): BaseUrl {
  const url = URL.parse(baseUrl);
  const unfit = (problem: string, fix: string) => new DocsApiSettingsError('baseUrl', problem, fix);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw unfit(
      'The address of the docs platform is not an http(s) address.',
      'Use one such as https://api.example.com.',
    );
  }
  if (url.username || url.password || url.search || url.hash) {
    throw unfit(
      'DOCS_API_URL, the address of the docs platform, has a user, a query or a fragment.',
      'Use scheme, host and path only; the API key has a setting of its own.',
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw unfit(
      'The address of the docs platform is not encrypted, so the API key could be read on the way.',
      'Use https://. Plain http is accepted for loopback hosts only.',
    );
  }
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
  throw new DocsApiSettingsError(
    'apiKey',
    apiKey === ''
      ? 'The API key is empty.'
      : 'The API key has a space, a line break or a character outside ASCII.',
    'Copy the admin API key again from the API keys page of the platform.',
  );
}

/** Throws `DocsApiSettingsError` if the time is too long for a timer: from 2^31 on, those of Node fire at once. */
export function checkTimeout(timeoutMs: number): void {
  if (timeoutMs >= 1 && timeoutMs < 2 ** 31) return;
  throw new DocsApiSettingsError('timeoutMs', `timeoutMs is ${timeoutMs}.`, 'Use a number of at least 1.');
}

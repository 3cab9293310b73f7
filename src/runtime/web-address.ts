/** Longer than any presigned link; parsing a host name takes quadratic time. */
const MAX_LENGTH = 8000;

/** Control characters, and those that hide text or change its direction, also as a page encodes them. */
const MISLEADING =
  /[\s\p{C}\p{Default_Ignorable_Code_Point}]|%[01][0-9a-f]|%7f|%e2%80%[8a][a-f]|%e2%81%a[0-9a-f]/iu;

/**
 * Returns an address of outsiders if it may become a link: one of HTTP, without a user or a password, which can look like
 * another host, and without characters that mislead its reader. Else undefined.
 */
export function readWebAddress(text: string): URL | undefined {
  if (text.length > MAX_LENGTH || MISLEADING.test(text)) return undefined;
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isWeb && url.username === '' && url.password === '' ? url : undefined;
}

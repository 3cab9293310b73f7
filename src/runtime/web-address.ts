/** Longer than any presigned link; parsing a host name takes quadratic time. */
const MAX_LENGTH = 8000;

/** Control characters, and those that hide text or change its direction, also as a page encodes them. */
const MISLEADING =
  /[\s\p{C}\p{Default_Ignorable_Code_Point}]|%[01][0-9a-f]|%7f|%e2%80%[8a][a-f]|%e2%81%a[0-9a-f]/iu;

/** Names of hosts that only a network of its own knows. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|lan)$/;

/**
 * Returns whether an address of outsiders may be given to others: of https and a public host by its name, and without a
 * port, and without a query, which may be a signature.
 */
export function isPublicAddress(text: string): boolean {
  const { protocol, hostname = '', port } = readWebAddress(text) ?? {};
  // The last part of an IP address is a number, and WHATWG's parser has written it out.
  const isName = /^(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*$/.test(hostname) && !PRIVATE_NAME.test(hostname);
  return isName && protocol === 'https:' && port === '' && !/[?#]/.test(text);
}

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

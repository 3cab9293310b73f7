/**
 * Where Redis is: an address (`redis://…`, `rediss://…`), with the certificate of a private authority as PEM, or the
 * path of a unix socket.
 */
export type RedisAddress = { url: string; ca?: string | undefined } | { socketPath: string };

/** Returns the options of a connection. Anything else in an address, such as `?host=`, is ignored. */
export function serverOf(address: RedisAddress) {
  if ('socketPath' in address) return { path: address.socketPath };
  const url = new URL(address.url);
  return {
    host: url.hostname.replace(/^\[|\]$/g, '') || 'localhost',
    port: Number(url.port || 6379),
    db: Number(url.pathname.slice(1)),
    ...(url.username !== '' && { username: decodeCredential(url.username) }),
    ...(url.password !== '' && { password: decodeCredential(url.password) }),
    ...(url.protocol === 'rediss:' && { tls: { ...(address.ca !== undefined && { ca: address.ca }) } }),
  };
}

/** Returns a name or password of an address decoded, or as it is written when a `%` in it encodes nothing. */
export function decodeCredential(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

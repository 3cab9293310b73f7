import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';

/** Headers in which a proxy names its client. */
const PROXY_HEADER = /^(?:forwarded|via|x-real-ip|cf-connecting-ip|true-client-ip|x-forwarded-.*)$/;

/**
 * Returns whether a request came through a proxy, whose address is not the client's, or from a page of another site.
 * Some proxies add no header, but use HTTP/1.0, which no present client does by itself.
 */
export function isIndirect({ headers, httpVersion }: IncomingMessage): boolean {
  const { origin, host } = headers;
  if (httpVersion !== '1.1' || Object.keys(headers).some((name) => PROXY_HEADER.test(name))) return true;
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Returns whether an address is in a list; an IPv4 address in IPv6 form counts as IPv4. */
export function isListed(list: BlockList, address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

/** This machine's names for itself, with any port. */
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Returns whether a request comes from this machine and names it by a loopback name. A page in a local browser whose
 * name was made to resolve here (DNS rebinding) uses that name, and so does a proxy that keeps the name.
 */
export const isFromThisMachine = (request: IncomingMessage): boolean =>
  isListed(loopback, request.socket.remoteAddress) &&
  !isIndirect(request) &&
  LOOPBACK_HOST.test(request.headers.host ?? '');

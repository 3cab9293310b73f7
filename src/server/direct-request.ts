import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';

/** Headers by which a proxy says for whom it asks. */
const PROXY_HEADER = /^(?:forwarded|via|x-real-ip|cf-connecting-ip|true-client-ip|x-forwarded-.*)$/;

/**
 * Returns whether a request came through a proxy, whose address is not that of whoever asks, or from a page of another
 * site. Some proxies name nobody, but ask by HTTP/1.0, which no client of today does by itself.
 */
export function isIndirect({ headers, httpVersion }: IncomingMessage): boolean {
  const { origin, host } = headers;
  if (httpVersion !== '1.1' || Object.keys(headers).some((name) => PROXY_HEADER.test(name))) return true;
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Returns whether an address is in a list; one of IPv4 that is written as one of IPv6 counts as what it is. */
export function isListed(list: BlockList, address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

/** The names under which this machine calls itself, with any port. */
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Returns whether a request comes from this machine, and asks for it by a name of its own. A page in a browser of this
 * machine whose name was made to lead here (DNS rebinding) asks by that name, and so does a proxy that keeps the name.
 */
export const isFromThisMachine = (request: IncomingMessage): boolean =>
  isListed(loopback, request.socket.remoteAddress) &&
  !isIndirect(request) &&
  LOOPBACK_HOST.test(request.headers.host ?? '');

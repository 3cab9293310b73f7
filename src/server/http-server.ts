import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import { type AddressInfo, BlockList, isIPv6, type Socket } from 'node:net';
import { createThrottledWarn, type Log } from '../runtime/log.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import { withTimeout } from '../runtime/with-timeout.ts';

/** With an import of `node:http`, Node would also load its own `fetch`, for its WebSocket: 50 ms. */
const http = process.getBuiltinModule('node:http');

/** Answers one request. If it rejects, the server answers 500. */
type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

/** The settings that name a port. */
type PortSetting = 'PORT' | 'HEALTH_PORT' | 'QUEUE_DASHBOARD_PORT';

/** How long open requests may take when Docket stops; Slack waits no longer for an answer. */
const DRAIN_MS = 3000;

/** A request that takes longer to arrive is cut off: Slack waits 3 s for the answer. */
const RECEIVE_TIMEOUT_MS = 5000;

interface HttpServerOptions {
  /** The address to listen on; all of this machine's if it is left out. */
  host?: string | undefined;
  /** How long a connection without a request stays open. */
  keepAliveMs?: number;
  receiveTimeoutMs?: number;
}

/** Starts a listening server. Throws `OperatorError` if it cannot listen there. */
export async function startHttpServer(
  setting: PortSetting,
  port: number,
  log: Log,
  { host, keepAliveMs = 75_000, receiveTimeoutMs = RECEIVE_TIMEOUT_MS }: HttpServerOptions = {},
) {
  const routes = new Map<string, HttpHandler>();

  const limits = {
    keepAliveTimeout: keepAliveMs,
    headersTimeout: receiveTimeoutMs,
    requestTimeout: receiveTimeoutMs,
    connectionsCheckingInterval: receiveTimeoutMs / 5,
  };
  // No part of a request is logged: anybody can choose its address.
  const server = createBoundedServer(limits, async (request, response) => {
    const [path] = (request.url ?? '').split('?', 1);
    const folder = path?.slice(0, path.lastIndexOf('/') + 1);
    const handler = routes.get(`${request.method} ${path}`) ?? routes.get(`${request.method} ${folder}`);
    try {
      if (handler === undefined) refuse(response, 404);
      else if (request.method === 'GET' && hasBody(request)) refuse(response, 400);
      else await handler(request, response);
    } catch (error) {
      log.error({ err: error }, 'a request could not be answered');
      if (response.headersSent) response.end();
      else refuse(response, 500);
    }
  });
  const bound = await listen(server, setting, port, host);
  const warn = createThrottledWarn(log, () => performance.now());
  const NOT_ACCEPTED = 'a connection could not be accepted';
  // Such as too many open files, which passes.
  server.on('error', (error) => warn(error, NOT_ACCEPTED));
  server.on('drop', () => warn(new Error('too many connections are open'), NOT_ACCEPTED));

  let closed: Promise<void> | undefined;
  async function close() {
    const ended = once(server, 'close');
    server.close();
    await withTimeout(DRAIN_MS, ended).catch(() => server.closeAllConnections());
    await ended;
  }

  return {
    port: bound,
    /**
     * Answers requests with this method and path, such as `GET /healthz`, with any query. A path with a slash at its end
     * takes every name in that folder.
     */
    route: (name: `${'GET' | 'POST'} /${string}`, handler: HttpHandler) => void routes.set(name, handler),
    /** Stops listening, waits up to 3 s for open requests, and cuts off the rest. Safe to call twice. */
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** Further connections are closed at once, and so are those without a request. Each may hold what was read from it last. */
const MAX_CONNECTIONS = 1000;

/** Node parses what it has read to the end, even after a refusal. A read of 64 kB can hold 11,000 pieces of a body. */
const PARSED_BYTES = 1000;

/** A body with more pieces than this needs so many bytes in each, on average. Those of proxies have about 1 kB. */
const MAX_TINY_PIECES = 100;
const TINY_BYTES = 256;

/** Connections of which nothing more is parsed. */
const refused = new WeakSet<Socket>();

/** A request that closes its connection if its body comes in too many tiny pieces, each of which costs a buffer. */
class BoundedRequest extends http.IncomingMessage {
  #pieces = 0;
  #bytes = 0;

  override push(piece: NonSharedBuffer | null): boolean {
    if (this.destroyed || refused.has(this.socket)) return false;
    this.#pieces += 1;
    this.#bytes += piece?.length ?? 0;
    const isFlood = this.#pieces > MAX_TINY_PIECES && this.#bytes < this.#pieces * TINY_BYTES;
    if (!isFlood) return super.push(piece);
    this.destroy();
    return false;
  }
}

/** Returns a server whose connections together hold little, whatever they send. */
export function createBoundedServer(options: ServerOptions, answer: RequestListener): Server {
  const server = http.createServer(
    { ...options, IncomingMessage: BoundedRequest as typeof IncomingMessage },
    answer,
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on('drop', () => server.closeIdleConnections());
  server.on('connection', (socket) => {
    const [parse] = socket.listeners('data');
    socket.removeAllListeners('data').on('data', (read: NonSharedBuffer) => {
      for (let at = 0; at < read.length; at += PARSED_BYTES) {
        if (socket.destroyed || refused.has(socket)) return;
        // Too many answers wait: Node continues when they are sent.
        if (socket.isPaused()) return void socket.unshift(read.subarray(at));
        parse?.call(socket, read.subarray(at, at + PARSED_BYTES));
      }
    });
  });
  return server;
}

/** Makes a server listen, on all addresses unless `host` is given. Returns its port. Throws `OperatorError`. */
export async function listen(server: Server, setting: PortSetting, port: number, host?: string) {
  server.listen(port, host);
  try {
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const problem = {
      EADDRINUSE: `Port ${port} is taken by another program. Stop that one, or set ${setting} to a free port.`,
      EADDRNOTAVAIL:
        'HOST is no address of this machine. Set it to one of them, such as 127.0.0.1, or unset it.',
      EACCES: `Port ${port} may not be listened on by this user. Set ${setting} to 1024 or above.`,
    }[code];
    if (problem !== undefined) throw new OperatorError(problem);
    throw error;
  }
}

/** Returns whether a request has a body, by its headers. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** How long a refused connection stays open, so that its answer arrives: closing it discards unread data. */
const LINGER_MS = 500;

/** Answers with an error, reads nothing more and closes the connection: the rest of a body could be endless. */
export function refuse(response: ServerResponse, status: number, text = ''): void {
  const { req: request, socket } = response;
  const type = text === '' ? {} : { 'content-type': 'text/plain; charset=utf-8' };
  response.writeHead(status, { connection: 'close', 'content-length': Buffer.byteLength(text), ...type });
  response.flushHeaders();
  if (text !== '') response.write(text);
  // The response is not ended, because Node would continue to read.
  request.pause();
  if (socket) stopReading(socket);
  setTimeout(() => socket?.destroy(), LINGER_MS).unref();
}

/** Drops what has arrived on a connection and was not parsed, and reads nothing more. */
function stopReading(socket: Socket & { _handle?: { readStop(): void } | null }): void {
  refused.add(socket);
  socket.pause();
  // A paused socket still reads 64 kB, and keeps them.
  socket._handle?.readStop();
}

/** Answers with JSON that no proxy may cache. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}

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
 * Returns whether a request comes from this machine and names it by a loopback name. Other names come from proxies, and
 * from pages in a local browser whose name was made to resolve here (DNS rebinding).
 */
export const isFromThisMachine = (request: IncomingMessage): boolean =>
  isListed(loopback, request.socket.remoteAddress) &&
  !isIndirect(request) &&
  LOOPBACK_HOST.test(request.headers.host ?? '');

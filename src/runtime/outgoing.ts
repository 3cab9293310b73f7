import { pipeline, type Readable } from 'node:stream';
import tls from 'node:tls';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import {
  type Agent,
  DecoratorHandler,
  type Dispatcher,
  EnvHttpProxyAgent,
  setGlobalDispatcher,
} from 'undici';

/** The outgoing proxies, named as by `HTTPS_PROXY` and the like; empty for none. */
export interface Proxies {
  httpProxy: string;
  httpsProxy: string;
  noProxy: string;
}

/** Usual answers are far smaller; an endless one, or one that grows when decoded, must not fill the memory. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** No proxy leads to this machine. */
const THIS_MACHINE = 'localhost,127.0.0.1,::1';

/** Returns an agent that uses the proxies. HTTP/1.1 only: undici resends requests over HTTP/2 by itself. */
export function createOutgoingAgent(proxies: Proxies | undefined, options: Agent.Options = {}): Dispatcher {
  const { httpProxy = '', httpsProxy = '', noProxy = '' } = proxies ?? {};
  return new EnvHttpProxyAgent({
    ...options,
    allowH2: false,
    proxyTls: { allowH2: false },
    httpProxy,
    httpsProxy,
    noProxy: `${noProxy},${THIS_MACHINE}`,
  });
}

/**
 * Makes every connection of this process also trust the authorities of `nodeExtraCaCerts` (PEM), and every `fetch` use the
 * proxies. Node would read both from the environment, but not from `.env`.
 */
export function configureOutgoing(settings: { proxies: Proxies; nodeExtraCaCerts?: string | undefined }) {
  const { proxies, nodeExtraCaCerts = '' } = settings;
  const authorities = nodeExtraCaCerts.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (authorities) tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...authorities]);
  setGlobalDispatcher(createOutgoingAgent(proxies, { maxResponseSize: MAX_RESPONSE_BYTES }));
}

/**
 * Returns a dispatcher that calls `check` right before a request is written to an open connection. If `check` throws,
 * the request fails with that error, and nothing of it is sent. A request whose `check` was not called never left.
 */
export function beforeSending(dispatcher: Dispatcher, check: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const checked: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
    const start = checked.onRequestStart?.bind(checked);
    checked.onRequestStart = (...args) => {
      check();
      start?.(...args);
    };
    return dispatch(options, checked);
  });
}

/** Returns the code of a connection's failure, the innermost of a wrapped one; never a part of the data sent. */
export function connectionCode(error: unknown): string {
  let code = error instanceof Error ? error.name : 'no reason';
  for (
    let one = error;
    one instanceof Error;
    one = one instanceof AggregateError ? one.errors[0] : one.cause
  ) {
    const [, proxyStatus] = /^Proxy response \((\d{3})\)/.exec(one.message) ?? [];
    if (proxyStatus !== undefined) return `PROXY_${proxyStatus}`;
    if ('code' in one && typeof one.code === 'string') code = one.code.slice(0, 60);
  }
  return code;
}

export interface OutgoingRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  /** JSON. */
  body?: string | undefined;
  /** The rest of an answer is not read. */
  maxLength?: number;
  /** Called right before the request leaves, since a process may freeze; if it returns true, nothing is sent. */
  isTooLate?: (() => boolean) | undefined;
}

/** The result of a request. Without an answer, there is no status; without a whole one, there is a cause. */
export interface Sent {
  /** If false, the request certainly never left. */
  isSent: boolean;
  status?: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  cause?: unknown;
}

/** Nothing was sent, since `isTooLate` returned true. */
export class TooLate extends Error {
  override readonly name = 'TooLate';
}

/** Sends a request once, without redirects. Never rejects. */
export async function sendOnce(
  connections: Dispatcher,
  { method, url, headers, body, maxLength = MAX_RESPONSE_BYTES, isTooLate }: OutgoingRequest,
  signal: AbortSignal,
): Promise<Sent> {
  const sent: Sent = { isSent: false, headers: {}, text: '' };
  const dispatcher = beforeSending(connections, () => {
    signal.throwIfAborted();
    if (isTooLate?.()) throw new TooLate();
    sent.isSent = true;
  });
  // undici ignores the signal until a connection is open, which may take minutes behind a proxy.
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const { origin, pathname, search } = new URL(url);
  const own = { 'user-agent': 'docket', ...(body && { 'content-type': 'application/json' }) };
  const request = { origin, path: pathname + search, headers: { ...own, ...headers }, body: body ?? null };
  try {
    const answer = await Promise.race([dispatcher.request({ method, ...request, signal }), aborted]);
    sent.status = answer.statusCode;
    sent.headers = answer.headers;
    // Destroying a body that is still arriving makes it emit an error, even after we stopped reading.
    answer.body.on('error', () => {});
    const decoder = new TextDecoder();
    for await (const chunk of decoded(answer.body, answer.headers['content-encoding'])) {
      sent.text += decoder.decode(chunk, { stream: true });
      if (sent.text.length >= maxLength) break;
    }
  } catch (cause) {
    sent.cause = cause;
  }
  return sent;
}

/** Returns the content of a body. Some servers compress without being asked to. */
function decoded(body: Readable, encoding: string | string[] | undefined): Readable {
  const decoder = /^(?:x-)?gzip$|^deflate$/i.test(String(encoding))
    ? createUnzip()
    : /^br$/i.test(String(encoding)) && createBrotliDecompress();
  // An error of the body also ends the decoder.
  return decoder ? pipeline(body, decoder, () => {}) : body;
}

/** A longer wait is cut: the other side may be wrong, and nothing else would end the work. */
const MAX_WAIT_MS = 86_400_000;

/** Returns the milliseconds until the time in a `Retry-After`: seconds or an HTTP date; undefined for anything else. */
export function readRetryAfter({ date, ...headers }: Sent['headers']): number | undefined {
  const text = String(headers['retry-after']).trim();
  if (/^\d{1,9}(?:\.\d+)?$/u.test(text)) return Math.min(Math.round(Number(text) * 1000), MAX_WAIT_MS);
  if (!/^[A-Z][a-z]{2,8},[ \w:-]{18,24} GMT$/.test(text)) return undefined;
  // The clock of the other side counts, since both times are its own.
  const waitMs = Date.parse(text) - (Date.parse(String(date)) || Date.now());
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), MAX_WAIT_MS);
}

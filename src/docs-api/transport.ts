import { type Dispatcher, errors } from 'undici';
import { beforeSending } from '../runtime/outgoing.ts';

/** One request to send. Limits in milliseconds and bytes. */
export interface HttpRequest {
  origin: string;
  path: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string | undefined;
  /** Longest silence before the headers and between two parts of the body. */
  idleTimeoutMs: number;
  maxBytes: number;
  signal: AbortSignal;
  /** Called when the connection is open and nothing is sent yet. If it throws, nothing is sent. */
  onSend: () => void;
}

/** A response whose headers arrived. If its body is incomplete, `text` is missing and `bodyFailure` says why. */
export interface HttpResponse {
  status: number;
  contentType: string;
  retryAfter: string | undefined;
  text?: string;
  bodyFailure?: BodyFailure;
}

export type BodyFailure = { reason: 'too_large' } | { reason: 'cut_off'; cause: unknown };

/** Error responses are only read for their message. */
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Sends a request and reads its response. Throws errors of undici or `onSend` if there is none. Follows no redirects.
 */
export async function send(dispatcher: Dispatcher, request: HttpRequest): Promise<HttpResponse> {
  const response = await sendRequest(dispatcher, request);
  const ok = response.statusCode >= 200 && response.statusCode < 300;
  return {
    status: response.statusCode,
    contentType: first(response.headers['content-type']) ?? '',
    retryAfter: first(response.headers['retry-after']),
    ...(await readText(response, ok ? request.maxBytes : Math.min(request.maxBytes, MAX_ERROR_BYTES))),
  };
}

/**
 * Uses its own timer for the headers: undici's is late by up to half a second, too much for a short limit. And undici
 * ignores a signal until a connection is open, which may take minutes behind a proxy.
 */
async function sendRequest(dispatcher: Dispatcher, request: HttpRequest): Promise<Dispatcher.ResponseData> {
  const { origin, path, method, headers, body, idleTimeoutMs, signal, onSend } = request;
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new errors.HeadersTimeoutError()), idleTimeoutMs);
  const interrupted = AbortSignal.any([signal, idle.signal]);
  const interruption = new Promise<never>((_, reject) => {
    interrupted.addEventListener('abort', () => reject(interrupted.reason), { once: true });
  });
  const send = () => {
    interrupted.throwIfAborted();
    onSend();
  };
  try {
    const response = beforeSending(dispatcher, send).request({
      origin,
      path,
      method,
      headers,
      body: body ?? null,
      signal: interrupted,
      headersTimeout: 0,
      bodyTimeout: idleTimeoutMs,
    });
    return await Promise.race([response, interruption]);
  } finally {
    clearTimeout(timer);
  }
}

function first(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

async function readText(
  { headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<{ text: string } | { bodyFailure: BodyFailure }> {
  // Destroying a body that is still arriving makes it emit an error, even after we stopped reading.
  body.on('error', () => {});
  if (Number(first(headers['content-length'])) > maxBytes) {
    body.destroy();
    return { bodyFailure: { reason: 'too_large' } };
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes) return { bodyFailure: { reason: 'too_large' } };
      chunks.push(chunk);
    }
  } catch (cause) {
    return { bodyFailure: { reason: 'cut_off', cause } };
  }
  return { text: new TextDecoder().decode(Buffer.concat(chunks)) };
}

import {
  connectionCode,
  createOutgoingAgent,
  type OutgoingRequest,
  type Proxies,
  readRetryAfter,
  type Sent,
  sendOnce,
} from '../runtime/outgoing.ts';

/** The result of a request. Only `text` and `headers` are from outside. */
export interface Answer extends Omit<Sent, 'cause'> {
  /** `refused`: a redirect or a 4xx; `failed`: no answer, or a 5xx. */
  outcome: 'ok' | 'refused' | 'failed';
  /** The status, a code or a few words. */
  reason: string;
  retryAfterMs: number | undefined;
}

/** Sends a request to a deployment once, and within a time limit for the whole call. */
export type Send = ReturnType<typeof createSender>['send'];

/**
 * Returns a sender. Opens no connection. Once `stopping` is aborted, no request leaves, and those that may be repeated
 * end early.
 */
export function createSender(proxies: Proxies | undefined, timeoutMs: number, stopping: AbortSignal) {
  // The other side may have closed a kept connection. Then it is unknown whether a request arrived.
  const connections = createOutgoingAgent(proxies, { connectTimeout: timeoutMs / 2, pipelining: 0 });
  return {
    /** Sends a POST if there is a body, else a GET. A request with `isTooLate` must not be repeated. Never rejects. */
    async send(request: Omit<OutgoingRequest, 'method'>): Promise<Answer> {
      const { body, isTooLate = () => false } = request;
      const limit = AbortSignal.timeout(timeoutMs);
      const signal = request.isTooLate ? limit : AbortSignal.any([limit, stopping]);
      // A process that was frozen reads a new connection before it sees that the time is over.
      const endsMs = performance.now() + timeoutMs;
      const guard = { isTooLate: () => stopping.aborted || performance.now() > endsMs || isTooLate() };
      const method = body === undefined ? 'GET' : 'POST';
      const { cause, ...sent } = await sendOnce(connections, { ...request, method, ...guard }, signal);
      const { status, headers } = sent;
      const retryAfterMs = readRetryAfter(headers['retry-after']);
      if (status === undefined) {
        const reason = limit.aborted ? 'no answer in time' : connectionCode(cause);
        return { ...sent, outcome: 'failed', reason, retryAfterMs };
      }
      const outcome = status >= 500 ? 'failed' : status >= 200 && status < 300 ? 'ok' : 'refused';
      return { ...sent, outcome, reason: `status ${status}`, retryAfterMs };
    },

    /** Closes the connections; running calls end first. */
    close: () => connections.close(),
  };
}

/** Maximum lengths of outsiders' text: read, and kept. */
const MAX_READ = 4000;
const MAX_KEPT = 200;

/**
 * Returns the first line of an answer without control characters, links and `secrets`: the other side may repeat what it
 * was sent, such as the link to a bundle.
 */
export function firstLine(text: string, secrets: readonly string[]): string {
  let line = (/\S[^\r\n]*/u.exec(text)?.[0] ?? '').slice(0, MAX_READ);
  // A secret or a link that was cut, or has invisible characters in it, would not be recognized.
  if (line.length === MAX_READ) line = line.slice(0, line.lastIndexOf(' ') + 1);
  line = line.toWellFormed().replace(/\p{C}/gu, '');
  for (const secret of secrets) line = line.replaceAll(secret, '…');
  line = line.replace(/(?:https?(?::|%3a)|[?&][\w.~%-]+=)\S*/giu, '…');
  const kept = [...line.trim()];
  return kept.length > MAX_KEPT ? `${kept.slice(0, MAX_KEPT - 1).join('')}…` : kept.join('');
}

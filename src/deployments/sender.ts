import { z } from 'zod';
import { withoutAnsi } from '../runtime/answers.ts';
import { parseJson } from '../runtime/json.ts';
import {
  connectionCode,
  createOutgoingAgent,
  type OutgoingRequest,
  type Proxies,
  readRetryAfter,
  type Sent,
  sendOnce,
} from '../runtime/outgoing.ts';
import { hideSecrets } from '../runtime/secrets.ts';

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
      const retryAfterMs = readRetryAfter(headers);
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

/** Where JSON has its reason: most frameworks, then RFC 9457. `error` may be an object with a `message`. */
const fields = ['message', 'error', 'title', 'detail'];
const nested = z.object({ message: z.string() }).transform(({ message }) => message);
const said = z.record(z.string(), z.string().or(nested).catch(''));

/** Returns the reason in an answer or a callback, which may be a page, or JSON in a text of JSON; else the text itself. */
export function reasonIn(text: string): string {
  let reason = text;
  for (let depth = 0; depth < 2; depth += 1) {
    const json = said.safeParse(parseJson(reason)).data;
    if (json) reason = fields.map((name) => json[name]).find((one) => one?.trim()) ?? '';
  }
  return /^\s*</u.test(reason) ? (/<title>([^<]*)/iu.exec(reason)?.[1] ?? '') : reason;
}

/** Whether an answer is a redirect, or another 3xx. */
export const isRedirect = ({ status = 0 }: Answer) => status >= 300 && status < 400;

/** Returns host and path to which an answer redirects; empty if there is none. */
export function targetOf({ headers: { location } }: Answer, url: string, secrets: readonly string[]): string {
  const to = typeof location === 'string' ? URL.parse(location.slice(0, MAX_READ), url) : null;
  return to?.protocol.startsWith('http') ? firstLine(to.host + to.pathname, secrets) : '';
}

/** Maximum lengths of outsiders' text: read, and kept. */
const MAX_READ = 4000;
const MAX_KEPT = 200;

/**
 * Returns the first line of a text without control characters, links, `secrets` and all in the form of a secret: the other
 * side may repeat what it was sent, such as the link to a bundle.
 */
export function firstLine(text: string, secrets: readonly string[]): string {
  let line = (/\S[^\r\n]*/u.exec(withoutAnsi(text))?.[0] ?? '').slice(0, MAX_READ);
  // A secret or a link that was cut, or has invisible characters in it, would not be recognized.
  if (line.length === MAX_READ) line = line.slice(0, line.lastIndexOf(' ') + 1);
  line = line.toWellFormed().replace(/\p{C}/gu, '');
  for (const secret of secrets) line = line.replaceAll(secret, '…');
  line = line.replace(/(?:https?(?::|%3a)|[?&][\w.~%-]+=)\S*/giu, '…');
  const kept = [...hideSecrets(line).trim()];
  return kept.length > MAX_KEPT ? `${kept.slice(0, MAX_KEPT - 1).join('')}…` : kept.join('');
}

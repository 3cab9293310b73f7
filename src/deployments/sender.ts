import type { Dispatcher } from 'undici';
import {
  beforeSending,
  connectionCode,
  createOutgoingAgent,
  type Proxies,
  readRetryAfter,
  rejectOnAbort,
} from '../runtime/outgoing.ts';

interface OutgoingRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** The rest of an answer is not read. */
  maxBytes: number;
  signal?: AbortSignal | undefined;
  /** Called right before the request leaves; if it returns true, nothing is sent. */
  isTooLate?: (() => boolean) | undefined;
}

type Headers = Record<string, string | string[] | undefined>;

/** What came back. `text` is the beginning of the body, and empty if none came in time. */
export type Answer =
  | { status: number; headers: Headers; text: string; retryAfterMs: number | undefined }
  /** No answer: `isSent` is false if the request certainly never left. `reason` is a code or a few words. */
  | { status: undefined; isSent: boolean; reason: string };

/** Sends requests to deployments: each once, without redirects, and within a time limit for the whole call. */
export type Sender = ReturnType<typeof createSender>;

/** Returns a sender. Opens no connection. */
export function createSender(options: { proxies?: Proxies; timeoutMs?: number } = {}) {
  const { proxies, timeoutMs = 10_000 } = options;
  // The other side may have closed a kept connection. Then it is unknown whether a request arrived.
  const connections = createOutgoingAgent(proxies, { connectTimeout: timeoutMs / 2, pipelining: 0 });
  return {
    /** Limit for a whole call. */
    timeoutMs,

    /** Never rejects. */
    async send({ method, url, headers, body, maxBytes, isTooLate, ...request }: OutgoingRequest) {
      const limit = AbortSignal.timeout(timeoutMs);
      const signal = request.signal ? AbortSignal.any([limit, request.signal]) : limit;
      let isSent = false;
      const dispatcher = beforeSending(connections, () => {
        signal.throwIfAborted();
        if (isTooLate?.()) throw new TooLate('too late');
        isSent = true;
      });
      const { origin, pathname, search } = new URL(url);
      const path = pathname + search;
      const allHeaders = {
        'user-agent': 'docket',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      };
      try {
        const answer = await Promise.race([
          dispatcher.request({ method, origin, path, headers: allHeaders, body: body ?? null, signal }),
          rejectOnAbort(signal),
        ]);
        return {
          status: answer.statusCode,
          headers: answer.headers,
          text: await readStart(answer.body, maxBytes),
          retryAfterMs: readRetryAfter(answer.headers['retry-after']),
        } satisfies Answer;
      } catch (error) {
        const stopped = limit.aborted ? 'no answer in time' : signal.aborted && 'cancelled';
        const reason = stopped || (error instanceof TooLate ? error.message : connectionCode(error));
        return { status: undefined, isSent, reason } satisfies Answer;
      }
    },

    /** Closes the connections; running calls end first. */
    close: () => connections.close(),
  };
}

class TooLate extends Error {}

/** Returns what arrives of a body in time, up to `maxBytes`. */
async function readStart(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<string> {
  // Destroying a body that is still arriving makes it emit an error, even after we stopped reading.
  body.on('error', () => {});
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxBytes) break;
    }
  } catch {}
  return Buffer.concat(chunks).subarray(0, maxBytes).toString();
}

/** Characters of outsiders' text that are read, and that are kept. */
const MAX_READ = 4000;
const MAX_KEPT = 200;

/**
 * Returns the first line of an answer without control characters, links and `secrets`: the other side may repeat what it
 * was sent, such as the link to a bundle.
 */
export function firstLine(text: string, secrets: readonly string[]): string {
  let line = (/\S[^\r\n]*/u.exec(text)?.[0] ?? '').slice(0, MAX_READ).toWellFormed();
  // A secret or a link that was cut would not be recognized.
  if (line.length === MAX_READ) line = line.slice(0, line.lastIndexOf(' ') + 1);
  for (const secret of secrets) line = line.replaceAll(secret, '…');
  line = line.replace(/(?:https?(?::|%3a)|[?&][\w.~%-]+=)\S*/giu, '…').replace(/\p{C}/gu, '');
  const characters = [...line.trim()];
  return characters.length <= MAX_KEPT
    ? characters.join('')
    : `${characters.slice(0, MAX_KEPT - 1).join('')}…`;
}

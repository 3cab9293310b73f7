import { type DocsApiOperation, isRepeatable, OPERATIONS } from './operations.ts';

/**
 * Why a call has no result. `refusals` and `kindOfStatus` have the statuses of most kinds. `bad_request` includes an input
 * that we refused before the send. `timeout` includes our own time limit. `unsupported`: the platform lacks the operation.
 * `redirect` is never followed. `refused`: no connection took the request (no such host, nobody there, certificate,
 * proxy). `connection`: it broke. `unreadable`: an answer that breaks the API's contract or is too large. `aborted`: by
 * the caller's signal, or by its `isTooLate`.
 */
export const docsApiErrorKinds = [
  'bad_request',
  'key_rejected',
  'forbidden',
  'not_found',
  'unsupported',
  'conflict',
  'rate_limited',
  'rejected',
  'redirect',
  'server',
  'timeout',
  'refused',
  'connection',
  'unreadable',
  'aborted',
] as const;
export type DocsApiErrorKind = (typeof docsApiErrorKinds)[number];

const TRANSIENT_KINDS: readonly DocsApiErrorKind[] = [
  'rate_limited',
  'server',
  'timeout',
  'refused',
  'connection',
  'unreadable',
];

/**
 * Statuses that prove that nothing happened: the refusals that the platform documents, and those about a request's
 * method, address or form, before its content is read (RFC 9110: 405, 410, 411, 413, 414, 415).
 */
export const refusals: Record<number, DocsApiErrorKind> = {
  400: 'bad_request',
  401: 'key_rejected',
  403: 'forbidden',
  404: 'not_found',
  405: 'unsupported',
  410: 'not_found',
  411: 'rejected',
  413: 'bad_request',
  414: 'bad_request',
  415: 'bad_request',
  422: 'bad_request',
  429: 'rate_limited',
};

/** Statuses that prove nothing, and have a kind of their own. */
const UNCLEAR: Record<number, DocsApiErrorKind> = { 408: 'timeout', 409: 'conflict', 501: 'unsupported' };

/** Returns the kind of a status that is not 2xx. */
export const kindOfStatus = (status: number): DocsApiErrorKind =>
  refusals[status] ?? UNCLEAR[status] ?? (status >= 500 ? 'server' : status >= 400 ? 'rejected' : 'redirect');

interface ErrorFacts {
  /** `no` is a proof that the call had no effect; only then may a start or a send be repeated. */
  happened: 'no' | 'unknown';
  /** HTTP status; missing if there was no answer. */
  status?: number | undefined;
  /** The platform's `Retry-After`, in milliseconds from its answer. */
  retryAfterMs?: number | undefined;
  /**
   * The platform's own `error` text: one line, cut, without our key or the query of any link. May be shown to a
   * person.
   */
  platformMessage?: string | undefined;
}

/**
 * A call to the docs platform has no result. Decide by `kind`, `happened` and `retryable`, never by the text. `message`
 * is safe for logs: method, path template, `what`; no id, key, link or body.
 */
export class DocsApiError extends Error {
  override readonly name = 'DocsApiError';
  declare readonly operation: DocsApiOperation;
  declare readonly kind: DocsApiErrorKind;
  declare readonly happened: ErrorFacts['happened'];
  /** The same call may succeed later, and repeating it is safe: it did not happen, or its operation is repeatable. */
  declare readonly retryable: boolean;
  declare readonly status: number | undefined;
  declare readonly retryAfterMs: number | undefined;
  declare readonly platformMessage: string | undefined;

  constructor(
    operation: DocsApiOperation,
    kind: DocsApiErrorKind,
    { what, cause, platformMessage, ...facts }: ErrorFacts & { what: string; cause?: unknown },
  ) {
    const { method, path } = OPERATIONS[operation];
    super(`${method} ${path}: ${what}`, cause === undefined ? {} : { cause: withoutContent(cause) });
    const isSafe = facts.happened === 'no' || isRepeatable(OPERATIONS[operation]);
    const retryable = isSafe && TRANSIENT_KINDS.includes(kind);
    Object.assign(this, { operation, kind, retryable, ...facts });
    // Not enumerable, so that no log writes it: it may repeat the data sent.
    Object.defineProperty(this, 'platformMessage', { value: platformMessage });
  }
}

/** Returns the cause with only its code: a parser's message quotes unreadable text, which may contain a link. */
function withoutContent(cause: unknown): Error {
  const error = new Error(connectionCode(cause));
  if (cause instanceof Error) error.name = cause.name;
  return error;
}

/** Returns the code of a connection's failure; never a part of the data sent. */
export function connectionCode(error: unknown): string {
  const proxy = error instanceof Error && /^Proxy response \((\d{3})\)/.exec(error.message);
  if (proxy) return `PROXY_${proxy[1]}`;
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (inner instanceof Error && 'code' in inner && typeof inner.code === 'string')
    return inner.code.slice(0, 60);
  return error instanceof Error ? error.name : 'no reason';
}

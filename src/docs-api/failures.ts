import { errors as undiciErrors } from 'undici';
import { connectionCode } from './connection-problem.ts';
import { DocsApiError, type DocsApiErrorDetails, type DocsApiErrorKind, type Happened } from './errors.ts';
import { type DocsApiOperation, isRepeatable, OPERATIONS } from './operations.ts';

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
const REFUSALS: Record<number, DocsApiErrorKind> = {
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

interface ErrorFacts extends Omit<DocsApiErrorDetails, 'operation' | 'kind' | 'retryable'> {
  /** Follows the method and the path template in the message; safe for logs. */
  what: string;
}

/** Returns the error of a call. It is `retryable` if its kind is transient and repeating the call is safe. */
export function createError(
  operation: DocsApiOperation,
  kind: DocsApiErrorKind,
  facts: ErrorFacts,
): DocsApiError {
  const { method, path } = OPERATIONS[operation];
  const { what, happened, cause, ...rest } = facts;
  const safe = happened === 'no' || isRepeatable(OPERATIONS[operation]);
  return new DocsApiError(`${method} ${path}: ${what}`, {
    operation,
    kind,
    happened,
    retryable: safe && TRANSIENT_KINDS.includes(kind),
    cause: cause === undefined ? undefined : withoutContent(cause),
    ...rest,
  });
}

/** Returns the error of a response that is not 2xx. */
export function createStatusError(
  operation: DocsApiOperation,
  status: number,
  facts: { retryAfterMs: number | undefined; platformMessage: string | undefined },
): DocsApiError {
  const refusal = REFUSALS[status];
  const kind =
    refusal ?? UNCLEAR[status] ?? (status >= 500 ? 'server' : status >= 400 ? 'rejected' : 'redirect');
  const happened = refusal === undefined ? 'unknown' : 'no';
  return createError(operation, kind, { ...facts, happened, status, what: `status ${status}` });
}

/** Returns the error of a call whose response is missing or incomplete. `status` is set if the headers arrived. */
export function createConnectionError(
  operation: DocsApiOperation,
  cause: unknown,
  facts: { happened: Happened; status?: number },
): DocsApiError {
  const kind = facts.happened === 'no' ? 'refused' : kindOfCause(cause);
  const noAnswer = kind === 'refused' ? 'no connection' : 'no answer';
  const where = facts.status === undefined ? noAnswer : `answer with status ${facts.status} broke off`;
  return createError(operation, kind, { ...facts, what: `${where} (${connectionCode(cause)})`, cause });
}

function kindOfCause(cause: unknown): DocsApiErrorKind {
  if (
    cause instanceof undiciErrors.HeadersTimeoutError ||
    cause instanceof undiciErrors.BodyTimeoutError ||
    connectionCode(cause) === 'ETIMEDOUT'
  ) {
    return 'timeout';
  }
  if (cause instanceof undiciErrors.HTTPParserError) return 'unreadable';
  if (cause instanceof undiciErrors.HeadersOverflowError) return 'too_large';
  return 'connection';
}

/** Returns the cause with only its code: a parser's message quotes unreadable text, which may contain a link. */
function withoutContent(cause: unknown): Error {
  const error = new Error(connectionCode(cause));
  if (cause instanceof Error) error.name = cause.name;
  return error;
}

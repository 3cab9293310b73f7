import type { DocsApiOperation } from './operations.ts';

/**
 * Why a call has no result.
 *
 * `bad_request` 400, 413, 414, 415, 422 and input refused before the send · `key_rejected` 401 · `forbidden` 403 ·
 * `not_found` 404, 410 · `unsupported` 405, 501 (the platform lacks the operation) · `conflict` 409 · `rate_limited`
 * 429 · `rejected` any other 4xx · `redirect` 3xx, never followed · `server` 5xx · `timeout` 408 or our own time limit
 * · `refused` no connection took the request (no such host, nobody there, certificate, proxy) · `connection` the
 * connection broke · `unreadable` an answer that breaks the API's contract · `too_large` an answer over the size limit
 * · `aborted` by the caller's signal, or by its `isTooLate`.
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
  'too_large',
  'aborted',
] as const;
export type DocsApiErrorKind = (typeof docsApiErrorKinds)[number];

/** Whether the call took effect at the platform. `no` is a proof; only then may a start or a send be repeated. */
export type Happened = 'no' | 'unknown' | 'yes';

export interface DocsApiErrorDetails {
  operation: DocsApiOperation;
  kind: DocsApiErrorKind;
  happened: Happened;
  retryable: boolean;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  platformMessage?: string | undefined;
  cause?: unknown;
}

/**
 * A call to the docs platform has no result. Decide by `kind`, `happened` and `retryable`, never by the text. `message`
 * is safe for logs: method, path template, status; no id, key, link or body.
 */
export class DocsApiError extends Error {
  override readonly name = 'DocsApiError';
  readonly operation: DocsApiOperation;
  readonly kind: DocsApiErrorKind;
  readonly happened: Happened;
  /** The same call may succeed later, and repeating it is safe: it did not happen, or its operation is repeatable. */
  readonly retryable: boolean;
  /** HTTP status; missing if there was no answer. */
  readonly status: number | undefined;
  /** The platform's `Retry-After`, in milliseconds from its answer. */
  readonly retryAfterMs: number | undefined;
  /**
   * The platform's own `error` text: one line, cut, without our key or the query of any link. May be shown to a
   * person.
   */
  declare readonly platformMessage: string | undefined;

  constructor(message: string, details: DocsApiErrorDetails) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.operation = details.operation;
    this.kind = details.kind;
    this.happened = details.happened;
    this.retryable = details.retryable;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    // Not enumerable, so that no log writes it: it may repeat the data sent.
    Object.defineProperty(this, 'platformMessage', { value: details.platformMessage });
  }
}

/** A setting of the client that cannot work. `message` names the problem and its fix, and contains no secret. */
export class DocsApiSettingsError extends Error {
  override readonly name = 'DocsApiSettingsError';
  readonly setting: 'baseUrl' | 'apiKey' | 'timeoutMs';

  constructor(setting: DocsApiSettingsError['setting'], problem: string, fix: string) {
    super(`${problem} ${fix}`);
    this.setting = setting;
  }
}

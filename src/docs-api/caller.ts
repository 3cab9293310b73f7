import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, errors } from 'undici';
import { createOutgoing, type Proxies } from '../runtime/outgoing.ts';
import { DocsApiError, type DocsApiErrorKind, type Happened } from './errors.ts';
import { createConnectionError, createError, createStatusError } from './failures.ts';
import { readKeyFile } from './key-file.ts';
import { attemptsOf, type DocsApiOperation, OPERATIONS, type Operation } from './operations.ts';
import { fillPath } from './paths.ts';
import { createTextCleaner, parseErrorText } from './platform-text.ts';
import { checkKey, checkTimeout, parseBaseUrl } from './settings.ts';
import { parseRetryAfter } from './timestamp.ts';
import { type BodyFailure, type HttpResponse, send } from './transport.ts';

/** One sent request, for logs and metrics, without id, key and body. A call with retries has several. */
export interface DocsApiRequest {
  operation: DocsApiOperation;
  method: 'GET' | 'POST';
  /** Path template, such as `/v1/static-export/jobs/{jobId}`. */
  path: string;
  /** From 1. */
  attempt: number;
  durationMs: number;
  status?: number;
  /** Missing if the request had a result. */
  error?: DocsApiErrorKind;
  /** Why there was no complete response, such as `ENOTFOUND`. */
  code?: string;
}

export interface DocsApiOptions {
  /**
   * Base address, https unless the host is loopback; may have a path. `/v1` or `/v2` at its end is ignored.
   */
  baseUrl: string;
  apiKey: string;
  /** The file with the key, if any. It is read again after the platform rejects the key. */
  apiKeyFile?: string | undefined;
  /** Gets a newly read key before it is used. */
  onNewKey?: (apiKey: string) => void;
  /** Limit for a whole call, retries of reads included. Default 20 000. */
  timeoutMs?: number;
  /** The outgoing proxies; none by default. */
  proxies?: Proxies;
  /** Replaces our own connections. The caller closes it. */
  dispatcher?: Dispatcher;
  /** Epoch milliseconds; used only for a `Retry-After` date. */
  now?: () => number;
  /** 0 to 1, for the jitter of retries. */
  random?: () => number;
  log?: (request: DocsApiRequest) => void;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Called right before the request leaves, since a process may freeze; if it returns true, nothing is sent. */
  isTooLate?: (() => boolean) | undefined;
}

/** One call with validated input. */
interface Call {
  operation: DocsApiOperation;
  row: Operation;
  /** Path with its query. */
  path: string;
  body: string | undefined;
  /** After validation. */
  input: Record<string, unknown>;
  /** Whether a connection took the request, in any attempt. If not, the call did not happen. */
  isSent: boolean;
}

/** A request came too late to be sent. */
class TooLate extends Error {
  override readonly name = 'TooLate';
}

const DEFAULT_TIMEOUT_MS = 20_000;
const MAX_BYTES = 1_000_000;
/** Pause before the second attempt, without jitter; doubled before the third. */
const BACKOFF_MS = 200;
/** If `Retry-After` is longer, the call rejects, and its caller may retry later. */
const MAX_RETRY_AFTER_MS = 2000;

/** Returns a caller: with validated input, a time limit, retries of repeatable calls, and typed errors. */
export function createCaller(options: DocsApiOptions) {
  const {
    apiKeyFile,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    dispatcher,
    now = Date.now,
    random = Math.random,
  } = options;
  const base = parseBaseUrl(options.baseUrl);
  let { apiKey } = options;
  checkKey(apiKey);
  checkTimeout(timeoutMs);
  const apiKeys = [apiKey];
  const clean = createTextCleaner(apiKeys);
  const keptConnections =
    dispatcher ??
    createOutgoing(options.proxies, {
      pipelining: 1,
      keepAliveTimeout: 10_000,
      connectTimeout: timeoutMs / 2,
    });
  // For requests sent only once: the other side may have closed a pooled connection already, and then it is unknown
  // whether the request arrived.
  const freshConnections =
    dispatcher ?? createOutgoing(options.proxies, { pipelining: 0, connectTimeout: timeoutMs / 2 });
  let closing: Promise<unknown> | undefined;

  /** Returns the parsed response. Rejects only with `DocsApiError`. */
  async function call(
    operation: DocsApiOperation,
    input: object,
    { signal, isTooLate }: CallOptions,
  ): Promise<unknown> {
    const request = createCall(operation, input);
    if (closing) throw createNotSentError(operation, 'aborted', 'the client is closed');
    if (signal?.aborted) throw createNotSentError(operation, 'aborted', 'cancelled');

    const limit = new AbortController();
    const deadlineMs = performance.now() + timeoutMs;
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    const anySignal = signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const startMs = performance.now();
        const result = await attemptWithKey(request, limit.signal, anySignal, isTooLate);
        options.log?.(toLogEntry(operation, attempt, performance.now() - startMs, result));
        if (!(result instanceof DocsApiError)) return result.value;
        const waitMs = attempt < attemptsOf(request.row) ? retryWaitMs(result, attempt, random) : undefined;
        if (waitMs === undefined || performance.now() + waitMs >= deadlineMs) throw result;
        await sleep(waitMs, undefined, { signal: anySignal }).catch(() => {
          throw createInterruptedError(operation, limit.signal, effectSoFar(request));
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  function createCall(operation: DocsApiOperation, input: object): Call {
    const row: Operation = OPERATIONS[operation];
    const checked = row.input.safeParse(input);
    if (!checked.success) {
      const issue = checked.error.issues[0];
      throw createNotSentError(operation, 'bad_request', `${issue?.path.join('.')}: ${issue?.message}`);
    }
    const { path, rest } = fillPath(row.path, checked.data);
    const given = Object.entries(rest).filter(([, value]) => value !== undefined);
    const isQuery = row.method === 'GET' && given.length > 0;
    return {
      operation,
      row,
      path: isQuery
        ? `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
        : path,
      body: row.method === 'GET' || given.length === 0 ? undefined : JSON.stringify(rest),
      input: checked.data,
      isSent: false,
    };
  }

  /** Makes an attempt, and repeats it if its key was rejected and there is a new one: the first did nothing. */
  async function attemptWithKey(
    request: Call,
    ...rest: [AbortSignal, AbortSignal, CallOptions['isTooLate']]
  ) {
    const { isSent } = request;
    const usedKey = apiKey;
    const result = await attemptOnce(request, ...rest);
    if (!(result instanceof DocsApiError) || result.kind !== 'key_rejected') return result;
    rereadKey();
    if (apiKey === usedKey) return result;
    request.isSent = isSent;
    return attemptOnce(request, ...rest);
  }

  /** An unreadable file, or one without a key, changes nothing: it may be half written. */
  function rereadKey(): void {
    if (apiKeyFile === undefined) return;
    try {
      const read = readKeyFile(apiKeyFile);
      checkKey(read);
      if (read === apiKey) return;
      options.onNewKey?.(read);
      apiKeys.push(read);
      apiKey = read;
    } catch {}
  }

  /** Returns an error as a value, so that every attempt is logged in one place. */
  async function attemptOnce(
    request: Call,
    limit: AbortSignal,
    signal: AbortSignal,
    isTooLate: CallOptions['isTooLate'],
  ): Promise<Result> {
    const { operation, row, path, body } = request;
    // A call with retries must leave time for them.
    const isOnlyAttempt = attemptsOf(row) === 1;
    // Retries survive a kept connection that the other side has closed; the caller may repeat a GET.
    const isKept = row.method === 'GET' || !isOnlyAttempt;
    try {
      const response = await send(isKept ? keptConnections : freshConnections, {
        origin: base.origin,
        path: base.prefix + path,
        method: row.method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${apiKey}`,
          'user-agent': 'docket',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body,
        idleTimeoutMs: isOnlyAttempt ? timeoutMs : Math.ceil(timeoutMs / 2),
        maxBytes: row.maxBytes ?? MAX_BYTES,
        signal,
        onSend() {
          if (isTooLate?.()) throw new TooLate('too late');
          request.isSent = true;
        },
      });
      if (response.bodyFailure && isOk(response.status) && signal.aborted) {
        return createInterruptedError(operation, limit, effectOf(response), response.status);
      }
      return parseResponse(request, response);
    } catch (cause) {
      if (cause instanceof TooLate) return createNotSentError(operation, 'aborted', cause.message);
      const happened = effectSoFar(request);
      if (signal.aborted || isClosed(cause)) return createInterruptedError(operation, limit, happened);
      return createConnectionError(operation, cause, { happened });
    }
  }

  function parseResponse({ operation, row, input }: Call, response: HttpResponse): Result {
    const { status } = response;
    const json = parseJson(response.text);
    if (!isOk(status)) {
      return createStatusError(operation, status, {
        retryAfterMs: parseRetryAfter(response.retryAfter, now()),
        platformMessage: parseErrorText(json, clean),
      });
    }
    const happened = effectOf(response);
    if (response.bodyFailure) return createBodyError(operation, response.bodyFailure, { status, happened });
    const read = row.response.schema.safeParse(json);
    if (json !== undefined && read.success)
      return { value: row.response.toAnswer(read.data, clean, input), status };
    const where = read.error?.issues[0]?.path.join('.') || 'the body';
    const problem =
      json !== undefined ? `${where} is missing or not what the API promises` : 'the body is not JSON';
    const what = `status ${status}, but ${problem}`;
    return createError(operation, 'unreadable', { status, happened, what });
  }

  return {
    call,
    timeoutMs,
    async close(): Promise<void> {
      closing ??= dispatcher
        ? Promise.resolve()
        : Promise.all([keptConnections.close(), freshConnections.close()]);
      await closing;
    },
  };
}

type Result = { value: unknown; status: number } | DocsApiError;

function toLogEntry(
  operation: DocsApiOperation,
  attempt: number,
  durationMs: number,
  result: Result,
): DocsApiRequest {
  const { method, path } = OPERATIONS[operation];
  const failed = result instanceof DocsApiError;
  return {
    operation,
    method,
    path,
    attempt,
    durationMs: Math.round(durationMs),
    ...(result.status !== undefined && { status: result.status }),
    ...(failed && { error: result.kind }),
    // `failures.ts` keeps only the code of a cause.
    ...(failed && result.cause instanceof Error && { code: result.cause.message }),
  };
}

/** Returns the pause before the next attempt in milliseconds; undefined if there is none. */
function retryWaitMs(error: DocsApiError, attempt: number, random: () => number): number | undefined {
  if (!error.retryable) return undefined;
  if (error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= MAX_RETRY_AFTER_MS ? error.retryAfterMs : undefined;
  }
  // A rate limit without `Retry-After` is hourly: a retry would only use it up.
  if (error.kind === 'rate_limited') return undefined;
  return BACKOFF_MS * 2 ** (attempt - 1) * (0.5 + random() / 2);
}

function createNotSentError(operation: DocsApiOperation, kind: DocsApiErrorKind, problem: string) {
  return createError(operation, kind, { happened: 'no', what: `not sent: ${problem}` });
}

/** Returns whether the request was not even tried: its agent was closed after an earlier attempt. */
const isClosed = (cause: unknown) =>
  cause instanceof errors.ClientClosedError || cause instanceof errors.ClientDestroyedError;

/** Returns the known effect of a call without an answer. */
const effectSoFar = ({ isSent }: Call): Happened => (isSent ? 'unknown' : 'no');

function createInterruptedError(
  operation: DocsApiOperation,
  limit: AbortSignal,
  happened: Happened,
  status?: number,
): DocsApiError {
  if (limit.aborted && happened === 'no')
    return createError(operation, 'refused', { happened, what: 'no connection within the time limit' });
  return limit.aborted
    ? createError(operation, 'timeout', { happened, status, what: 'no whole answer within the time limit' })
    : createError(operation, 'aborted', { happened, status, what: 'cancelled before the whole answer came' });
}

function createBodyError(
  operation: DocsApiOperation,
  broken: BodyFailure,
  facts: { status: number; happened: Happened },
): DocsApiError {
  if (broken.reason === 'cut_off') return createConnectionError(operation, broken.cause, facts);
  return createError(operation, 'too_large', {
    ...facts,
    what: `status ${facts.status}, but the answer is too large`,
  });
}

/**
 * Returns whether a call with an unreadable response happened. A 2xx proves that it did, unless its body is not JSON:
 * that may be a proxy's page.
 */
function effectOf({ status, contentType, text }: HttpResponse): Happened {
  if (!isOk(status)) return 'unknown';
  if (text === undefined) return /\bhtml\b/iu.test(contentType) ? 'unknown' : 'yes';
  return text.trim() === '' || parseJson(text) !== undefined ? 'yes' : 'unknown';
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Returns undefined if the text is not JSON. The error is dropped: its message would quote the body. */
function parseJson(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

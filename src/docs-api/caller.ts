import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import type { z } from 'zod';
import { DocsApiError, type DocsApiErrorKind, type DocsApiOperation, type Happened } from './errors.ts';
import { createConnectionError, createError, createStatusError } from './failures.ts';
import { fillPath, ROUTES } from './paths.ts';
import type { CleanText } from './platform-text.ts';
import { parseRetryAfter } from './retry-after.ts';
import { parseErrorText } from './schemas.ts';
import type { BaseUrl } from './settings.ts';
import { type BodyFailure, type HttpResponse, send } from './transport.ts';

/** One request as it was sent, for logs and metrics: no id, no key, no body. A retried read gives several. */
export interface DocsApiRequest {
  operation: DocsApiOperation;
  method: 'GET' | 'POST';
  /** Path template, such as `/v1/static-export/jobs/{jobId}`. */
  path: string;
  /** From 1. */
  attempt: number;
  durationMs: number;
  status?: number;
  /** Missing when the request gave a result. */
  error?: DocsApiErrorKind;
  /** Why no whole answer came, such as `ENOTFOUND`. */
  code?: string;
}

/** One call of an operation, its input already checked. */
export interface Call<T> {
  operation: DocsApiOperation;
  ids?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: object;
  /** How a 2xx answer is read. */
  responseSchema: z.ZodType<T>;
  maxBytes: number;
  signal: AbortSignal | undefined;
}

interface CallerParts {
  base: BaseUrl;
  apiKey: string;
  clean: CleanText;
  timeoutMs: number;
  dispatcher: Dispatcher | undefined;
  now: () => number;
  random: () => number;
  log: (request: DocsApiRequest) => void;
}

/** Reads are tried this often in all. */
const READ_ATTEMPTS = 3;
/** Wait before the second attempt, without jitter; doubled before the third. */
const BACKOFF_MS = 200;
/** A longer `Retry-After` is left to the caller, who does not wait in place. */
const MAX_RETRY_AFTER_MS = 2000;

/** Carries out calls: time limit, retries of reads, reading of answers, typed errors. */
export function createCaller(parts: CallerParts) {
  const { base, apiKey, clean, timeoutMs, now, random, log } = parts;
  const reads = parts.dispatcher ?? keepAliveAgent(timeoutMs);
  const writes = parts.dispatcher ?? freshConnectionAgent(timeoutMs);
  let closing: Promise<unknown> | undefined;

  async function call<T>(request: Call<T>): Promise<T> {
    const { operation, signal } = request;
    if (closing)
      throw createError(operation, 'aborted', { happened: 'no', what: 'not sent: the client is closed' });
    if (signal?.aborted)
      throw createError(operation, 'aborted', { happened: 'no', what: 'not sent: cancelled' });

    const limit = new AbortController();
    const deadlineMs = performance.now() + timeoutMs;
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    const anySignal = signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const result = await logAttempt(request, attempt, () =>
          attemptOnce(request, limit.signal, anySignal),
        );
        if (!(result instanceof DocsApiError)) return result.value;
        const waitMs = retryWaitMs(result, attempt, random);
        if (waitMs === undefined || performance.now() + waitMs >= deadlineMs) throw result;
        await sleep(waitMs, undefined, { signal: anySignal }).catch(() => {
          throw createInterruptedError(operation, limit.signal);
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async function logAttempt<T>(
    { operation }: Call<T>,
    attempt: number,
    run: () => Promise<{ value: T; status: number } | DocsApiError>,
  ) {
    const startMs = performance.now();
    const result = await run();
    log({
      operation,
      ...ROUTES[operation],
      attempt,
      durationMs: Math.round(performance.now() - startMs),
      ...(result.status === undefined ? {} : { status: result.status }),
      ...(result instanceof DocsApiError ? { error: result.kind } : {}),
      // What failures.ts keeps of a cause is its code.
      ...(result instanceof DocsApiError && result.cause instanceof Error
        ? { code: result.cause.message }
        : {}),
    });
    return result;
  }

  /** Gives an error as a value, so that every attempt is logged in one place. */
  async function attemptOnce<T>(request: Call<T>, limit: AbortSignal, signal: AbortSignal) {
    const { operation, body, ids = {}, query = {}, maxBytes, responseSchema } = request;
    const { method, path } = ROUTES[operation];
    try {
      const response = await send(method === 'GET' ? reads : writes, {
        origin: base.origin,
        path: base.prefix + fillPath(path, ids) + queryString(query),
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${apiKey}`,
          'user-agent': 'docket',
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        idleTimeoutMs: idleTimeoutFor(method, timeoutMs),
        maxBytes,
        signal,
      });
      if (response.bodyFailure && isOk(response.status) && signal.aborted) {
        return createInterruptedError(operation, limit, effectOf(response), response.status);
      }
      return parseResponse(operation, response, responseSchema);
    } catch (cause) {
      if (signal.aborted) return createInterruptedError(operation, limit);
      return createConnectionError(operation, cause);
    }
  }

  function parseResponse<T>(
    operation: DocsApiOperation,
    response: HttpResponse,
    responseSchema: z.ZodType<T>,
  ) {
    const { status } = response;
    const parsed = parseJson(response.text);
    if (!isOk(status)) {
      return createStatusError(operation, status, {
        retryAfterMs: parseRetryAfter(response.retryAfter, now()),
        platformMessage: parseErrorText(parsed.json, clean),
      });
    }
    const happened = effectOf(response);
    if (response.bodyFailure) return createBodyError(operation, response.bodyFailure, { status, happened });
    if (!('json' in parsed)) {
      return createError(operation, 'unreadable', {
        status,
        happened,
        what: `status ${status}, but the body is not JSON`,
      });
    }
    const value = responseSchema.safeParse(parsed.json);
    if (value.success) return { value: value.data, status };
    const where = value.error.issues[0]?.path.join('.') || 'the body';
    const what = `status ${status}, but ${where} is missing or not what the API promises`;
    return createError(operation, 'unreadable', { status, happened, what });
  }

  return {
    call,
    async close(): Promise<void> {
      closing ??= parts.dispatcher ? Promise.resolve() : Promise.all([reads.close(), writes.close()]);
      await closing;
    },
  };
}

/** HTTP/1.1 only: undici sends HTTP/2 requests again by itself when the other side winds its connection up. */
function keepAliveAgent(timeoutMs: number): Agent {
  return new Agent({
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 10_000,
    connectTimeout: timeoutMs / 2,
  });
}

/**
 * A connection of its own for each start or send: one taken from a pool may already be closed by the other side,
 * and then nobody can tell whether the request arrived.
 */
function freshConnectionAgent(timeoutMs: number): Agent {
  return new Agent({ allowH2: false, pipelining: 0, connectTimeout: timeoutMs / 2 });
}

/** A read that hangs leaves time for a second one; a start or send waits as long as it may. */
function idleTimeoutFor(method: 'GET' | 'POST', timeoutMs: number): number {
  return method === 'GET' ? Math.ceil(timeoutMs / 2) : timeoutMs;
}

/** How long to wait before the next attempt; `undefined` to give up. */
function retryWaitMs(error: DocsApiError, attempt: number, random: () => number): number | undefined {
  if (ROUTES[error.operation].method !== 'GET' || attempt >= READ_ATTEMPTS || !error.retryable)
    return undefined;
  if (error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= MAX_RETRY_AFTER_MS ? error.retryAfterMs : undefined;
  }
  // Without a hint a limit is counted by the hour: asking again would only use it up.
  if (error.kind === 'rate_limited') return undefined;
  return BACKOFF_MS * 2 ** (attempt - 1) * (0.5 + random() / 2);
}

function createInterruptedError(
  operation: DocsApiOperation,
  limit: AbortSignal,
  happened: Happened = 'unknown',
  status?: number,
): DocsApiError {
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
 * What a 2xx proves although its body gave no result: it happened, unless the body is no JSON at all. That may be
 * a page of a proxy in between, so nothing is proven.
 */
function effectOf({ status, contentType, text }: HttpResponse): Happened {
  if (!isOk(status)) return 'unknown';
  if (text === undefined) return /\bhtml\b/iu.test(contentType) ? 'unknown' : 'yes';
  return text.trim() === '' || 'json' in parseJson(text) ? 'yes' : 'unknown';
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

/** A failed parse gives no error: its text would quote the body. */
function parseJson(text: string | undefined): { json?: unknown } {
  try {
    return text === undefined ? {} : { json: JSON.parse(text) };
  } catch {
    return {};
  }
}

function queryString(query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

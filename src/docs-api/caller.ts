import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import type { z } from 'zod';
import { DocsApiError, type DocsApiErrorKind, type DocsApiOperation, type Happened } from './errors.ts';
import { failure, failureOfConnection, failureOfStatus } from './failures.ts';
import { fillPath, ROUTES } from './paths.ts';
import type { Clean } from './platform-text.ts';
import { retryAfterFrom } from './retry-after.ts';
import { errorTextFrom } from './schemas.ts';
import type { Base } from './settings.ts';
import { type Answer, type BodyBroken, send } from './transport.ts';

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
  answer: z.ZodType<T>;
  maxBytes: number;
  signal: AbortSignal | undefined;
}

interface Parts {
  base: Base;
  apiKey: string;
  clean: Clean;
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
const LONGEST_RETRY_AFTER_MS = 2000;

/** Carries out calls: time limit, retries of reads, reading of answers, typed errors. */
export function createCaller(parts: Parts) {
  const { base, apiKey, clean, timeoutMs, now, random, log } = parts;
  const reads = parts.dispatcher ?? keepAliveAgent(timeoutMs);
  const writes = parts.dispatcher ?? freshConnectionAgent(timeoutMs);
  let closing: Promise<unknown> | undefined;

  async function call<T>(wanted: Call<T>): Promise<T> {
    const { operation, signal } = wanted;
    if (closing)
      throw failure(operation, 'aborted', { happened: 'no', what: 'not sent: the client is closed' });
    if (signal?.aborted) throw failure(operation, 'aborted', { happened: 'no', what: 'not sent: cancelled' });

    const limit = new AbortController();
    const endMs = performance.now() + timeoutMs;
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    const either = signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const result = await logged(wanted, attempt, () => attemptOnce(wanted, limit.signal, either));
        if (!(result instanceof DocsApiError)) return result.value;
        const waitMs = retryWaitMs(result, attempt, random);
        if (waitMs === undefined || performance.now() + waitMs >= endMs) throw result;
        await sleep(waitMs, undefined, { signal: either }).catch(() => {
          throw interrupted(operation, limit.signal);
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async function logged<T>(
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
  async function attemptOnce<T>(wanted: Call<T>, limit: AbortSignal, signal: AbortSignal) {
    const { operation, body, ids = {}, query = {}, maxBytes, answer } = wanted;
    const { method, path } = ROUTES[operation];
    try {
      const got = await send(method === 'GET' ? reads : writes, {
        origin: base.origin,
        path: base.prefix + fillPath(path, ids) + queryText(query),
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${apiKey}`,
          'user-agent': 'docket',
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        silenceMs: silenceMs(method, timeoutMs),
        maxBytes,
        signal,
      });
      if (got.broken && isOk(got.status) && signal.aborted) {
        return interrupted(operation, limit, effectOf(got), got.status);
      }
      return read(operation, got, answer);
    } catch (cause) {
      if (signal.aborted) return interrupted(operation, limit);
      return failureOfConnection(operation, cause);
    }
  }

  function read<T>(operation: DocsApiOperation, got: Answer, answer: z.ZodType<T>) {
    const { status } = got;
    const parsed = parseJson(got.text);
    if (!isOk(status)) {
      return failureOfStatus(operation, status, {
        retryAfterMs: retryAfterFrom(got.retryAfter, now()),
        platformMessage: errorTextFrom(parsed.json, clean),
      });
    }
    const happened = effectOf(got);
    if (got.broken) return failureOfBody(operation, got.broken, { status, happened });
    if (!('json' in parsed)) {
      return failure(operation, 'unreadable', {
        status,
        happened,
        what: `status ${status}, but the body is not JSON`,
      });
    }
    const value = answer.safeParse(parsed.json);
    if (value.success) return { value: value.data, status };
    const where = value.error.issues[0]?.path.join('.') || 'the body';
    const what = `status ${status}, but ${where} is missing or not what the API promises`;
    return failure(operation, 'unreadable', { status, happened, what });
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
function silenceMs(method: 'GET' | 'POST', timeoutMs: number): number {
  return method === 'GET' ? Math.ceil(timeoutMs / 2) : timeoutMs;
}

/** How long to wait before the next attempt; `undefined` to give up. */
function retryWaitMs(error: DocsApiError, attempt: number, random: () => number): number | undefined {
  if (ROUTES[error.operation].method !== 'GET' || attempt >= READ_ATTEMPTS || !error.retryable)
    return undefined;
  if (error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= LONGEST_RETRY_AFTER_MS ? error.retryAfterMs : undefined;
  }
  // Without a hint a limit is counted by the hour: asking again would only use it up.
  if (error.kind === 'rate_limited') return undefined;
  return BACKOFF_MS * 2 ** (attempt - 1) * (0.5 + random() / 2);
}

function interrupted(
  operation: DocsApiOperation,
  limit: AbortSignal,
  happened: Happened = 'unknown',
  status?: number,
): DocsApiError {
  return limit.aborted
    ? failure(operation, 'timeout', { happened, status, what: 'no whole answer within the time limit' })
    : failure(operation, 'aborted', { happened, status, what: 'cancelled before the whole answer came' });
}

function failureOfBody(
  operation: DocsApiOperation,
  broken: BodyBroken,
  facts: { status: number; happened: Happened },
): DocsApiError {
  if (broken.reason === 'cut_off') return failureOfConnection(operation, broken.cause, facts);
  return failure(operation, 'too_large', {
    ...facts,
    what: `status ${facts.status}, but the answer is too large`,
  });
}

/**
 * What a 2xx proves although its body gave no result: it happened, unless the body is no JSON at all. That may be
 * a page of a proxy in between, so nothing is proven.
 */
function effectOf({ status, contentType, text }: Answer): Happened {
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

function queryText(query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

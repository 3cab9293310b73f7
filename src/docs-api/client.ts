import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { createCaller, type DocsApiRequest } from './caller.ts';
import { type DocsApiOperation, OPERATIONS } from './operations.ts';
import { checkAtLeast, checkKey, parseBaseUrl } from './settings.ts';

export interface DocsApiOptions {
  /**
   * Base address, https unless the host is loopback; may have a path. `/v1` or `/v2` at its end counts for nothing.
   */
  baseUrl: string;
  apiKey: string;
  /** Limit for a whole call, retries of reads included. Default 20 000. */
  timeoutMs?: number;
  /** Largest answer read, for every operation. Default: what the row of the operation says. */
  maxAnswerBytes?: number;
  /** Replaces our own connections. The caller closes it. */
  dispatcher?: Dispatcher;
  /** Epoch milliseconds; only a `Retry-After` given as a date needs it. */
  now?: () => number;
  /** 0 to 1, for the jitter of retries. */
  random?: () => number;
  log?: (request: DocsApiRequest) => void;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

type Operations = typeof OPERATIONS;

/** One method for each row of `OPERATIONS`. */
type Methods = {
  [Name in keyof Operations]: (
    input: z.input<Operations[Name]['input']>,
    options?: CallOptions,
  ) => Promise<z.output<ReturnType<Operations[Name]['response']>>>;
};

/**
 * The docs platform's API. Every operation rejects with `DocsApiError` only. What may be repeated is tried up to three
 * times within `timeoutMs`; the rest is sent once, whatever happens.
 */
export interface DocsApi extends Methods {
  /** Limit for a whole call, in milliseconds: an attempt older than this has ended. */
  readonly timeoutMs: number;
  /** Names the API key without giving it away: the same for all clients that share one. */
  readonly keyId: string;
  /** Closes the connections; running calls end first. */
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 20_000;

/** Throws `DocsApiSettingsError` when an option cannot work. Opens no connection. */
export function createDocsApi(options: DocsApiOptions): DocsApi {
  const { apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, maxAnswerBytes } = options;
  const base = parseBaseUrl(options.baseUrl);
  checkKey(apiKey);
  checkAtLeast('timeoutMs', timeoutMs, 1);
  if (maxAnswerBytes !== undefined) checkAtLeast('maxAnswerBytes', maxAnswerBytes, 1);

  const caller = createCaller({
    base,
    apiKey,
    timeoutMs,
    maxAnswerBytes,
    dispatcher: options.dispatcher,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    log: options.log ?? (() => {}),
  });
  const methods = Object.keys(OPERATIONS).map((name) => [
    name,
    (input: object, { signal }: CallOptions = {}) => caller.call(name as DocsApiOperation, input, signal),
  ]);
  return {
    ...(Object.fromEntries(methods) as Methods),
    timeoutMs,
    keyId: createHash('sha256').update(apiKey).digest('base64url').slice(0, 16),
    close: caller.close,
  };
}

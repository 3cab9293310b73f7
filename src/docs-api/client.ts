import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { createCaller, type DocsApiRequest } from './caller.ts';
import { type DocsApiOperation, OPERATIONS } from './operations.ts';
import { checkAtLeast, checkKey, parseBaseUrl } from './settings.ts';

export interface DocsApiOptions {
  /**
   * Base address, https unless the host is loopback; may have a path. `/v1` or `/v2` at its end is ignored.
   */
  baseUrl: string;
  apiKey: string;
  /** Limit for a whole call, retries of reads included. Default 20 000. */
  timeoutMs?: number;
  /** Largest response that is read, in bytes, of any operation. Default: `maxBytes` of the operation. */
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
 * The docs platform's API. Every operation rejects with `DocsApiError` only. What may be repeated is sent up to three
 * times within `timeoutMs`, everything else once.
 */
export interface DocsApi extends Methods {
  /** Time limit of a whole call, in milliseconds. */
  readonly timeoutMs: number;
  /** Identifies the API key without revealing it: the same for all clients that share one. */
  readonly keyId: string;
  /** Closes the connections; running calls end first. */
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 20_000;

/** Returns a client. Throws `DocsApiSettingsError` when an option cannot work. Opens no connection. */
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

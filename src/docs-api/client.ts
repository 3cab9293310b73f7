import { hash } from 'node:crypto';
import { errors } from 'undici';
import type { z } from 'zod';
import { verdictOf } from '../runtime/answers.ts';
import { createKey } from '../runtime/key-file.ts';
import {
  connectionCode,
  createOutgoingAgent,
  type Proxies,
  readRetryAfter,
  sendOnce,
  TooLate,
} from '../runtime/outgoing.ts';
import { DocsApiError, type DocsApiErrorKind, type DocsApiRequest, kindOfStatus } from './errors.ts';
import { type DocsApiOperation, OPERATIONS, type Operation } from './operations.ts';
import { parseErrorText } from './text.ts';

export interface DocsApiOptions {
  /** Base address, https unless the host is loopback; may have a path. `/v1` or `/v2` at its end is ignored. */
  baseUrl: string;
  apiKey: string;
  /** The file with the key, if any. It is read again after the platform rejects the key. */
  apiKeyFile?: string | undefined;
  /** Gets a newly read key before it is used. */
  onNewKey?: (apiKey: string) => void;
  /** Limit for a whole call. */
  timeoutMs: number;
  /** The outgoing proxies; none by default. */
  proxies?: Proxies;
  log?: (request: DocsApiRequest) => void;
}

interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Called right before the request leaves, since a process may freeze; if it returns true, nothing is sent. */
  isTooLate?: (() => boolean) | undefined;
}

type Operations = typeof OPERATIONS;

type Methods = {
  [Name in keyof Operations]: (
    input: z.input<Operations[Name]['input']>,
    options?: CallOptions,
  ) => Promise<z.output<Operations[Name]['response']>>;
};

/** The docs platform's API. Every operation is sent once, and rejects only with `DocsApiError`. */
export interface DocsApi extends Methods {
  /** The result of `keyIdOf` for its API key; clients with the same key share it. */
  readonly keyId: string;
  /** Closes the connections; running calls end first. */
  close(): Promise<void>;
}

/** Returns an id for an API key without revealing it. A replaced key in a file keeps its id. */
export const keyIdOf = ({ apiKey, apiKeyFile }: Pick<DocsApiOptions, 'apiKey' | 'apiKeyFile'>): string =>
  hash('sha256', apiKeyFile ?? apiKey, 'base64url').slice(0, 16);

/**
 * Returns a checked base address without a final slash and version. Platforms publish their address with a version at
 * its end, but each operation's path has it.
 */
export function parseBaseUrl(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  const parts = pathname.split('/').filter((part) => part !== '');
  if (/^v[12]$/iu.test(parts.at(-1) ?? '')) parts.pop();
  return [origin, ...parts].join('/');
}

/** Longer than a page of results. */
const MAX_RESPONSE_BYTES = 10_000_000;

/** Returns a client. The settings have checked its options. Opens no connection. */
export function createDocsApi(options: DocsApiOptions): DocsApi {
  const { timeoutMs } = options;
  const baseUrl = parseBaseUrl(options.baseUrl);
  const key = createKey(options.apiKey, options.apiKeyFile, options.onNewKey);
  const connections = createOutgoingAgent(options.proxies, {
    connectTimeout: timeoutMs / 2,
    maxResponseSize: MAX_RESPONSE_BYTES,
    // The platform may have closed a kept connection. Then it is unknown whether a request arrived.
    pipelining: 0,
  });

  /** Validates the input, sends the request, and returns the parsed response. */
  async function call(operation: DocsApiOperation, input: object, callOptions: CallOptions = {}) {
    const checked = OPERATIONS[operation].input.safeParse(input);
    if (!checked.success) {
      const what = `not sent: ${checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)}`;
      throw new DocsApiError(operation, 'bad_request', { happened: 'no', what });
    }
    const limit = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const usedKey = key.current();
      const startMs = performance.now();
      const result = await send(operation, checked.data, limit, callOptions);
      const error = result instanceof DocsApiError ? result : undefined;
      // A request with a rejected key did nothing, so it is repeated with a new one.
      if (error?.kind === 'key_rejected' && key.isRenewed(usedKey)) continue;
      const durationMs = Math.round(performance.now() - startMs);
      // `DocsApiError` keeps only the code of a cause.
      const code = error?.cause instanceof Error ? error.cause.message : undefined;
      const isOwn = error === undefined || error.platformMessage !== undefined;
      options.log?.({ operation, durationMs, status: result.status, error: error?.kind, code, isOwn });
      if (result instanceof DocsApiError) throw result;
      return result.answer;
    }
  }

  /** Returns an error as a value, so that every request is logged in one place. */
  async function send(
    operation: DocsApiOperation,
    input: Record<string, unknown>,
    limit: AbortSignal,
    { signal: cancelled, isTooLate }: CallOptions,
  ): Promise<{ answer: unknown; status: number } | DocsApiError> {
    const { response, ...row }: Operation = OPERATIONS[operation];
    const signal = cancelled ? AbortSignal.any([limit, cancelled]) : limit;
    const request = { ...requestOf(row, input, baseUrl, key.current()), isTooLate };
    const { isSent, status, headers, text, cause } = await sendOnce(connections, request, signal);
    const happened = isSent ? 'unknown' : 'no';
    const failed = (kind: DocsApiErrorKind, what: string, reason?: unknown) =>
      new DocsApiError(operation, kind, { happened, status, what, cause: reason });
    const [retryAfterMs, platformMessage] = [readRetryAfter(headers), parseErrorText(parseJson(text))];
    const isOwn = platformMessage !== undefined || (status === 503 && retryAfterMs !== undefined);
    const hasError = status !== undefined && status >= 500 && status !== 502 && status !== 504 && isOwn;
    const verdict = verdictOf(operation === 'startExport' ? 'start' : 'platform', status, hasError);
    if (status !== undefined && verdict !== 'done')
      return new DocsApiError(operation, kindOfStatus(status), {
        happened: verdict === 'unclear' ? 'unknown' : 'no',
        status,
        what: `status ${status}`,
        retryAfterMs,
        platformMessage,
      });
    if (status !== undefined && cause === undefined) {
      const read = response.safeParse(parseJson(text));
      if (read.success) return { answer: read.data, status };
      const where = read.error.issues[0]?.path.join('.') || 'the body';
      return failed('unreadable', `status ${status}, but ${where} is missing or not what the API promises`);
    }
    const where = isSent ? 'no whole answer' : 'no connection';
    if (cause instanceof TooLate) return failed('aborted', 'not sent: too late');
    if (limit.aborted) return failed(isSent ? 'timeout' : 'refused', `${where} within the time limit`);
    if (signal.aborted || isClosed(cause)) return failed('aborted', `cancelled: ${where}`);
    return failed(isSent ? kindOfCause(cause) : 'refused', `${where} (${connectionCode(cause)})`, cause);
  }

  /** Returns undefined if the text is not JSON. No answer contains our key. The parser's error would quote the text. */
  function parseJson(text: string): unknown {
    // PHP writes a slash as `\/`.
    const hidden = key.all.flatMap((one) => [one, one.replaceAll('/', '\\/')]);
    try {
      return JSON.parse(hidden.reduce((rest, one) => rest.replaceAll(one, '…'), text));
    } catch {
      return undefined;
    }
  }

  const methods = (Object.keys(OPERATIONS) as DocsApiOperation[]).map((name) => [
    name,
    (input: object, callOptions?: CallOptions) => call(name, input, callOptions),
  ]);
  return {
    ...(Object.fromEntries(methods) as Methods),
    keyId: keyIdOf(options),
    close: () => connections.close(),
  };
}

/** Fills the path template of an operation; the other fields are the query of a GET, else the JSON body. */
function requestOf(
  { method, path }: Pick<Operation, 'method' | 'path'>,
  input: Record<string, unknown>,
  baseUrl: string,
  apiKey: string,
) {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const filled = path.replace(/\{(\w+)\}/gu, (_, name: string) => {
    rest.delete(name);
    return encodeURIComponent(String(input[name]));
  });
  const url = new URL(baseUrl + filled);
  if (method === 'GET') for (const [name, value] of rest) url.searchParams.set(name, String(value));
  const hasBody = method !== 'GET' && rest.size > 0;
  return {
    method,
    url: url.href,
    headers: { accept: 'application/json', authorization: `Bearer ${apiKey}` },
    body: hasBody ? JSON.stringify(Object.fromEntries(rest)) : undefined,
  };
}

/** Returns whether the request was not even tried, since its agent was closed. */
const isClosed = (cause: unknown) =>
  cause instanceof errors.ClientClosedError || cause instanceof errors.ClientDestroyedError;

/** Returns the kind of a response that is no HTTP, too large or cut off. */
const kindOfCause = (cause: unknown): DocsApiErrorKind =>
  cause instanceof errors.HTTPParserError ||
  cause instanceof errors.HeadersOverflowError ||
  cause instanceof errors.ResponseExceededMaxSizeError
    ? 'unreadable'
    : 'connection';

import { hash } from 'node:crypto';
import type { z } from 'zod';
import { type CallOptions, createCaller, type DocsApiOptions } from './caller.ts';
import { type DocsApiOperation, OPERATIONS } from './operations.ts';

type Operations = typeof OPERATIONS;

/** One method for each row of `OPERATIONS`. */
type Methods = {
  [Name in keyof Operations]: (
    input: z.input<Operations[Name]['input']>,
    options?: CallOptions,
  ) => Promise<ReturnType<Operations[Name]['response']['toAnswer']>>;
};

/**
 * The docs platform's API. Every operation rejects with `DocsApiError` only. What may be repeated is sent up to three
 * times within `timeoutMs`, everything else once.
 */
export interface DocsApi extends Methods {
  /** Time limit of a whole call, in milliseconds. */
  readonly timeoutMs: number;
  /** `keyIdOf` its API key: the same for all clients that share one. */
  readonly keyId: string;
  /** Closes the connections; running calls end first. */
  close(): Promise<void>;
}

/** Returns what identifies an API key without revealing it. The key of a file stays the same when it is replaced. */
export const keyIdOf = ({ apiKey, apiKeyFile }: Pick<DocsApiOptions, 'apiKey' | 'apiKeyFile'>): string =>
  hash('sha256', apiKeyFile ?? apiKey, 'base64url').slice(0, 16);

/** Returns a client. Throws `DocsApiSettingsError` when an option cannot work. Opens no connection. */
export function createDocsApi(options: DocsApiOptions): DocsApi {
  const { call, timeoutMs, close } = createCaller(options);
  const methods = Object.keys(OPERATIONS).map((name) => [
    name,
    (input: object, options: CallOptions = {}) => call(name as DocsApiOperation, input, options),
  ]);
  return {
    ...(Object.fromEntries(methods) as Methods),
    timeoutMs,
    keyId: keyIdOf(options),
    close,
  };
}

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
 * The docs platform's API. Every operation rejects only with `DocsApiError`. Repeatable operations are sent up to three
 * times within `timeoutMs`, all others once.
 */
export interface DocsApi extends Methods {
  /** Time limit of a whole call, in milliseconds. */
  readonly timeoutMs: number;
  /** The result of `keyIdOf` for its API key; clients with the same key share it. */
  readonly keyId: string;
  /** Closes the connections; running calls end first. */
  close(): Promise<void>;
}

/** Returns an id for an API key without revealing it. A replaced key in a file keeps its id. */
export const keyIdOf = ({ apiKey, apiKeyFile }: Pick<DocsApiOptions, 'apiKey' | 'apiKeyFile'>): string =>
  hash('sha256', apiKeyFile ?? apiKey, 'base64url').slice(0, 16);

/** Returns a client. Throws `DocsApiSettingsError` if an option cannot work. Opens no connection. */
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

import { AsyncLocalStorage } from 'node:async_hooks';

/** Context of the current request, added to every log line. */
export interface LogScope {
  /** The short reference of the request, or of the one that the work follows from; people quote it. */
  ref?: string;
  /** The id of the present run, or of the request's run. */
  run?: string;
}

const scopes = new AsyncLocalStorage<LogScope>();

/** Runs `work`, and everything that follows from it, in a scope. Later facts are set on the object. */
export const inLogScope = <T>(scope: LogScope, work: () => T): T => scopes.run(scope, work);

/** The present scope; undefined outside of any. */
export const logScope = (): LogScope | undefined => scopes.getStore();

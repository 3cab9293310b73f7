import { AsyncLocalStorage } from 'node:async_hooks';

/** Context of the current request, added to every log line. */
export interface LogScope {
  /** The short reference of the request, or of the one from which the work follows; people quote it. */
  ref?: string;
  /** The id of the run that is worked on, or that came of the request. */
  run?: string;
}

const scopes = new AsyncLocalStorage<LogScope>();

/** Runs `work`, and all that follows from it, in a scope. What becomes known of it later is set on the object. */
export const inLogScope = <T>(scope: LogScope, work: () => T): T => scopes.run(scope, work);

/** The scope of what runs now; missing outside of any. */
export const logScope = (): LogScope | undefined => scopes.getStore();

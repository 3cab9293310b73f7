import { AsyncLocalStorage } from 'node:async_hooks';

/** What the request that is being served has changed so far, in words; also what changes a little later because of it. */
const current = new AsyncLocalStorage<string[]>();

/** Runs an effect, and adds to `caused` what the stand-ins note meanwhile. */
export function causing<T>(caused: string[], effect: () => T): T {
  return current.run(caused, effect);
}

/** Notes what changed, such as `message in #docs`, at the request that caused it, if one did. */
export function noteCaused(what: string): void {
  current.getStore()?.push(what);
}

import { Stopping } from '../runtime/stopping.ts';
import type { CallOnceStore } from '../store/calls.ts';

/** The result of a call that must not happen twice. */
export type CallOnceOutcome<T> =
  | { kind: 'done'; value: T }
  /** The call certainly did not happen; its intent is deleted, so it may be tried again. */
  | { kind: 'notHappened'; error: unknown }
  /** It may or may not have happened. Only a person may decide to make it again. */
  | { kind: 'unknown'; error?: unknown }
  /** The caller may still be waiting for the answer; try again after `forMs`. */
  | { kind: 'inFlight'; forMs: number };

/**
 * Makes a call at most once per run and step, even after a crash: the intent is written before the call, the result
 * after it. Throws `Stopping` if neither can be written. Sends to the agent keep their intent in the run instead
 * (`agent/thread/send.ts`), in one write with the inbox. `isTooLate` says whether other processes may already treat the
 * call as lost, so that it must not be made.
 */
export type CallOnce = <T>(
  runId: string,
  step: string,
  call: (isTooLate: () => boolean) => Promise<T>,
) => Promise<CallOnceOutcome<T>>;

export interface CallOnceParts {
  steps: CallOnceStore;
  /** The time limit of a call. */
  callMs: number;
  /** Added to it: after both, no process still waits for the call. */
  marginMs: number;
  /** Whether an error proves that the call did not happen. */
  didNotHappen: (error: unknown) => boolean;
  /** Once it is aborted, no intent is written. */
  stopping: AbortSignal;
  newToken: () => string;
  now: () => number;
}

export function createCallOnce(parts: CallOnceParts): CallOnce {
  const { steps, callMs, marginMs, didNotHappen, stopping, newToken, now } = parts;
  return async <T>(
    runId: string,
    step: string,
    call: (isTooLate: () => boolean) => Promise<T>,
  ): Promise<CallOnceOutcome<T>> => {
    stopping.throwIfAborted();
    const token = newToken();
    const startedAtMs = now();
    const state = await steps.begin(runId, step, token, startedAtMs);
    if (state.kind === 'finished') return { kind: 'done', value: state.result as T };
    if (state.kind === 'open') {
      const forMs = Math.min(state.sinceMs - now(), 0) + callMs + marginMs;
      return forMs > 0 ? { kind: 'inFlight', forMs } : { kind: 'unknown' };
    }
    const isTooLate = () => now() - startedAtMs > marginMs;
    if (isTooLate()) {
      await steps.clear(runId, step, token);
      return { kind: 'inFlight', forMs: 0 };
    }
    let value: T;
    try {
      value = await call(isTooLate);
    } catch (error) {
      const stopped = error instanceof Stopping;
      if (!stopped && !didNotHappen(error)) return { kind: 'unknown', error };
      await steps.clear(runId, step, token);
      if (stopped) throw error;
      return { kind: 'notHappened', error };
    }
    await steps.finish(runId, step, value);
    return { kind: 'done', value };
  };
}

import type { Log } from '../runtime/log.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import type { SlackApi } from './client.ts';
import type { SlackApiError } from './errors.ts';
import { DEFAULT_RETRY_AFTER_MS } from './rate-limits.ts';

/**
 * Brings Slack up to date with one wanted state. Returns in how many milliseconds it has to be called again;
 * `undefined` when Slack shows what is wanted. Safe to repeat at any point.
 */
export type Deliver = (id: string) => Promise<number | undefined>;

/** A kind of wanted state. Between any two calls another process may change its record. */
export interface WantedState<R> {
  load(id: string): Promise<R | undefined>;
  isDelivered(record: R): boolean;
  /** Makes calls, each marked in the record before it begins. Returns as `Deliver` does. */
  deliver(record: R, id: string): Promise<number | undefined>;
  /** Removes its entry from the due list, unless something else is wanted by now. Returns whether it did. */
  markDelivered(id: string, record: R | undefined): Promise<boolean>;
}

/** Returns the delivery of a kind of wanted state. While Slack refuses the token, it makes no calls. */
export function createReconciler<R>(
  state: WantedState<R>,
  { refusedForMs }: Pick<SlackApi, 'refusedForMs'>,
): Deliver {
  return async (id) => {
    const record = await state.load(id);
    if (record !== undefined && !state.isDelivered(record)) {
      const inMs = refusedForMs() || (await state.deliver(record, id));
      if (inMs !== undefined) return inMs;
    }
    return (await state.markDelivered(id, record)) ? undefined : 0;
  };
}

export interface RetryParts {
  timing: Timing;
  random: () => number;
  log: Log;
  /** Called for each failed call that is made again. */
  onRetry?: () => void;
}

/**
 * Returns when to retry a failed call, and how many have failed in a row with it; `undefined` when Slack refuses it for
 * good. `before` is how many failed before it; `about` is for the log.
 */
export function retryOf(
  { kind, code, method, retryAfterMs }: SlackApiError,
  before: number,
  about: object,
  { timing, random, log, onRetry }: RetryParts,
): { inMs: number; failures: number } | undefined {
  // Another call finds out whether the token works again.
  if (kind === 'token' && retryAfterMs !== undefined) return { inMs: retryAfterMs, failures: before };
  const isLimited = kind === 'limited';
  if (!isLimited && kind !== 'unclear' && kind !== 'unreachable' && kind !== 'token') return undefined;
  const failures = isLimited ? before : before + 1;
  log.warn({ ...about, kind, code, method, failures }, 'Slack call failed');
  onRetry?.();
  if (isLimited) return { inMs: retryAfterMs ?? DEFAULT_RETRY_AFTER_MS, failures };
  const pauseMs = backoffMs(timing, failures, random());
  // A call that may still arrive must not arrive after the next one.
  return { inMs: kind === 'unclear' ? Math.max(timing.callMarginMs, pauseMs) : pauseMs, failures };
}

import type { Log } from '../runtime/log.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import type { SlackApiError } from './errors.ts';
import { DEFAULT_RETRY_AFTER_MS } from './rate-limits.ts';

export interface RetryParts {
  timing: Timing;
  random: () => number;
  log: Log;
  /** Called for each failed call that is repeated. */
  onRetry?: () => void;
}

/**
 * Returns when to retry a failed call, and the number of consecutive failures; undefined if Slack refuses it for good.
 * `before` is the number of earlier failures; `about` is for the log.
 */
export function retryOf(
  { kind, code, method, retryAfterMs }: SlackApiError,
  before: number,
  about: object,
  { timing, random, log, onRetry }: RetryParts,
): { inMs: number; failures: number } | undefined {
  // Another call checks whether the token works again.
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

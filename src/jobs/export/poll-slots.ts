import type { RateLimit, RateLimitStore } from '../../store/rate-limit.ts';
import { isNearEnd } from './polling.ts';
import type { ExportRun } from './record.ts';

/** Looks that are let through at once; what a worker's late wake-up left unused is made up for. */
const BURST = 2;

/** The looks of one API key, which `key` names without giving it away. All processes share `perSecond` of them. */
export interface PollShare {
  key: string;
  perSecond: number;
}

const pollRateLimit = ({ key, perSecond }: PollShare): RateLimit => ({
  name: `export-status:${key}`,
  count: perSecond * 60,
  windowMs: 60_000,
  burst: BURST,
});

/**
 * Takes the run's turn to look at the platform and answers 0, or answers in how many milliseconds to ask again. Runs
 * near their end and looks that a person waits for go first; among equals people go in turn, then whoever is due since
 * the longest time.
 */
export function takePollSlot(
  { id, requester, looks, lookWanted, nextLookAtMs }: ExportRun,
  share: PollShare,
  rateLimiter: RateLimitStore,
  nowMs: number,
): Promise<number> {
  const rank = lookWanted || isNearEnd(looks, nowMs) ? 0 : 1;
  return rateLimiter.takeSlot(pollRateLimit(share), {
    id,
    rank,
    sinceMs: nextLookAtMs,
    group: requester.id,
  });
}

/** The platform's limit is reached: no run looks with this key before `waitMs` have passed. */
export function holdPolls(share: PollShare, waitMs: number, rateLimiter: RateLimitStore): Promise<void> {
  return rateLimiter.hold(pollRateLimit(share), waitMs);
}

import { z } from 'zod';
import type { DocsApiError } from '../docs-api/errors.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import { isPermanent, type SlackApiError } from '../slack/errors.ts';

/** Why calls to the platform fail, while that lasts. */
export const pollFailure = z.object({
  kind: z.enum(['down', 'limit', 'key', 'forbidden', 'project', 'lost']),
  /** Consecutive failures of this kind. */
  inARow: z.number().int(),
  /** The time of the next try; epoch milliseconds. */
  nextMs: z.number(),
});
export type PollFailure = z.infer<typeof pollFailure>;

const TROUBLE_KINDS: Partial<Record<DocsApiError['kind'], PollFailure['kind']>> = {
  key_rejected: 'key',
  forbidden: 'forbidden',
  bad_request: 'forbidden',
  rate_limited: 'limit',
  not_found: 'lost',
};

export interface RetryParts {
  now: () => number;
  random: () => number;
  timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs'>;
}

/** Pause before the platform is asked again while an operator has to act: key refused, or project missing. */
const OPERATOR_RETRY_MS = 60_000;

/** Returns the failure after one more error: the platform's, or a project missing from the settings. */
export function nextFailure(
  before: PollFailure | undefined,
  error: Pick<DocsApiError, 'kind' | 'retryAfterMs'> | 'project',
  parts: RetryParts,
): PollFailure {
  const kind = error === 'project' ? error : (TROUBLE_KINDS[error.kind] ?? 'down');
  const retryAfterMs = error === 'project' ? undefined : error.retryAfterMs;
  const inARow = before?.kind === kind ? before.inARow + 1 : 1;
  const needsOperator = ['key', 'forbidden', 'project'].includes(kind);
  const pauseMs = needsOperator ? OPERATOR_RETRY_MS : failurePauseMs(inARow, { retryAfterMs }, parts);
  return { kind, inARow, nextMs: parts.now() + Math.max(retryAfterMs ?? 0, pauseMs) };
}

/** Returns the pause after this many consecutive failures, the last of which was `error`. */
export const failurePauseMs = (
  failures: number,
  { retryAfterMs = 0 }: { retryAfterMs?: number | undefined },
  { timing, random }: RetryParts,
) => Math.max(retryAfterMs, backoffMs(timing, failures, random()));

/** Returns a pause as long as the time since `sinceMs`, so that pauses double without a counter. */
export function growingPauseMs(sinceMs: number, { now, random, timing }: RetryParts): number {
  const { retryMinMs, retryMaxMs } = timing;
  return Math.min(Math.max(now() - sinceMs, retryMinMs), retryMaxMs) * (0.75 + random() / 2);
}

/** Returns the pause before a failed Slack look-up is repeated. */
export const lookupRetryMs = ({ timing, random }: Omit<RetryParts, 'now'>) => backoffMs(timing, 3, random());

/** Returns the pause before a failed Slack call is repeated; undefined if a retry cannot succeed. */
export const slackRetryMs = (error: SlackApiError, parts: Omit<RetryParts, 'now'>): number | undefined =>
  isPermanent(error) ? undefined : Math.max(error.retryAfterMs ?? 0, lookupRetryMs(parts));

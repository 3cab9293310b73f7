import type { DocsApiError } from '../docs-api/errors.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import { isPermanent, type SlackApiError } from '../slack/errors.ts';
import type { PollFailure } from './poll-record.ts';

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

/** How often the platform is asked while an operator has to act: the key is refused, or the project is gone. */
const OPERATOR_RETRY_MS = 60_000;

/**
 * Returns the trouble after one more failure: an error of the platform, or that the settings no longer have the project.
 * It is tried again when the platform says, or after ever longer pauses.
 */
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

/** Returns the pause after so many failures in a row, the last of which was `error`. */
export const failurePauseMs = (
  failures: number,
  { retryAfterMs = 0 }: { retryAfterMs?: number | undefined },
  { timing, random }: RetryParts,
) => Math.max(retryAfterMs, backoffMs(timing, failures, random()));

/** Returns a pause as long as it has taken since `sinceMs`, so that pauses double without a count of them. */
export function growingPauseMs(sinceMs: number, { now, random, timing }: RetryParts): number {
  const { retryMinMs, retryMaxMs } = timing;
  return Math.min(Math.max(now() - sinceMs, retryMinMs), retryMaxMs) * (0.75 + random() / 2);
}

/** Returns how long until a look-up at Slack that failed is repeated. */
export const lookupRetryMs = ({ timing, random }: Omit<RetryParts, 'now'>) => backoffMs(timing, 3, random());

/** Returns how long until a call that Slack did not take is repeated; nothing where it would not take it then, either. */
export const slackRetryMs = (error: SlackApiError, parts: Omit<RetryParts, 'now'>): number | undefined =>
  isPermanent(error) ? undefined : Math.max(error.retryAfterMs ?? 0, lookupRetryMs(parts));

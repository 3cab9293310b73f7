import type { DocsApiError } from '../docs-api/errors.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import type { Trouble } from './trouble.ts';

export interface RetryParts {
  now: () => number;
  random: () => number;
  timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs'>;
}

/** How often the platform is asked while an operator has to act: the key is refused, or the project is gone. */
const OPERATOR_RETRY_MS = 60_000;

/** Returns the kind of trouble that an error of the platform makes. */
export function troubleKindOf({ kind }: Pick<DocsApiError, 'kind'>): Trouble['kind'] {
  if (kind === 'key_rejected') return 'key';
  if (kind === 'forbidden' || kind === 'bad_request') return 'forbidden';
  if (kind === 'rate_limited') return 'limit';
  return kind === 'not_found' ? 'lost' : 'down';
}

/** Returns the trouble after one more failure. It is tried again when the platform says, or after ever longer pauses. */
export function troubleAfter(
  before: Trouble | undefined,
  kind: Trouble['kind'],
  error: { retryAfterMs?: number | undefined },
  parts: RetryParts,
): Trouble {
  const inARow = before?.kind === kind ? before.inARow + 1 : 1;
  const needsOperator = ['key', 'forbidden', 'project'].includes(kind);
  const pauseMs = needsOperator ? OPERATOR_RETRY_MS : failurePauseMs(inARow, error, parts);
  return { kind, inARow, nextMs: parts.now() + Math.max(error.retryAfterMs ?? 0, pauseMs) };
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

/** Returns how long until Slack is asked again for what it did not tell. */
export const lookupRetryMs = ({ timing, random }: Omit<RetryParts, 'now'>) => backoffMs(timing, 3, random());

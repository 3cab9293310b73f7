import { backoffMs, type Timing } from '../runtime/timing.ts';
import { SlackApiError } from './errors.ts';

export interface TokenGateParts {
  timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs' | 'slackCallMs'>;
  /** Returns the time of a monotonic clock, in milliseconds. */
  monotonicMs: () => number;
}

/** Returns a gate for calls to Slack: while the token is refused, one call at a time tries whether it works again. */
export function createTokenGate({ timing, monotonicMs }: TokenGateParts) {
  let refused: { times: number; untilMs: number } | undefined;
  const waitMs = () => (refused === undefined ? 0 : Math.max(0, Math.ceil(refused.untilMs - monotonicMs())));
  const pauseMs = (times: number) => backoffMs(timing, times, 0.5);

  return {
    /** Returns for how many milliseconds no call may pass; 0 if the token works or the next try is due. */
    waitMs,

    /** Returns whether the token was refused and has not worked since. */
    isRefused: () => refused !== undefined,

    /** Makes the call and returns its result, or rejects with kind `token` without making it. */
    async run<T>(method: string, call: () => Promise<T>): Promise<T> {
      const remainingMs = waitMs();
      // `auth.test` always passes: it is how the token is checked.
      if (remainingMs > 0 && method !== 'auth.test')
        throw new SlackApiError('token', method, 'token_refused_before', { retryAfterMs: remainingMs });
      const before = refused;
      // While this call is under way, the others wait for it.
      if (refused !== undefined) refused.untilMs = monotonicMs() + timing.slackCallMs;
      try {
        const result = await call();
        refused = undefined;
        return result;
      } catch (error) {
        const outcome = outcomeOf(error);
        const times = (before?.times ?? 0) + 1;
        // Of concurrent calls, the first refusal counts.
        if (outcome === 'refused' && refused === before)
          refused = { times, untilMs: monotonicMs() + pauseMs(times) };
        else if (outcome === 'works') refused = undefined;
        else if (outcome === 'unknown' && refused !== undefined)
          refused.untilMs = monotonicMs() + pauseMs(refused.times);
        throw error;
      }
    },
  };
}

function outcomeOf(error: unknown): 'works' | 'refused' | 'unknown' {
  if (!(error instanceof SlackApiError)) return 'unknown';
  const { kind, code } = error;
  if (kind === 'unclear' || kind === 'unreachable') return 'unknown';
  // A token that lacks a scope works for everything else.
  return kind === 'token' && code !== 'missing_scope' ? 'refused' : 'works';
}

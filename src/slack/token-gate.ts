import { backoffMs, type Timing } from '../runtime/timing.ts';
import { SlackApiError } from './errors.ts';

export interface TokenGateParts {
  timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs' | 'slackCallMs'>;
  /** A clock that nobody sets, in milliseconds. */
  monotonicMs: () => number;
}

/** While Slack refuses the token nothing works: one call finds out whether it does again, and nobody else asks. */
export function createTokenGate({ timing, monotonicMs }: TokenGateParts) {
  let refused: { times: number; untilMs: number } | undefined;
  const waitMs = () => (refused === undefined ? 0 : Math.max(0, Math.ceil(refused.untilMs - monotonicMs())));
  const pauseMs = (times: number) => backoffMs(timing, times, 0.5);

  return {
    /** For how long nobody may call, in milliseconds; 0 while the token works, and when it is time to find out. */
    waitMs,

    /** Returns after the call, or rejects with kind `token` without having made it. */
    async run<T>(method: string, call: () => Promise<T>): Promise<T> {
      const remainingMs = waitMs();
      // Who the bot is has to be asked of the token alone.
      if (remainingMs > 0 && method !== 'auth.test')
        throw new SlackApiError('token', method, 'token_refused_before', { retryAfterMs: remainingMs });
      const before = refused;
      // As long as this call is under way, the others wait for it.
      if (refused !== undefined) refused.untilMs = monotonicMs() + timing.slackCallMs;
      try {
        const result = await call();
        refused = undefined;
        return result;
      } catch (error) {
        const outcome = outcomeOf(error);
        const times = (before?.times ?? 0) + 1;
        // Of calls that were made at once, the first counts.
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
  // One that lacks a scope works for everything else.
  return kind === 'token' && code !== 'missing_scope' ? 'refused' : 'works';
}

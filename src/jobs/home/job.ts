import { z } from 'zod';
import { SlackApiError } from '../../slack/errors.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import type { JobContext } from '../context.ts';
import { defineJob, done, type Outcome, runAgainIn } from '../job.ts';
import { growingPauseMs } from '../retry.ts';
import { loadHome } from './load.ts';
import { homeView } from './view.ts';

export const homeData = z.object({ teamId: z.string(), userId: z.string(), openedAtMs: z.number() });
export type HomeData = z.output<typeof homeData>;

/** After this, publishing is given up: Home is refreshed when it is opened again. */
const GIVE_UP_MS = 3 * 60_000;

/** `views.publish` is tier 4, 100 in any minute for the whole workspace: Slack's rate limits page. */
const homeRateLimit = (teamId: string): RateLimit => ({
  name: `home:${teamId}`,
  count: 90,
  windowMs: 60_000,
  burst: 5,
});

/** Refreshes the Home tab of one person. Publishing twice does no harm. */
export const homeJob = defineJob<HomeData>({
  name: 'home',
  queue: 'slack-outbox',
  concurrency: 5,
  data: homeData,

  async run(data, context) {
    const { teamId, userId } = data;
    const { slack, rateLimiter } = context;
    const rateLimit = homeRateLimit(teamId);
    const waitMs = await rateLimiter.takeSlot(rateLimit, { id: userId });
    if (waitMs > 0) return runAgainIn(waitMs);
    const view = homeView(await loadHome(teamId, userId, context));
    try {
      await slack.publishHome(userId, view);
      return done;
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      if (error.kind === 'limited')
        await rateLimiter.hold(rateLimit, error.retryAfterMs ?? context.timing.retryMaxMs);
      return handlePublishError(error, data, context);
    }
  },
});

function handlePublishError(
  error: SlackApiError,
  { userId, openedAtMs }: HomeData,
  context: JobContext,
): Outcome {
  const { kind, code, pointers } = error;
  const { log, now } = context;
  if (kind === 'blocks') {
    log.error({ user: userId, code, pointers }, 'Slack refused our Home tab');
    return done;
  }
  if (kind === 'place' || kind === 'missing' || kind === 'refused') {
    log.warn({ user: userId, code }, 'Slack takes no Home tab for this person');
    return done;
  }
  // Checked only here: a tab opened long ago may be open again.
  if (now() - openedAtMs > GIVE_UP_MS) {
    log.warn({ user: userId, code }, 'a Home tab was not brought up to date: Slack did not take it in time');
    return done;
  }
  log.warn({ user: userId, kind, code }, 'a Home tab was not published; I try again');
  return runAgainIn(growingPauseMs(openedAtMs, context));
}

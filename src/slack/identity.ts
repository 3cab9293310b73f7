import type { Log } from '../runtime/log.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import type { Identity, SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';

/** Fewer consecutive failures may pass by themselves. */
const FAILURES_BEFORE_ERROR = 3;

/** Returns whether Slack refused the bot, which no retry changes. */
const isRefused = (error: unknown) =>
  error instanceof SlackApiError && (error.kind === 'token' || error.kind === 'refused');

/** Loads the bot's identity, and retries until Slack answers. Until then, Docket refuses commands. */
export function createIdentity(slack: SlackApi, timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs'>, log: Log) {
  let identity: Identity | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function load(failures: number) {
    try {
      identity = await slack.identity();
      log.info({ team: identity.teamId, bot: identity.botUserId }, 'authenticated with Slack');
    } catch (error) {
      const level = isRefused(error) || failures >= FAILURES_BEFORE_ERROR ? 'error' : 'warn';
      log[level](
        { err: error },
        'Slack does not say who the bot is; check SLACK_BOT_TOKEN and SLACK_API_URL',
      );
      if (!stopped) timer = setTimeout(() => void load(failures + 1), backoffMs(timing, failures, 0.5));
    }
  }

  return {
    /** Returns undefined until Slack has answered. */
    current: () => identity,
    /** Resolves after the first answer, good or bad. */
    start: () => load(1),
    stop(): void {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

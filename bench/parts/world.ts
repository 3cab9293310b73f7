import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StandInSlack } from '../../demo/slack/slack.ts';
import { createQueues } from '../../src/jobs/engine/queue.ts';
import { enqueueRun } from '../../src/jobs/index.ts';
import { defaultTiming, type Timing } from '../../src/runtime/timing.ts';
import { connectForWork } from '../../src/store/redis/connections.ts';
import { createRunStore, type RunBase } from '../../src/store/runs.ts';
import { startTestRedis } from '../../test/support/redis.ts';
import { type BenchBot, startBot } from './bot.ts';
import type { BenchPlatform } from './platform.ts';

/** The bot, with a Redis of its own, between the stand-ins. */
export interface BenchWorld {
  bot: BenchBot;
  redisUrl: string;
  /** Ends all but the bot and the platform. */
  stop(): Promise<void>;
}

/** Starts the bot; `config` is the text of the file that DOCKET_CONFIG names, and `timing` changes production's. */
export async function startWorld(
  slack: StandInSlack,
  platform: Pick<BenchPlatform, 'url' | 'apiKey' | 'projectId'>,
  config: string,
  timing?: Partial<Timing>,
): Promise<BenchWorld> {
  const redis = await startTestRedis();
  const folder = mkdtempSync(join(tmpdir(), 'docket-bench-'));
  const file = join(folder, 'docket.yml');
  writeFileSync(file, config);
  const server = await slack.listen();
  const settings = {
    SLACK_BOT_TOKEN: slack.tokens.bot,
    SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
    SLACK_API_URL: `${server.url}/api/`,
    DOCS_API_URL: platform.url,
    DOCS_API_KEY: platform.apiKey,
    // With projects of its own, the file has their ids.
    ...(!config.includes('projects:') && { DOCS_PROJECT_ID: platform.projectId }),
    DOCKET_CONFIG: file,
    REDIS_URL: redis.url,
  };
  const bot = await startBot(settings, timing);
  slack.botUrl = `http://127.0.0.1:${bot.port}/slack/events`;
  return {
    bot,
    redisUrl: redis.url,
    async stop() {
      slack.stop();
      await Promise.all([server.close(), redis.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The bot's runs, beside it. */
export function openRuns(redisUrl: string) {
  const connection = connectForWork({ url: redisUrl }, defaultTiming, () => {});
  const queues = createQueues(connection, () => {});
  const runs = createRunStore(connection);
  return {
    ...runs,
    /** Has the bot begin with a run. */
    async start(run: RunBase): Promise<void> {
      await runs.accept(run);
      await enqueueRun(queues, run);
    },
    async close(): Promise<void> {
      await queues.close();
      connection.disconnect();
    },
  };
}

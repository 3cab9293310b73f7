import { setTimeout as pause } from 'node:timers/promises';
import { checkSchema } from '../../src/store/schema.ts';
import { aRun } from '../../test/support/jobs/export/builders.ts';
import { startTestRedis, type TestRedis } from '../../test/support/redis.ts';
import type { AgentProcess } from './agent-process.ts';
import type { LiftedProcess } from './lifted-process.ts';
import { type Remote, startRemote } from './remote.ts';
import type { SlackProcess } from './slack-process.ts';
import { openRuns } from './world.ts';

/** Where exports are watched: stand-ins and Redis, each a process of its own, and the settings of a worker. */
export interface WatchedWorld {
  redis: TestRedis;
  slack: Remote<SlackProcess>;
  platform: Remote<AgentProcess>;
  api: { url: string; apiKey: string };
  /** Starts a worker process. */
  startWorker(env?: Record<string, string>): Promise<Remote<LiftedProcess>>;
  /**
   * Has the platform run so many exports, and the workers watch them. Returns once each has its card and its progress, with
   * their ids, which are those of their runs.
   */
  watch(count: number): Promise<string[]>;
  close(): Promise<void>;
}

/** A channel takes one post a second: 10,000 posts take 50 s. */
const CHANNELS = '200';
const POSTED_MS = 180_000;

const file = (name: string) => new URL(`./${name}.ts`, import.meta.url).pathname;

export async function createWatchedWorld(): Promise<WatchedWorld> {
  const redis = await startTestRedis();
  const slack = startRemote<SlackProcess>(file('slack-process'), { CHANNELS });
  const platform = startRemote<AgentProcess>(file('agent-process'));
  const { apiUrl, token, signingSecret } = await slack.listen();
  const { url, apiKey, projectId } = await platform.listen();
  const { teamId, channels, people } = await slack.places();
  await checkSchema(redis.client);
  const runs = openRuns(redis.url);

  return {
    redis,
    slack,
    platform,
    api: { url, apiKey },
    async startWorker(env = {}) {
      const worker = startRemote<LiftedProcess>(file('lifted-process'), {
        DOCKET_ROLE: 'worker',
        HEALTH_PORT: '0',
        SLACK_BOT_TOKEN: token,
        SLACK_SIGNING_SECRET: signingSecret,
        SLACK_API_URL: apiUrl,
        DOCS_API_URL: url,
        DOCS_API_KEY: apiKey,
        DOCS_PROJECT_ID: projectId,
        REDIS_URL: redis.url,
        ...env,
      });
      await worker.port();
      return worker;
    },
    async watch(count) {
      const jobIds = await platform.startExports(count);
      for (const [index, jobId] of jobIds.entries()) {
        const atMs = Date.now();
        const by = { id: `U1P${index % people}`, name: `person${index % people}` };
        const channel = channels[index % channels.length] ?? '';
        const changes = {
          id: jobId,
          rev: 1,
          // As one that is watched from the moment its card is there.
          state: 'postingCard' as const,
          joined: true as const,
          teamId,
          claim: `watch-${jobId}`,
          people: [by.id],
          domain: `site-${index}.acme.com`,
          by,
          asked: { channel, joinable: true, isPublic: true, atMs },
          sinceMs: atMs,
          attemptAtMs: atMs,
          startedAtMs: atMs,
          nextLookAtMs: atMs,
          jobId,
        };
        await runs.start(aRun(changes));
      }
      const postedByMs = performance.now() + POSTED_MS;
      while ((await slack.messages()) < 2 * count) {
        if (performance.now() > postedByMs) throw new Error('cards and progress are not all posted');
        await pause(500);
      }
      return jobIds;
    },
    async close() {
      await runs.close();
      slack.stop();
      platform.stop();
      await redis.close();
    },
  };
}

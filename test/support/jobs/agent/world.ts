import { beforeEach } from 'vitest';
import { threadJob } from '../../../../src/jobs/agent/thread/job.ts';
import type { ThreadEvent } from '../../../../src/jobs/agent/thread/record.ts';
import { type ThreadRun, threadRun } from '../../../../src/jobs/agent/thread/record.ts';
import type { JobContext } from '../../../../src/jobs/engine/context.ts';
import { createRunStore } from '../../../../src/store/runs.ts';
import { createThreadStore, threadClaim } from '../../../../src/store/threads.ts';
import { NOW_MS } from '../../builders.ts';
import { redisForTests, type TestRedis } from '../../redis.ts';
import { jobContext, stepJob } from '../world.ts';
import { aThread } from './builders.ts';

type Docs = NonNullable<ReturnType<JobContext['platform']['docs']>>;

const place = { teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1789912800.000100' };

/** One followed thread with the real jobs and stores; Slack and the platform answer as the test says. */
export function createAgentWorld(redis: TestRedis) {
  const { client } = redis;
  const clock = { ms: NOW_MS };
  const now = () => clock.ms;
  const runs = createRunStore(client);
  const threads = createThreadStore(client);
  const ephemerals: string[] = [];
  const audited: string[] = [];
  const prompts: string[] = [];
  const texts = new Map<string, string>();
  let token = 0;
  const newToken = () => {
    token += 1;
    return `token-${token}`;
  };
  const docs = {
    keyId: 'k1',
    getAgentJob: async () => ({ id: 'aj', status: 'completed', rawStatus: 'completed' }),
    sendFollowUp: async ({ prompt }) => {
      prompts.push(prompt);
      return { id: 'aj', status: 'active', rawStatus: 'active' };
    },
  } as Partial<Docs> as Docs;
  const context = jobContext(client, {
    runs,
    threads,
    docs: () => docs,
    slack: { postEphemeralTo: async ({ user }, { text }) => void ephemerals.push(`${user}: ${text}`) },
    audit: {
      add: async (_team, { user, what, result }) => void audited.push(`${user.id} ${what}: ${result}`),
      latest: async () => ({ done: [], refused: [] }),
    },
    outbox: { publish: async (_team, { key, message }) => void texts.set(key, message.text) },
    newToken,
    now,
  });
  const id = aThread().id;
  const step = () => stepJob(threadJob, id, context);

  return {
    ...{ clock, context, docs, runs, ephemerals, audited, prompts, texts, id, step },
    async follows(changes: Partial<ThreadRun> = {}) {
      const fresh = { pollRequested: true, permanent: true, rev: 1, claim: threadClaim(place) };
      const run = aThread({ ...fresh, ...changes });
      await runs.accept(run, { claimMs: 60_000 });
      await threads.follow(run, place);
      await step();
    },
    async receives(...entries: ThreadEvent[]) {
      for (const entry of entries)
        await runs.appendToInbox('agent-thread', id, { event: entry, dedupeKey: newToken() });
    },
    async thread(): Promise<ThreadRun> {
      const opened = await runs.loadWithInbox(id, threadRun);
      if (opened === undefined) throw new Error('the thread is gone');
      return opened.run;
    },
  };
}

export type AgentWorld = ReturnType<typeof createAgentWorld>;

/** Hands a new world to `take` before each test of a file. Returns the Redis they share, which is empty each time. */
export function onFreshWorlds(take: (world: AgentWorld) => void): TestRedis {
  const redis = redisForTests();
  beforeEach(() => take(createAgentWorld(redis)));
  return redis;
}

import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { AgentContext } from '../../../../src/jobs/agent/thread/context.ts';
import type { ThreadEvent } from '../../../../src/jobs/agent/thread/event.ts';
import { threadJob } from '../../../../src/jobs/agent/thread/job.ts';
import { type ThreadRun, threadRun, watchId } from '../../../../src/jobs/agent/thread/record.ts';
import { watchJob } from '../../../../src/jobs/agent/watch/job.ts';
import { watchRun } from '../../../../src/jobs/agent/watch/record.ts';
import { createWatches } from '../../../../src/jobs/agent/watch/watches.ts';
import { createCallOnce } from '../../../../src/jobs/call-once.ts';
import { defaultTiming } from '../../../../src/runtime/timing.ts';
import { createOutbox } from '../../../../src/slack/outbox.ts';
import type { Reaction } from '../../../../src/slack/reactions.ts';
import { createHourlyLimitStore } from '../../../../src/store/budget.ts';
import { createCallOnceStore } from '../../../../src/store/calls.ts';
import { createMessageStore } from '../../../../src/store/messages.ts';
import { createRateLimitStore } from '../../../../src/store/rate-limit.ts';
import { createRunStore } from '../../../../src/store/runs.ts';
import { createThreadStore, threadClaim } from '../../../../src/store/threads.ts';
import { startTestRedis, type TestRedis } from '../../flows/redis.ts';
import { aThread, NOW_MS } from './any-thread.ts';

type Docs = NonNullable<ReturnType<AgentContext['docs']>>;

const place = { teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1789912800.000100' };
const ENDLESS = Number.MAX_SAFE_INTEGER;

/** One followed thread with the real jobs and stores; Slack and the platform answer as the test says. */
export function agentWorld(redis: TestRedis) {
  const { client } = redis;
  const clock = { ms: NOW_MS };
  const now = () => clock.ms;
  const runs = createRunStore(client);
  const threads = createThreadStore(client);
  const messages = createMessageStore(client);
  const shown: string[] = [];
  const said: string[] = [];
  const audited: string[] = [];
  const reacted: ReadonlyMap<string, Reaction | undefined>[] = [];
  const prompts: string[] = [];
  let token = 0;
  const newToken = () => {
    token += 1;
    return `token-${token}`;
  };
  const outbox = createOutbox({ messages, wake: async () => {}, now });
  const docs = {
    keyId: 'k1',
    getAgentJob: async () => ({ id: 'aj', status: 'completed', rawStatus: 'completed' }),
    sendFollowUp: async ({ prompt }) => {
      prompts.push(prompt);
      return { id: 'aj', status: 'active', rawStatus: 'active' };
    },
  } as Partial<Docs> as Docs;
  const context: AgentContext = {
    runs,
    threads,
    budgets: createHourlyLimitStore(client),
    watches: createWatches({ runs, wake: async () => {}, now }),
    docs: () => docs,
    projectId: () => 'prj_1',
    policy: {
      check: async (id) => ({ kind: 'allowed', person: { id, name: id, fullMember: true, active: true } }),
      isOpen: () => true,
    },
    names: async () => ({ users: new Map(), channels: new Map(), groups: new Map() }),
    botUserId: () => 'U0DOCKET',
    slack: {
      channel: async () => ({ shared: false, isPublic: true }),
      postEphemeralTo: async ({ user }, { text }) => void said.push(`${user}: ${text}`),
    },
    outbox: {
      ...outbox,
      publish: async (teamId, message, version) => {
        shown.push(`${message.key} ${message.message.text}`);
        return outbox.publish(teamId, message, version);
      },
    },
    reactions: { publish: async (_subject, wanted) => void reacted.push(wanted) },
    callOnceInSlack: createCallOnce({
      stopping: new AbortController().signal,
      steps: createCallOnceStore(client),
      callMs: 100,
      marginMs: 100,
      didNotHappen: () => true,
      newToken,
      now,
    }),
    postEphemeral: async () => true,
    audit: {
      add: async (_team, { user, what, result }) => void audited.push(`${user.id} ${what}: ${result}`),
      latest: async () => ({ done: [], refused: [] }),
    },
    alertAdmins: async () => true,
    rateLimiter: createRateLimitStore(client),
    // The rate goes by the clock of Redis; here it must hold up nothing.
    limits: {
      exportStatusPerSecond: 1_000_000,
      followUpsPerHour: 100,
      instructionCharacters: 8000,
      instructionsWaiting: 100,
    },
    wake: async () => {},
    stopping: new AbortController().signal,
    newToken,
    now,
    random: () => 0.5,
    timing: defaultTiming,
    log: pino({ level: 'silent' }),
  };
  const id = aThread().id;
  const watch = watchId('T0ACME', 'default', aThread().agentJobId ?? '');
  const look = () => threadJob.run({ runId: id }, context);

  return {
    ...{
      client,
      clock,
      context,
      docs,
      runs,
      threads,
      shown,
      said,
      audited,
      reacted,
      prompts,
      id,
      watch,
      look,
    },
    /** Looks of the watch, each at the time it was wanted; those for later are left. */
    async watchLooks(times = 3) {
      for (let time = 0; time < times; time += 1) await watchJob.run({ runId: watch }, context);
    },
    async follows(changes: Partial<ThreadRun> = {}) {
      const fresh = { watched: false, lasting: true, rev: 1, claim: threadClaim(place) };
      const run = aThread({ ...fresh, ...changes });
      await runs.accept(run, ENDLESS, 60_000, undefined);
      await threads.follow(run, place);
      await look();
      await this.watchLooks();
      await look();
    },
    async hears(...entries: ThreadEvent[]) {
      for (const entry of entries)
        await threads.appendToInbox('agent-thread', id, { event: entry, dedupeKey: newToken() }, ENDLESS);
    },
    async thread(): Promise<ThreadRun> {
      const opened = await threads.loadWithInbox(id, threadRun);
      if (opened === undefined) throw new Error('the thread is gone');
      return opened.run;
    },
    async watched() {
      const run = await runs.load(watch, watchRun);
      if (run === undefined) throw new Error('the watch is gone');
      return run;
    },
    /** The texts that people read last, by message. */
    texts(part: string): string[] {
      const latest = new Map(
        shown.map((line) => [line.split(' ')[0] ?? '', line.slice(line.indexOf(' ') + 1)]),
      );
      return [...latest].filter(([key]) => key.includes(part)).map(([, text]) => text);
    },
  };
}

export type AgentWorld = ReturnType<typeof agentWorld>;

/** Hands a new world to `take` before each test of a file; they share one Redis, which is empty each time. */
export function onFreshWorlds(take: (world: AgentWorld, redis: TestRedis) => void): void {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  beforeEach(async () => {
    await redis.client.flushall();
    take(agentWorld(redis), redis);
  });
  afterAll(() => redis.close());
}

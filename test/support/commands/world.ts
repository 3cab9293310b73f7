import type { ModalView } from '@slack/types';
import { beforeEach } from 'vitest';
import { type CommandTools, createIntake } from '../../../src/commands/intake.ts';
import { defaultConfigFile } from '../../../src/config/file.ts';
import { type ThreadRun, threadRun } from '../../../src/jobs/agent/thread/record.ts';
import { exportRun } from '../../../src/jobs/export/record.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { noNames } from '../../../src/slack/markdown/inline.ts';
import { createFiguresStore } from '../../../src/store/figures.ts';
import { createRunStore, type RunBase } from '../../../src/store/runs.ts';
import { createThreadStore, threadClaim } from '../../../src/store/threads.ts';
import { createValueStores } from '../../../src/store/values.ts';
import { NOW_MS } from '../builders.ts';
import { unread } from '../metrics.ts';
import { redisForTests, type TestRedis } from '../redis.ts';
import { aProject } from './builders.ts';

/** What commands work with: real stores; what they open, audit and wake is kept for the test to read. */
export function createCommandWorld(redis: TestRedis, changes: Partial<CommandTools> = {}) {
  const runs = createRunStore(redis.client);
  const links = createValueStores(redis.client).links;
  const threads = createThreadStore(redis.client);
  const opened: ModalView[] = [];
  const audited: Parameters<CommandTools['audit']>[0][] = [];
  const woken: string[] = [];
  const tools: CommandTools = {
    intake: createIntake({
      runs,
      threads,
      figures: createFiguresStore(redis.client),
      isPublic: (channel) => tools.isPublic(channel),
      isMember: (channel, user) => tools.isMember(channel, user),
      wake: async ({ id }) => void woken.push(id),
      timeoutMs: 5000,
      claimMs: 60_000,
      monotonicMs: () => 0,
      metrics: unread,
      log: createLog('silent', []),
    }),
    outbox: {
      deliveryState: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1789914659.000100' }),
    },
    projects: [aProject()],
    docsDomain: undefined,
    links: 'thread',
    replyMode: 'auto',
    backgroundMode: 'ask',
    limits: defaultConfigFile.limits,
    names: async () => noNames,
    isPublic: async () => true,
    isMember: async () => false,
    loadLink: links.get,
    openModal: async (_caller, view) => void opened.push(view),
    personZone: async () => 'Europe/Berlin',
    audit: async (line) => void audited.push(line),
    hasPermission: async () => false,
    requirePermission: async () => {},
    auditLines: async () => ({ done: [], refused: [] }),
    systemStatus: () => Promise.reject(new Error('nobody asks here')),
    botUserId: 'U0BOT',
    workspaceUrl: 'https://acme.example/',
    now: () => NOW_MS,
    ...changes,
  };

  return {
    tools,
    runs,
    links,
    threads,
    opened,
    audited,
    woken,
    /** Every run of an export that is open, oldest first. */
    exports: () => runs.activeOf(exportRun, 'export', 'T0ACME'),
    /** Every thread that is being set up or follows a job, oldest first. */
    threadRuns: () => runs.activeOf(threadRun, 'agent-thread', 'T0ACME'),
    /** A thread that follows a job in its place. */
    async followed(followed: ThreadRun): Promise<ThreadRun> {
      const { teamId, place } = followed;
      const claim = place && threadClaim({ teamId, ...place });
      const thread = { ...followed, claim };
      await runs.accept(thread, { deadlineMs: (await runs.timeMs()) + 10_000 });
      if (place !== undefined) await threads.follow(thread, { teamId, ...place });
      return thread;
    },
    /** What happened to a thread since its last step. */
    inbox: async ({ id }: Pick<ThreadRun, 'id'>) => (await runs.loadWithInbox(id, threadRun))?.inbox,
    async given<R extends RunBase>(run: R): Promise<R> {
      await runs.accept(run, { deadlineMs: (await runs.timeMs()) + 10_000, claimMs: 60_000 });
      return run;
    },
  };
}

export type CommandWorld = ReturnType<typeof createCommandWorld>;

/** Hands a new world to `take` before each test of a file. Returns the Redis they share, which is empty each time. */
export function onFreshWorlds(
  take: (world: CommandWorld) => void,
  changes: Partial<CommandTools> = {},
): TestRedis {
  const redis = redisForTests();
  beforeEach(() => take(createCommandWorld(redis, changes)));
  return redis;
}

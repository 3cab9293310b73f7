import { beforeEach, describe, expect, test } from 'vitest';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadRun } from '../../../../src/jobs/agent/thread/record.ts';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { askJob } from '../../../../src/jobs/digest/ask/job.ts';
import { type AskRun, askRun, newAsk } from '../../../../src/jobs/digest/ask/record.ts';
import { askMessages } from '../../../../src/jobs/digest/ask/view.ts';
import { createRunStore } from '../../../../src/store/runs.ts';
import { createThreadStore } from '../../../../src/store/threads.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';
import { anEdition } from '../../../support/jobs/digest/builders.ts';
import { type JobContextParts, jobContext } from '../../../support/jobs/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const redis = redisForTests();
const ENDLESS = Number.MAX_SAFE_INTEGER;
let nowMs: number;
let runs: ReturnType<typeof createRunStore>;
let threads: ReturnType<typeof createThreadStore>;
beforeEach(() => {
  nowMs = NOW_MS;
  runs = createRunStore(redis.client);
  threads = createThreadStore(redis.client);
});

const anAskFor = (to: Parameters<typeof newAsk>[0]['to']) =>
  newAsk(
    {
      id: 'a5ca5ca5ca5ca5ca5ca5ca5c',
      teamId: 'T0ACME',
      project: 'default',
      edition: anEdition().id,
      channel: 'C0DOCS',
      by: { id: 'U0ANA', name: 'Ana' },
      subject: { kind: 'page', name: '/guides/sso', value: 100 },
      text: 'Check the page',
      to,
    },
    nowMs,
  );
const newJob = {
  asked: { channel: 'C0DOCS', joinable: true, isPublic: true },
  mode: 'auto' as const,
};

const contextWith = (changes: JobContextParts = {}): JobContext =>
  jobContext(redis.client, { runs, threads, now: () => nowMs, ...changes });
const accept = async (run: AskRun | ThreadRun) => {
  await runs.accept(run, ENDLESS, 0, undefined);
  return run;
};
const step = (id: string, context = contextWith()) => askJob.run({ runId: id }, context);
async function stored(id: string): Promise<AskRun> {
  const run = await runs.load(id, askRun);
  if (run === undefined) throw new Error('the run is gone');
  return run;
}
const line = async (id: string) => askMessages(await stored(id))[0]?.message.text;
/** The thread as it is after something happened in it. */
async function becomes(id: string, changes: (thread: ThreadRun) => Partial<ThreadRun>) {
  const loaded = await runs.loadWithInbox(id, threadRun);
  if (loaded === undefined) throw new Error('the thread is gone');
  await runs.saveStep({ ...loaded.run, ...changes(loaded.run) }, { consumed: loaded.inbox.length });
}

describe('killed at any write', () => {
  const to = { 'a new job': newJob, 'a thread': { thread: aThread().id } };
  test.each(Object.entries(to))('%s gets the instruction once', async (_, where) => {
    for (let death = 0; death < 6; death += 1) {
      await redis.client.flushdb();
      await accept(aThread());
      const ask = await accept(anAskFor(where));
      let left = death;
      const dies = <T extends object>(store: T, names: (keyof T)[]): T => {
        const wrapped = { ...store };
        for (const name of names)
          wrapped[name] = (async (...args: unknown[]) => {
            if (left === 0) throw new Error('killed before');
            left -= 1;
            const result = await (store[name] as (...given: unknown[]) => Promise<unknown>)(...args);
            if (left === 0) throw new Error('killed after');
            left -= 1;
            return result;
          }) as T[typeof name];
        return wrapped;
      };
      const dying = contextWith({
        runs: dies(runs, ['accept', 'saveStep', 'appendToInbox']),
      });
      await step(ask.id, dying).catch(() => {});
      await step(ask.id);
      await step(ask.id);
      const { thread, instruction, state } = await stored(ask.id);
      expect(state).not.toBe('accepted');
      const loaded = await runs.loadWithInbox(thread, threadRun);
      const instructed = [
        ...(loaded?.run.instructions ?? []),
        ...((loaded?.inbox ?? []) as { id: string }[]),
      ];
      expect(instructed.map(({ id }) => id)).toEqual([instruction]);
      const all = await runs.activeOf(threadRun, 'agent-thread');
      expect(all.map(({ id }) => id).toSorted()).toEqual([...new Set([aThread().id, thread])].toSorted());
    }
  });
});

describe('a thread that follows a job', () => {
  const one = (changes: object = {}) => anInstruction({ id: '', isReply: false, ...changes });

  /** The line, after the thread has come to what `changes` says of the instruction. */
  async function told(
    changes: (id: string, thread: ThreadRun) => Partial<ThreadRun>,
    thread: Partial<ThreadRun> = {},
  ) {
    await accept(aThread(thread));
    const ask = await accept(anAskFor({ thread: aThread().id }));
    await step(ask.id);
    const { instruction } = await stored(ask.id);
    await becomes(aThread().id, (loaded) => changes(instruction, loaded));
    await step(ask.id);
    const { state } = await stored(ask.id);
    return { ask, instruction, state, text: (await line(ask.id))?.replace(/\nAsked by Ana$/, '') };
  }

  test('is not linked where readers of the digest may not go', async () => {
    const asked = { channel: 'C0OPS', joinable: true, isPublic: false };
    const { ask } = await told((id) => ({ instructions: [one({ id })] }), {
      asked,
      place: { channel: 'C0OPS', rootTs: '1.1' },
    });
    expect(await stored(ask.id)).not.toHaveProperty('threadUrl');
  });
});

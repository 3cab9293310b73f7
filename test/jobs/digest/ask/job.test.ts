import { beforeEach, describe, expect, test } from 'vitest';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadRun } from '../../../../src/jobs/agent/thread/record.ts';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { askJob } from '../../../../src/jobs/digest/ask/job.ts';
import { type AskRun, askRun, newAsk } from '../../../../src/jobs/digest/ask/record.ts';
import { askMessages } from '../../../../src/jobs/digest/ask/view.ts';
import { rangeKey } from '../../../../src/jobs/digest/figures/record.ts';
import { defaultTiming } from '../../../../src/runtime/timing.ts';
import { createFiguresStore } from '../../../../src/store/figures.ts';
import { createRunStore } from '../../../../src/store/runs.ts';
import { createThreadStore } from '../../../../src/store/threads.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';
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
  const loaded = await threads.loadWithInbox(id, threadRun);
  if (loaded === undefined) throw new Error('the thread is gone');
  await threads.save({ ...loaded.run, ...changes(loaded.run) }, loaded.inbox.length);
}

test('a page that somebody typed has its number, which no list of the digest shows', async () => {
  const digest = anEdition();
  await runs.accept(digest, ENDLESS, 0, undefined);
  const pages = [{ path: '/typed', human: 30, ai: 4 }];
  await createFiguresStore(redis.client).addPages({ ...digest, asked: false }, rangeKey(digest.range), pages);
  const subject = { kind: 'page' as const, name: '/typed' };
  const ask = await accept({ ...anAskFor(newJob), subject });
  await step(ask.id);
  expect((await stored(ask.id)).subject).toEqual({ ...subject, value: 34 });
});

describe('a new job', () => {
  test('gets a thread of its own in the channel, whose instruction makes it', async () => {
    const ask = await accept(anAskFor(newJob));
    const woken: string[] = [];
    await step(ask.id, contextWith({ wake: async ({ id }) => void woken.push(id) }));
    const { thread, instruction } = await stored(ask.id);
    expect(await runs.load(thread, threadRun)).toMatchObject({
      owner: { id: 'U0ANA', name: 'Ana' },
      asked: { channel: 'C0DOCS' },
      checked: true,
      state: 'accepted',
      instructions: [{ id: instruction, text: 'Check the page', creates: true, state: 'waiting' }],
    });
    expect(woken).toContain(thread);
    expect(await createFiguresStore(redis.client).asks(anEdition().id)).toEqual([ask.id]);
    expect(await stored(ask.id)).not.toHaveProperty('handover');
  });

  test('is told of once its card is there, or that takes too long', async () => {
    const ask = await accept(anAskFor(newJob));
    await step(ask.id);
    expect(await line(ask.id)).toBeUndefined();
    nowMs += 11_000;
    await step(ask.id);
    expect(await line(ask.id)).toBe('The docs agent was asked about /guides/sso.\nAsked by Ana');
    expect(await stored(ask.id)).not.toHaveProperty('threadUrl');
    const { thread } = await stored(ask.id);
    await becomes(thread, () => ({ place: { channel: 'C0DOCS', rootTs: '1.2' }, state: 'following' }));
    await step(ask.id);
    expect(await stored(ask.id)).toMatchObject({ threadUrl: 'https://acme.example/archives/C0DOCS/p12' });
  });

  test('that nobody made was not sent', async () => {
    const ask = await accept(anAskFor(newJob));
    await step(ask.id);
    await becomes((await stored(ask.id)).thread, ({ instructions }) => ({
      state: 'ended',
      ended: { why: 'notMade', unsent: 0 },
      instructions: instructions.map((one) => ({ ...one, state: 'failed', outcome: 'notSent' })),
    }));
    await step(ask.id);
    expect(await line(ask.id)).toBe('The instruction about /guides/sso was not sent.\nAsked by Ana');
    expect(await stored(ask.id)).toMatchObject({ state: 'ended' });
  });
});

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
        runs: dies(runs, ['accept', 'save']),
        threads: dies(threads, ['appendToInbox']),
      });
      await step(ask.id, dying).catch(() => {});
      await step(ask.id);
      await step(ask.id);
      const { thread, instruction, state } = await stored(ask.id);
      expect(state).not.toBe('accepted');
      const loaded = await threads.loadWithInbox(thread, threadRun);
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
  const prLink = 'https://github.com/acme/docs/pull/131';
  const NOT_SENT = 'The instruction about /guides/sso was not sent.';
  const UNCLEAR = 'The instruction about /guides/sso may not have reached the agent.';
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

  test('is instructed like by any modal, and linked at once', async () => {
    await accept(aThread());
    const ask = await accept(anAskFor({ thread: aThread().id }));
    await step(ask.id);
    const { instruction, threadUrl } = await stored(ask.id);
    const loaded = await threads.loadWithInbox(aThread().id, threadRun);
    expect(loaded?.inbox).toEqual([
      {
        kind: 'instruct',
        id: instruction,
        by: { id: 'U0ANA', name: 'Ana' },
        text: 'Check the page',
        atMs: NOW_MS,
      },
    ]);
    expect(threadUrl).toBe('https://acme.example/archives/C0DOCS/p1789912800000100');
    expect(await line(ask.id)).toBe('The docs agent was asked about /guides/sso.\nAsked by Ana');
  });

  test('is not linked where readers of the digest may not go', async () => {
    const asked = { channel: 'C0OPS', joinable: true, isPublic: false };
    const { ask } = await told((id) => ({ instructions: [one({ id })] }), {
      asked,
      place: { channel: 'C0OPS', rootTs: '1.1' },
    });
    expect(await stored(ask.id)).not.toHaveProperty('threadUrl');
  });

  test.each([
    ['newPr', { prLink }, `The agent opened <${prLink}|acme/docs#131> for /guides/sso.`],
    [
      'samePr',
      { prLink },
      `The agent finished /guides/sso in the same pull request as before, <${prLink}|acme/docs#131>.`,
    ],
    ['noPr', {}, 'The agent finished /guides/sso without a pull request.'],
    ['failed', {}, 'The agent could not finish /guides/sso.'],
    ['archived', {}, 'The job about /guides/sso was archived.'],
    ['gone', {}, 'The platform no longer has the job about /guides/sso.'],
    [
      'gaveUp',
      { afterMs: 21_600_000 },
      'I stopped watching /guides/sso after 6 h; the agent may still finish.',
    ],
  ] as const)('tells that its round ended: %s', async (kind, more, saying) => {
    const { state, text } = await told((id) => ({
      instructions: [one({ id, state: 'over', outcome: 'sent', round: 3 })],
      rounds: [
        aRound({ n: 2, ending: { kind: 'noPr', atMs: NOW_MS } }),
        aRound({ n: 3, ending: { kind, atMs: NOW_MS, ...more } }),
      ],
    }));
    expect({ state, text }).toEqual({ state: 'ended', text: saying });
  });

  test('waits while the instruction waits, is on its way, unclear, or at work', async () => {
    const { ask, instruction } = await told((id) => ({ instructions: [one({ id, state: 'waiting' })] }));
    for (const state of ['sending', 'unknown', 'working'] as const) {
      await becomes(aThread().id, () => ({ instructions: [one({ id: instruction, state })] }));
      await step(ask.id);
      expect(await line(ask.id)).toBe('The docs agent was asked about /guides/sso.\nAsked by Ana');
    }
    await becomes(aThread().id, () => ({
      instructions: [one({ id: instruction, state: 'working', round: 1 })],
      rounds: [aRound()],
    }));
    await step(ask.id);
    expect(await stored(ask.id)).toMatchObject({ state: 'open', round: 1 });
    // The thread drops what it needs no more.
    await becomes(aThread().id, () => ({
      instructions: [],
      rounds: [aRound({ ending: { kind: 'noPr', atMs: NOW_MS } })],
    }));
    await step(ask.id);
    expect(await stored(ask.id)).toMatchObject({ state: 'ended', ending: { kind: 'noPr' } });
  });

  test('of what failed says so, until somebody sends it again', async () => {
    const failed = (id: string) => one({ id, state: 'failed', outcome: 'notSent' });
    const { ask, instruction, state, text } = await told((id) => ({ instructions: [failed(id)] }));
    expect({ state, text }).toEqual({ state: 'open', text: NOT_SENT });
    await becomes(aThread().id, () => ({
      instructions: [one({ id: instruction, state: 'working', attempt: 2, round: 1 })],
      rounds: [aRound()],
    }));
    await step(ask.id);
    expect(await line(ask.id)).toBe('The docs agent was asked about /guides/sso.\nAsked by Ana');
  });

  test.each<[string, object, Partial<ThreadRun>, string]>([
    ['discarded', { state: 'over', outcome: 'discarded' }, {}, NOT_SENT],
    ['left at that', { state: 'over', outcome: 'left' }, {}, UNCLEAR],
    [
      'not known when it was stopped',
      { state: 'unknown' },
      { state: 'ended', ended: { why: 'stopped', unsent: 0 } },
      UNCLEAR,
    ],
    [
      'at work when it was stopped',
      { state: 'working', round: 1 },
      { state: 'ended', ended: { why: 'stopped', unsent: 0 }, rounds: [aRound()] },
      "The job about /guides/sso is no longer followed, so I don't know its result.",
    ],
  ])('of what was %s says so', async (_, instruction, changes, saying) => {
    const { state, text } = await told((id) => ({
      instructions: [one({ id, ...instruction })],
      ...changes,
    }));
    expect({ state, text }).toEqual({ state: 'ended', text: saying });
  });

  test('of what it did not take says that it was not sent', async () => {
    expect(await told(() => ({}))).toMatchObject({ state: 'ended', text: NOT_SENT });
  });

  test('that is gone follows no job', async () => {
    const ask = await accept(anAskFor({ thread: 'nobody' }));
    await step(ask.id);
    expect(await line(ask.id)).toMatch(/is no longer followed/);
    expect(await stored(ask.id)).toMatchObject({ state: 'ended' });
  });

  test('is watched no longer than anything is, plus what a limit holds it, and says so', async () => {
    const untilMs = NOW_MS + 3_600_000;
    const limit = { n: 1, kind: 'ours' as const, perHour: 100, sinceMs: NOW_MS, untilMs, refusals: 0 };
    const { ask } = await told((id) => ({ instructions: [one({ id })], limit }));
    nowMs = untilMs + defaultTiming.watchMs;
    await step(ask.id);
    expect(await stored(ask.id)).toMatchObject({ state: 'open' });
    nowMs += 120_000;
    await step(ask.id);
    expect(await line(ask.id)).toMatch(/^I stopped watching \/guides\/sso; the agent may still finish\.\n/);
    expect(await stored(ask.id)).toMatchObject({ state: 'ended' });
  });

  test('is polled with growing pauses, of half a minute at most', async () => {
    const { ask } = await told((id) => ({ instructions: [one({ id })] }));
    const pauses: number[] = [];
    for (const laterMs of [2000, 10_000, 3_600_000]) {
      nowMs = NOW_MS + laterMs;
      const outcome = await step(ask.id);
      pauses.push(outcome.kind === 'again' ? outcome.inMs : 0);
    }
    expect(pauses).toEqual([2000, 10_000, 30_000]);
  });
});

test('after a defect of ours it ends, and says what is known', async () => {
  const ask = await accept(anAskFor(newJob));
  await askJob.giveUp?.({ runId: ask.id }, contextWith(), '7f3c');
  expect(await stored(ask.id)).toMatchObject({ state: 'ended', ending: { kind: 'unknown' } });
  expect(await line(ask.id)).toMatch(
    /^The instruction about \/guides\/sso may not have reached the agent\.\n/,
  );
});

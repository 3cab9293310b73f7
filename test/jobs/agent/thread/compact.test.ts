import { describe, expect, test } from 'vitest';
import {
  compactIdle,
  endUnusedLimit,
  markFinal,
  withoutFinal,
} from '../../../../src/jobs/agent/thread/compact.ts';
import type { Instruction } from '../../../../src/jobs/agent/thread/instruction.ts';
import { keys } from '../../../../src/store/keys.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import {
  ana,
  applyEvents,
  ben,
  clicks,
  edited,
  ephemeralsOf,
  ts,
  wrote,
} from '../../../support/jobs/agent/events.ts';
import { createAgentWorld } from '../../../support/jobs/agent/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const over = (many: number, changes: Partial<Instruction> = {}) =>
  Array.from({ length: many }, (_, index) =>
    anInstruction({ id: ts(-1000 + index), state: 'over', outcome: 'sent', text: '', round: 1, ...changes }),
  );
const ending = { kind: 'noPr' as const, atMs: NOW_MS };
const failed = { kind: 'failed' as const, atMs: NOW_MS };

test('of what is over, the latest are known: whoever edits one is told that it was sent', () => {
  const thread = compactIdle(aThread({ instructions: over(30) }), NOW_MS);
  expect(thread.instructions.map(({ id }) => id)).toEqual([ts(-975), ts(-974), ts(-973), ts(-972), ts(-971)]);
  expect(ephemeralsOf(applyEvents(thread, [edited(ana, -971, 'Other words')]))).toEqual(['ana: edited']);
  expect(compactIdle(thread, NOW_MS)).toBe(thread);
});

describe('stays as it is', () => {
  test.each<[string, Parameters<typeof aThread>[0]]>([
    ['while something waits', { instructions: [...over(30), anInstruction()] }],
    [
      'while it is not clear what was sent',
      { instructions: [...over(30), anInstruction({ state: 'unknown' })] },
    ],
    ['while the agent works', { instructions: over(30), rounds: [aRound()] }],
  ])('%s', (_, changes) => {
    const thread = aThread(changes);
    expect(compactIdle(thread, NOW_MS)).toBe(thread);
  });
});

test('what failed can still be sent again: one that did not arrive, and a round', () => {
  const one = anInstruction({ id: ts(1), state: 'failed', outcome: 'notSent' });
  expect(compactIdle(aThread({ instructions: [...over(30), one] }), NOW_MS).instructions.at(-1)).toEqual(one);
  const last = anInstruction({ state: 'over', outcome: 'sent', round: 1 });
  const rounds = [aRound({ ending: failed }), aRound({ n: 2, count: 0, last: undefined, ending })];
  const thread = compactIdle(aThread({ instructions: [last, ...over(30)], rounds }), NOW_MS);
  const again = applyEvents(thread, [clicks(ben, 'sendAgain', ['round', '1'])]);
  expect(again.instructions.at(-1)).toMatchObject({ state: 'waiting', text: last.text });
});

test('edits that came before their message, and questions, are forgotten when they are old', () => {
  const early = [
    { ts: ts(-700), deleted: true },
    { ts: ts(-10), deleted: true },
  ];
  const askedAtMs = { [ana.id]: NOW_MS - 700_000, [ben.id]: NOW_MS - 10_000 };
  const thread = compactIdle(aThread({ early, askedAtMs }), NOW_MS);
  expect(thread.early).toEqual([{ ts: ts(-10), deleted: true }]);
  expect(thread.askedAtMs).toEqual({ [ben.id]: NOW_MS - 10_000 });
});

describe('a thread that has become idle', () => {
  const redis = redisForTests();

  test('is a small record, whatever went through it', async () => {
    const world = createAgentWorld(redis);
    await world.follows({ mode: 'all' });
    const jobs = { status: 'active' as const, rawStatus: 'active' };
    world.docs.getAgentJob = async ({ jobId }) => ({ id: jobId, ...jobs });
    for (let index = 1; index <= 40; index += 1)
      await world.receives(
        wrote(index % 2 ? ana : ben, index, `Instruction ${index}: ${'word '.repeat(1000)}`),
      );
    await world.step();
    world.docs.getAgentJob = async ({ jobId }) => ({
      id: jobId,
      status: 'completed',
      rawStatus: 'completed',
      prLink: 'https://github.com/acme/docs/pull/1',
    });
    world.clock.ms += 300_000;
    await world.stepWatch(5);
    await world.step();
    const thread = await world.thread();
    expect(world.prompts).toHaveLength(40);
    expect(thread.rounds).toMatchObject([{ told: true, ending: { kind: 'newPr' } }]);
    expect(await redis.client.hstrlen(keys.run(world.id), 'json')).toBeLessThan(2500);
  });
});

const limit = { n: 1, kind: 'ours' as const, perHour: 100, sinceMs: 1, untilMs: 2, refusals: 0 };
const retry = { sinceMs: 1, inARow: 1, nextMs: 2 };
const answer = { by: { id: 'U0ANA', name: 'ana' }, action: 'leave' as const, atMs: NOW_MS };

test('a thread with nothing final stays the very same', () => {
  const thread = aThread({ rounds: [aRound()], troubles: [aTrouble()], limit, retry });
  expect(markFinal(thread)).toBe(thread);
  expect(withoutFinal(thread)).toEqual(thread);
});

test('a round that has ended is shown once, and stays known for its button', () => {
  const thread = aThread({ rounds: [aRound({ ending }), aRound({ n: 2 })] });
  expect(withoutFinal(thread).rounds).toHaveLength(2);
  const after = markFinal(thread);
  expect(after.rounds).toHaveLength(2);
  expect(withoutFinal(after).rounds).toMatchObject([{ n: 2 }]);
  expect(markFinal(after)).toBe(after);
});

test('of the rounds that ended, the latest are known', () => {
  const rounds = [1, 2, 3, 4, 5].map((n) => aRound({ n, ending }));
  expect(markFinal(aThread({ rounds })).rounds.map(({ n }) => n)).toEqual([3, 4, 5]);
});

test('a question is shown until it is answered, and its answer once', () => {
  const asked = aThread({ troubles: [aTrouble()] });
  expect(withoutFinal(markFinal(asked)).troubles).toHaveLength(1);
  const answered = aThread({ troubles: [aTrouble({ answer })] });
  expect(withoutFinal(answered).troubles).toHaveLength(1);
  expect(markFinal(answered).troubles).toEqual([]);
});

test('a failure is shown once, and once more with its answer', () => {
  const failed = anInstruction({ state: 'failed', outcome: 'notSent' });
  const after = markFinal(aThread({ troubles: [aTrouble({ why: 'down' })], instructions: [failed] }));
  expect(withoutFinal(after).troubles).toEqual([]);
  expect(after.instructions).toEqual([failed]);
  const again = { ...after, troubles: after.troubles.map((one) => ({ ...one, answer })) };
  expect(withoutFinal(again).troubles).toHaveLength(1);
});

test('what failed and nobody can send again any more is over', () => {
  const failed = anInstruction({ state: 'failed', outcome: 'notSent' });
  expect(markFinal(aThread({ instructions: [failed] })).instructions).toMatchObject([{ state: 'over' }]);
});

test('a limit that keeps nothing any more is told to be over, then forgotten', () => {
  const kept = aThread({ limit, retry, instructions: [anInstruction()] });
  expect(endUnusedLimit(kept)).toBe(kept);
  const none = endUnusedLimit(aThread({ limit, retry }));
  expect(none).toMatchObject({ limit: { over: true }, retry: { over: true } });
  expect(endUnusedLimit(none)).toBe(none);
  expect(markFinal(none)).toMatchObject({ limit: undefined, retry: undefined });
});

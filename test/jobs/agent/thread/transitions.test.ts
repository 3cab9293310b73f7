import { describe, expect, test } from 'vitest';
import type { Instruction } from '../../../../src/jobs/agent/thread/instruction.ts';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import {
  applySendResult,
  endIfNotCreated,
  keepIfSame,
  type SendResult,
} from '../../../../src/jobs/agent/thread/transitions.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';

const sendingOne = (changes: Partial<ThreadRun> = {}) =>
  aThread({
    instructions: [
      anInstruction({ id: '1', state: 'sending', sentAtMs: NOW_MS - 5 }),
      anInstruction({ id: '2' }),
    ],
    retry: { sinceMs: 1, inARow: 2, nextMs: 3 },
    ...changes,
  });
const first = { id: '1', attempt: 1 };
const taken: SendResult = { kind: 'taken', job: { id: 'aj_9', status: 'active', rawStatus: 'active' } };
const states = ({ instructions }: ThreadRun) => instructions.map(({ state }) => state);

test.each<[string, object, object, boolean]>([
  ['a field that is undefined', { a: 1 }, { a: 1, b: undefined }, true],
  ['copies', { a: [{ b: [1, 'x', null] }] }, { a: [{ b: [1, 'x', null] }] }, true],
  ['another value', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false],
  ['one element more', { a: [1] }, { a: [1, 2] }, false],
  ['a list and an object', { a: ['x'] }, { a: { 0: 'x' } }, false],
  ['null and an object', { a: null }, { a: {} }, false],
])('a record with %s', (_, before, after, isKept) => {
  expect(keepIfSame(before, after)).toBe(isKept ? before : after);
  expect(keepIfSame(after, before)).toBe(isKept ? after : before);
});

test('taken: the agent works on it', () => {
  const after = applySendResult(sendingOne(), first, taken, NOW_MS);
  expect(states(after)).toEqual(['working', 'waiting']);
  expect(after.retry).toMatchObject({ over: true });
  expect(after.agentJobId).toBe('aj_3f9a77bd04c24a06');
});

test('taken: what made the job tells which one it is', () => {
  const after = applySendResult(sendingOne({ agentJobId: undefined }), first, taken, NOW_MS);
  expect(after.agentJobId).toBe('aj_9');
});

test('unknown: a question, once', () => {
  const after = applySendResult(sendingOne(), first, { kind: 'unknown' }, NOW_MS);
  expect(states(after)).toEqual(['unknown', 'waiting']);
  expect(after.troubles).toMatchObject([{ id: '1', attempt: 1, why: 'unknown' }]);
  expect(applySendResult(after, first, { kind: 'unknown' }, NOW_MS)).toBe(after);
});

test.each<[string, SendResult, string, object]>([
  ['taken', taken, 'working', { why: 'unknown', answer: { action: 'late' } }],
  ['not sent', { kind: 'notSent', trouble: { why: 'refused' } }, 'failed', { why: 'refused' }],
  ['later', { kind: 'later' }, 'waiting', { why: 'unknown', answer: { action: 'lateNot' } }],
])('a late answer, %s, settles the question', (_, result, state, told) => {
  const asked = applySendResult(sendingOne(), first, { kind: 'unknown' }, NOW_MS);
  const after = applySendResult(asked, first, result, NOW_MS + 1);
  expect(states(after)[0]).toBe(state);
  expect(after.troubles).toMatchObject([told]);
});

test('once the platform takes one, its refusals count from zero', () => {
  const limit = { n: 1, kind: 'platform' as const, perHour: 100, sinceMs: 1, untilMs: 2, refusals: 3 };
  expect(applySendResult(sendingOne({ limit }), first, taken, NOW_MS).limit?.refusals).toBe(0);
});

test('a late answer to an attempt that a person has answered for changes nothing', () => {
  const again = aThread({
    instructions: [anInstruction({ id: '1', attempt: 2, state: 'sending' })],
    troubles: [aTrouble({ id: '1', attempt: 1 })],
  });
  expect(applySendResult(again, first, taken, NOW_MS)).toBe(again);
  const leftAlone = aThread({ instructions: [anInstruction({ id: '1', state: 'over', outcome: 'left' })] });
  expect(applySendResult(leftAlone, first, taken, NOW_MS)).toBe(leftAlone);
});

test('not sent: people are told why, with the words of the platform', () => {
  const result: SendResult = { kind: 'notSent', trouble: { why: 'refused', reason: 'No such page' } };
  const after = applySendResult(sendingOne(), first, result, NOW_MS);
  expect(after.instructions[0]).toMatchObject({ state: 'failed', outcome: 'notSent' });
  expect(after.troubles).toMatchObject([{ why: 'refused', reason: 'No such page', by: { id: 'U0ANA' } }]);
});

test('later: it waits again, for as long as was said', () => {
  const retry = { sinceMs: 1, inARow: 3, nextMs: 9 };
  const after = applySendResult(sendingOne(), first, { kind: 'later', retry }, NOW_MS);
  expect(states(after)).toEqual(['waiting', 'waiting']);
  expect(after.retry).toEqual(retry);
  expect(after.instructions[0]?.sentAtMs).toBeUndefined();
});

/** A thread whose job is to be made by its first instruction; one more waits. */
function unmade(first: Partial<Instruction>, changes: Partial<ThreadRun> = {}): ThreadRun {
  const { agentJobId: _, ...thread } = aThread({ watched: false });
  const making = anInstruction({ id: 'first', creates: true, ...first });
  return { ...thread, instructions: [making, anInstruction({ id: 'second' })], ...changes };
}

describe('a thread whose job is not made', () => {
  test.each<[string, ThreadRun]>([
    ['while it waits', unmade({ state: 'waiting' })],
    ['while it is on its way', unmade({ state: 'sending' })],
    ['while nobody knows', unmade({ state: 'unknown' })],
    [
      'where it can be sent again',
      unmade({ state: 'failed' }, { troubles: [aTrouble({ id: 'first', why: 'down' })] }),
    ],
    ['once the job is there', { ...unmade({ state: 'over' }), agentJobId: 'aj_1' }],
  ])('goes on %s', (_, thread) => {
    expect(endIfNotCreated(thread)).toBe(thread);
  });

  test.each<[string, ThreadRun]>([
    ['left at that', unmade({ state: 'over', outcome: 'left' })],
    ['withdrawn', unmade({ state: 'over', outcome: 'withdrawn' })],
    [
      'of no use on this platform',
      unmade(
        { state: 'failed' },
        { troubles: [aTrouble({ id: 'first', why: 'unsupported', creates: true })] },
      ),
    ],
  ])('ends when it is %s, with what waits for it', (_, thread) => {
    const ended = endIfNotCreated(thread);
    expect(ended).toMatchObject({ state: 'ended', lasting: false, ended: { why: 'notMade', unsent: 1 } });
    expect(ended.instructions[1]).toMatchObject({ state: 'over', outcome: 'discarded' });
    expect(ended.instructions[0]).toBe(thread.instructions[0]);
  });
});

import { expect, test } from 'vitest';
import { joinWatch, syncThread, withSend } from '../../../../src/jobs/agent/thread/sync.ts';
import type { WatchRun } from '../../../../src/jobs/agent/watch/record.ts';
import { newWatch } from '../../../../src/jobs/agent/watch/transitions.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';

const aWatch = (changes: Partial<WatchRun> = {}): WatchRun => ({
  ...newWatch('T0ACME', 'default', 'aj_3f9a77bd04c24a06', NOW_MS),
  lookWanted: false,
  seen: aThread().seen,
  ...changes,
});
const aWatchRound = (n: number, found = false) => ({
  n,
  sinceMs: NOW_MS,
  sentAtMs: NOW_MS,
  active: true,
  found,
});
const ended = (n: number) => ({ n, kind: 'noPr' as const, atMs: NOW_MS });

test('a thread that knows everything stays the very same', () => {
  const thread = aThread();
  expect(syncThread(thread, aWatch())).toBe(thread);
});

test('what ended before a thread joined is no news to it', () => {
  const watch = aWatch({ rounds: 3, endings: [ended(1), ended(2), ended(3)] });
  const thread = syncThread(joinWatch(aThread({ watched: false }), watch), watch);
  expect(thread).toMatchObject({ watched: true, knownRound: 3, rounds: [] });
});

test('a round that is open when a thread joins is told to it with its end', () => {
  const open = aWatch({ rounds: 2, round: aWatchRound(2), endings: [ended(1)] });
  const thread = syncThread(joinWatch(aThread({ watched: false }), open), open);
  expect(thread.rounds).toMatchObject([{ n: 2, count: 0, authors: [] }]);
  const over = aWatch({ rounds: 2, endings: [ended(1), ended(2)] });
  expect(syncThread(thread, over).rounds).toMatchObject([{ n: 2, ending: { kind: 'noPr' } }]);
});

test('whoever followed a job that was at work is told of its end', () => {
  const watch = aWatch({ rounds: 1, round: aWatchRound(1, true) });
  expect(syncThread(aThread(), watch).rounds).toMatchObject([{ authors: [{ id: 'U0ANA' }] }]);
});

test('what was given up and is watched again is told to those whose instructions it was', () => {
  const ben = { id: 'U0BEN', name: 'ben' };
  const givenUp = aRound({ authors: [ben], ending: { kind: 'gaveUp', afterMs: 5, atMs: NOW_MS } });
  const watch = aWatch({ rounds: 2, round: aWatchRound(2, true) });
  const thread = syncThread(aThread({ rounds: [givenUp], knownRound: 1 }), watch);
  expect(thread.rounds[1]).toMatchObject({ n: 2, authors: [ben], found: true });
});

test('a send counts in its round, once for each, with its author', () => {
  const ben = { id: 'U0BEN', name: 'ben' };
  const sent = [
    anInstruction({ id: '1', state: 'working' }),
    anInstruction({ id: '2', state: 'working', by: ben }),
  ];
  const thread = withSend(withSend(aThread({ instructions: sent }), '1', 4, NOW_MS), '2', 4, NOW_MS);
  expect(thread.rounds).toMatchObject([
    { n: 4, count: 2, last: { id: '2' }, authors: [{ id: 'U0ANA' }, { id: 'U0BEN' }] },
  ]);
  expect(thread.instructions.map(({ round }) => round)).toEqual([4, 4]);
});

test('the end of a round is the end of its instructions, and of no others', () => {
  const instructions = [
    anInstruction({ id: '1', state: 'working', round: 1 }),
    anInstruction({ id: '2', state: 'working', round: 2 }),
    anInstruction({ id: '3', state: 'working' }),
    anInstruction({ id: '4' }),
  ];
  const watch = aWatch({ rounds: 2, round: aWatchRound(2), endings: [ended(1)] });
  const thread = syncThread(aThread({ instructions, rounds: [aRound()] }), watch);
  expect(thread.instructions.map(({ state }) => state)).toEqual(['over', 'working', 'working', 'waiting']);
  expect(thread.instructions[0]).toMatchObject({ outcome: 'sent' });
  expect(thread.rounds).toMatchObject([{ n: 1, ending: { kind: 'noPr' } }, { n: 2 }]);
  expect(syncThread(thread, watch)).toBe(thread);
});

test.each([
  ['down', 1, undefined],
  ['down', 3, 'down'],
  ['lost', 3, undefined],
  ['key', 1, 'key'],
  ['limit', 1, 'limit'],
] as const)('trouble %s, the %ith in a row, is told as %s', (kind, inARow, told) => {
  const watch = aWatch({ trouble: { kind, inARow, sinceMs: NOW_MS, nextMs: NOW_MS } });
  expect(syncThread(aThread(), watch).lookTrouble).toBe(told);
});

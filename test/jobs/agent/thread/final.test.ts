import { expect, test } from 'vitest';
import { endUnusedLimit, markFinal, withoutFinal } from '../../../../src/jobs/agent/thread/compact.ts';
import { anInstruction, aRound, aThread, aTrouble, NOW_MS } from '../../../support/jobs/agent/any-thread.ts';

const ending = { kind: 'noPr' as const, atMs: NOW_MS };
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

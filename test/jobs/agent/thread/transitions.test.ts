import { expect, test } from 'vitest';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { applySendResult, type SendResult } from '../../../../src/jobs/agent/thread/transitions.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import { ana, applyEvents, deleted, wrote } from '../../../support/jobs/agent/events.ts';

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

test('a late answer leaves the question to its author', () => {
  const asked = applySendResult(
    sendingOne(),
    first,
    { kind: 'problem', problem: { why: 'unknown' } },
    NOW_MS,
  );
  expect(applySendResult(asked, first, taken, NOW_MS + 1)).toBe(asked);
});

test('a late answer to an attempt that a person has answered for changes nothing', () => {
  const again = aThread({
    instructions: [anInstruction({ id: '1', attempt: 2, state: 'sending' })],
    sendProblems: [aTrouble({ id: '1', attempt: 1 })],
  });
  expect(applySendResult(again, first, taken, NOW_MS)).toBe(again);
  const leftAlone = aThread({ instructions: [anInstruction({ id: '1', state: 'left' })] });
  expect(applySendResult(leftAlone, first, taken, NOW_MS)).toBe(leftAlone);
});

test('a round that names an earlier pull request again has the same one, also after a round without any', () => {
  const [link, atMs] = ['https://github.com/acme/docs/pull/5', NOW_MS];
  const thread = sendingOne({
    seen: { status: 'completed', rawStatus: 'completed', atMs },
    rounds: [
      aRound({ n: 1, ending: { kind: 'newPr', prLink: link, atMs } }),
      aRound({ n: 2, prBefore: link, ending: { kind: 'noPr', atMs } }),
    ],
  });
  const sent = applySendResult(thread, first, taken, atMs);
  expect(sent.rounds.at(-1)).toMatchObject({ n: 3, prBefore: link });
});

test('a reply that was deleted before Slack delivered it is no instruction', () => {
  const thread = applyEvents(aThread(), [
    deleted(3),
    wrote(ana, 3, 'my password is 123'),
    wrote(ana, 4, 'go on'),
  ]);
  expect(thread.instructions.map(({ text }) => text)).toEqual(['go on']);
});

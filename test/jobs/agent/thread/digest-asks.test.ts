import { describe, expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../../demo/slack/block-kit/check.ts';
import { isAskFinal } from '../../../../src/jobs/agent/thread/instructions.ts';
import type { DigestOrigin, Instruction, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { compact, MAX_FINISHED, markFinal } from '../../../../src/jobs/agent/thread/retain.ts';
import { applyPoll } from '../../../../src/jobs/agent/thread/rounds.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';
import { anAsk, hostileSubjects } from '../../../support/jobs/digest/builders.ts';

const asked = (
  changes: Partial<ThreadRun> = {},
  one: Partial<Instruction> = {},
  origin: Partial<DigestOrigin> = {},
) => aThread({ instructions: [anAsk(one, origin)], ...changes });
const lines = (thread: ThreadRun) =>
  threadMessages(thread, 'https://acme.example/').filter(({ key }) => key.includes('.ask.'));

test('is not linked where readers of the digest may not go', () => {
  const conversation = { channel: 'C0OPS', joinable: true, isPublic: false };
  const hidden = asked({ asked: conversation, place: { channel: 'C0OPS', rootTs: '1.1' } });
  for (const thread of [hidden, asked({ inDirectMessage: true })])
    expect(JSON.stringify(lines(thread))).not.toContain('Open thread');
});

test.each<[string, Instruction['state'], Partial<ThreadRun>, boolean]>([
  ['not while it waits', 'waiting', {}, false],
  ['not while it may still be sent', 'failed', {}, false],
  ['when its thread ends before that', 'failed', { state: 'ended' }, true],
  ['when the thread refused it', 'notSent', {}, true],
  ['not in its call', 'sending', { state: 'ended' }, false],
  ['when its thread ends at work', 'working', { state: 'ended' }, true],
  ['when nobody knows', 'left', {}, true],
])('becomes final %s', (_, state, changes, isFinal) => {
  const thread = asked(changes, { state });
  expect(isAskFinal(thread, anAsk({ state }))).toBe(isFinal);
  expect(markFinal(thread).instructions[0]?.origin?.final ?? false).toBe(isFinal);
});

test('keeps the ending of its round, and stays until its line is final', () => {
  const others = Array.from({ length: MAX_FINISHED }, (_, n) => anInstruction({ id: `${n}`, state: 'sent' }));
  const working = asked({ rounds: [aRound()] }, { state: 'working', round: 1 });
  const completed = { id: 'aj', status: 'completed' as const, rawStatus: 'completed' };
  const { instructions } = applyPoll(working, completed, NOW_MS, 0);
  const kept = compact(asked({ instructions: [...instructions, ...others] }));
  expect(kept.instructions).toHaveLength(MAX_FINISHED + 1);
  expect(lines(kept)[0]?.message.text).toContain('No pull request · /guides/sso');
});

describe.each(hostileSubjects)('%s', (_, text) => {
  test('mentions nobody and breaks nothing, as a subject, a name and a pull request', () => {
    const by = { id: 'U0ANA', name: text };
    const [line] = lines(
      asked({}, { by, state: 'sent', ending: { kind: 'newPr', prLink: text, atMs: NOW_MS } }),
    );
    expect(line?.message.text).not.toMatch(/<[!@#]/);
    expect(line?.message.text.length).toBeLessThan(1000);
    expect(JSON.stringify(line?.message.blocks)).not.toMatch(/"type":"(?:user|broadcast|channel|link)"/);
    expect(() => checkMessageBlocks(line?.message.blocks ?? [], (prefix) => prefix)).not.toThrow();
  });
});

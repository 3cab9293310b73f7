import { describe, expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../../demo/slack/block-kit/check.ts';
import { digestAskMessages } from '../../../../src/jobs/agent/thread/digest-ask-view.ts';
import type { DigestAsk, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { compact, markFinal } from '../../../../src/jobs/agent/thread/transitions.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';
import { anAsk, hostileSubjects } from '../../../support/jobs/digest/builders.ts';

const waiting = anInstruction({ id: 'i1', isReply: false });
const asked = (changes: Partial<ThreadRun> = {}, ask: Partial<DigestAsk> = {}) =>
  aThread({ instructions: [waiting], digestAsks: [anAsk(ask)], ...changes });
const lines = (thread: ThreadRun) => digestAskMessages(thread, 'https://acme.example/');

test('one line under the digest, with the way to the thread', () => {
  const [line, ...others] = lines(asked());
  expect(others).toEqual([]);
  expect(line).toMatchObject({ place: { under: `${anAsk().digest}.digest` }, kind: 'state' });
  expect(line?.message.text).toBe('The docs agent was asked about /guides/sso.\nAsked by Ana');
  expect(JSON.stringify(line?.message.blocks)).toContain('"text":"Open thread"');
});

test('is not linked where readers of the digest may not go', () => {
  const conversation = { channel: 'C0OPS', joinable: true, isPublic: false };
  const hidden = asked({ asked: conversation, place: { channel: 'C0OPS', rootTs: '1.1' } });
  for (const thread of [hidden, asked({ inDirectMessage: true })])
    expect(JSON.stringify(lines(thread))).not.toContain('Open thread');
});

test('nothing before its thread has a card', () => {
  expect(lines(asked({ state: 'postingCard', place: undefined }))).toEqual([]);
});

const noPr = { kind: 'noPr' as const, atMs: NOW_MS };

describe('becomes final', () => {
  test.each<[string, Partial<ThreadRun>, string | undefined]>([
    ['not while it waits', {}, undefined],
    ['not while it may still be sent', { instructions: [{ ...waiting, state: 'failed' }] }, undefined],
    ['when the thread refused it', { instructions: [] }, 'notSent'],
    ['when it ends before it is sent', { state: 'ended' }, 'notSent'],
    ['not in its call', { state: 'ended', instructions: [{ ...waiting, state: 'sending' }] }, undefined],
    ['when it ends at work', { state: 'ended', instructions: [{ ...waiting, state: 'working' }] }, 'stopped'],
    ['when nobody knows', { instructions: [{ ...waiting, state: 'over', outcome: 'left' }] }, 'unknown'],
    [
      'with its round',
      { instructions: [{ ...waiting, round: 1 }], rounds: [aRound({ ending: noPr })] },
      'noPr',
    ],
  ])('%s', (_, changes, kind) => {
    expect(compact(asked(changes)).digestAsks[0]?.ending?.kind).toBe(kind);
  });

  test('and is published in this form before its line is final', () => {
    const ended = markFinal(asked({ instructions: [] }));
    expect(ended.digestAsks[0]).toMatchObject({ ending: { kind: 'notSent' } });
    expect(ended.digestAsks[0]?.final).toBeUndefined();
    expect(markFinal(ended).digestAsks[0]?.final).toBe(true);
  });

  test('after its instruction and its round were dropped', () => {
    const sent = compact(
      asked({ instructions: [{ ...waiting, round: 1, state: 'working' }], rounds: [aRound()] }),
    );
    const dropped = { ...sent, instructions: [], rounds: [aRound({ ending: noPr })] };
    expect(compact(dropped).digestAsks[0]?.ending).toEqual(noPr);
  });
});

describe.each(hostileSubjects)('%s', (_, text) => {
  test('mentions nobody and breaks nothing, as a subject, a name and a pull request', () => {
    const by = { id: 'U0ANA', name: text };
    const [line] = lines(asked({}, { by, ending: { ...noPr, kind: 'newPr', prText: text } }));
    expect(line?.message.text).not.toMatch(/<[!@#]/);
    expect(line?.message.text.length).toBeLessThan(1000);
    expect(JSON.stringify(line?.message.blocks)).not.toMatch(/"type":"(?:user|broadcast|channel|link)"/);
    expect(() => checkMessageBlocks(line?.message.blocks ?? [], (prefix) => prefix)).not.toThrow();
  });
});

import { describe, expect, test } from 'vitest';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';
import {
  ana,
  applyEvents,
  ben,
  deleted,
  edited,
  ephemeralsOf,
  outcomesOf,
  ts,
  wrote,
} from '../../../support/jobs/agent/events.ts';

describe('an edit', () => {
  test.each([
    ['waiting', aThread()],
    ['held', aThread({ crowd: true })],
  ])('of a %s reply is what goes out', (state, before) => {
    const thread = applyEvents(before, [wrote(ana, 1, 'one'), edited(ana, 1, '*two*')]);
    expect(thread.instructions).toMatchObject([{ id: ts(1), state, text: '**two**', excerpt: 'two' }]);
  });

  test('that adds the mention of Docket answers the question for this reply', () => {
    const thread = applyEvents(aThread({ crowd: true }), [
      wrote(ana, 1, 'one'),
      wrote(ana, 2, 'two'),
      edited(ana, 1, '<@U0DOCKET> one'),
    ]);
    expect(outcomesOf(thread)).toEqual(['waiting: one', 'held: two']);
    expect(thread.answers).toEqual({});
  });

  test.each(['aside one', '', '<@U0DOCKET>'])('to %j withdraws it', (text) => {
    const thread = applyEvents(aThread(), [wrote(ana, 1, 'one'), edited(ana, 1, text)]);
    expect(outcomesOf(thread)).toEqual(['withdrawn: one']);
    expect(applyEvents(thread, [edited(ana, 1, 'one')])).toBe(thread);
  });

  test('of one that was not sent is what goes out when it is sent again', () => {
    const failed = anInstruction({ id: ts(1), state: 'failed', outcome: 'notSent' });
    const thread = applyEvents(aThread({ instructions: [failed] }), [edited(ana, 1, 'two')]);
    expect(thread.instructions).toMatchObject([{ state: 'failed', text: 'two', excerpt: 'two' }]);
    expect(ephemeralsOf(thread)).toEqual([]);
  });

  test.each(['sending', 'unknown', 'working', 'sent'] as const)('comes too late when %s', (state) => {
    const one = state === 'sent' ? ({ state: 'over', outcome: 'sent' } as const) : { state };
    const thread = applyEvents(aThread({ instructions: [anInstruction({ id: ts(1), ...one })] }), [
      edited(ana, 1, 'two'),
    ]);
    expect(thread.instructions).toMatchObject([{ ...one, excerpt: anInstruction().excerpt }]);
    expect(ephemeralsOf(thread)).toEqual(['ana: edited']);
  });

  test('that comes too late is told of once', () => {
    const thread = aThread({ instructions: [anInstruction({ id: ts(1), state: 'working' })] });
    const late = applyEvents(thread, [edited(ana, 1, 'two'), edited(ana, 1, 'three')]);
    expect(ephemeralsOf(late)).toEqual(['ana: edited']);
  });

  test.each(['notForAgent', 'discarded', 'withdrawn', 'left', 'notSent'] as const)(
    'is ignored when %s',
    (outcome) => {
      const one = anInstruction({ id: ts(1), state: 'over', outcome, text: '' });
      const thread = aThread({ instructions: [one] });
      expect(applyEvents(thread, [edited(ana, 1, 'two'), deleted(1)])).toBe(thread);
    },
  );

  test('that comes before its message is what counts', () => {
    const thread = applyEvents(aThread({ crowd: true }), [
      edited(ben, 1, 'two'),
      edited(ben, 1, 'ask <@U0ANA>'),
      wrote(ben, 1, '<@U0DOCKET> one'),
    ]);
    expect(outcomesOf(thread)).toEqual(['held: ask @ana']);
  });

  test('that mentions Docket only now in what was talk is not taken, and its author is told', () => {
    const talk = applyEvents(aThread({ mode: 'mention' }), [wrote(ben, 1, 'Fix the title')]);
    const thread = applyEvents(talk, [edited(ben, 1, '<@U0DOCKET> Fix the title')]);
    expect(outcomesOf(thread)).toEqual([]);
    expect(thread.notes).toEqual([{ id: `lateMention ${ts(1)}`, to: 'U0BEN', kind: 'lateMention' }]);
    expect(thread.early).toEqual([]);
  });

  test.each<[string, string, string[], Partial<ThreadRun>?]>([
    ['of somebody who may not', '<@U0DOCKET> Fix the title', ['U0BEN']],
    ['to an aside', '<@U0DOCKET> aside lunch', []],
    ['to the mention alone', '<@U0DOCKET>', []],
    ['in a thread that has ended', '<@U0DOCKET> Fix the title', [], { state: 'ended' }],
  ])('%s that adds a mention is nothing', (_, text, mayNot, changes = {}) => {
    const thread = aThread(changes);
    expect(applyEvents(thread, [edited(ben, 1, text)], { mayNot })).toBe(thread);
  });
});

describe('a deletion', () => {
  test.each([
    ['waiting', aThread()],
    ['held', aThread({ crowd: true })],
  ])('of a %s reply withdraws it', (_, before) => {
    const thread = applyEvents(before, [wrote(ana, 1, 'one'), deleted(1)]);
    expect(outcomesOf(thread)).toEqual(['withdrawn: one']);
    expect(thread.instructions[0]?.text).toBe('');
  });

  test.each(['sending', 'unknown', 'working', 'failed'] as const)('comes too late when %s', (state) => {
    const thread = aThread({ instructions: [anInstruction({ id: ts(1), state })] });
    expect(applyEvents(thread, [deleted(1)])).toBe(thread);
  });

  test('that comes before its message keeps it from going out, whatever edit comes late', () => {
    const thread = applyEvents(aThread(), [
      deleted(1),
      edited(ben, 1, 'two'),
      wrote(ben, 1, '<@U0DOCKET> one'),
    ]);
    expect(outcomesOf(thread)).toEqual([]);
    expect(thread).toMatchObject({ crowd: true, notes: [] });
  });

  test('of messages that never came is forgotten after twenty', () => {
    const many = Array.from({ length: 21 }, (_, index) => deleted(index));
    expect(applyEvents(aThread(), many).early.map((one) => one.ts)).toEqual(
      Array.from({ length: 20 }, (_, index) => ts(index + 1)),
    );
  });
});

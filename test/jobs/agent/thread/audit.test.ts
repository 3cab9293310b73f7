import { describe, expect, test } from 'vitest';
import { diffOutcomes } from '../../../../src/jobs/agent/thread/audit.ts';
import { MAX_FINISHED } from '../../../../src/jobs/agent/thread/compact.ts';
import type { Instruction } from '../../../../src/jobs/agent/thread/instruction.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';
import { ana, applyEvents, clicks } from '../../../support/jobs/agent/events.ts';

type Fate = Pick<Instruction, 'state' | 'outcome'>;
const fate = (state: Instruction['state'], outcome?: Instruction['outcome']): Fate => ({ state, outcome });
const withOne = (changes: Partial<Instruction>) => aThread({ instructions: [anInstruction(changes)] });
const results = (before: Partial<Instruction>, after: Partial<Instruction>) =>
  diffOutcomes(withOne(before), withOne(after)).map(({ result }) => result);

describe('the audit log', () => {
  test.each([
    [fate('sending'), fate('working'), ['sent']],
    [fate('sending'), fate('over', 'sent'), ['sent']],
    [fate('working'), fate('over', 'sent'), []],
    [fate('held'), fate('over', 'notForAgent'), ['not for the agent']],
    [fate('waiting'), fate('over', 'discarded'), ['discarded']],
    [fate('waiting'), fate('over', 'withdrawn'), ['withdrawn']],
    [fate('sending'), fate('unknown'), ['unclear']],
    [fate('unknown'), fate('working'), ['sent']],
    [fate('unknown'), fate('over', 'left'), ['left unclear']],
    [fate('sending'), fate('failed'), ['not sent']],
    [fate('failed'), fate('over', 'notSent'), []],
    [fate('held'), fate('waiting'), []],
    [fate('waiting'), fate('sending'), []],
    [fate('unknown'), fate('unknown'), []],
  ])('%j → %j: %j', (before, after, expected) => {
    expect(results(before, after)).toEqual(expected);
  });

  test('tells of each attempt', () => {
    expect(results({ state: 'unknown' }, { state: 'unknown', attempt: 2 })).toEqual(['unclear']);
    expect(results({ state: 'unknown' }, { state: 'waiting', attempt: 2 })).toEqual([]);
  });

  test('has an instruction that came and went in one step', () => {
    const after = anInstruction({ state: 'over', outcome: 'withdrawn' });
    expect(diffOutcomes(aThread(), aThread({ instructions: [after] }))).toEqual([
      { instruction: after, result: 'withdrawn' },
    ]);
  });

  test('misses none when more are dropped than are kept', () => {
    const many = Array.from({ length: MAX_FINISHED + 7 }, (_, index) => anInstruction({ id: `i${index}` }));
    const before = aThread({ instructions: many });
    const outcomes = diffOutcomes(before, applyEvents(before, [clicks(ana, 'stop')]));
    expect(outcomes.map(({ result }) => result)).toEqual(many.map(() => 'discarded'));
  });

  test('is not told of what is forgotten later', () => {
    expect(diffOutcomes(withOne({ state: 'over', outcome: 'sent' }), aThread())).toEqual([]);
  });
});

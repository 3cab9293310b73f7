import { describe, expect, test } from 'vitest';
import type { Instruction } from '../../../../src/jobs/agent/thread/instruction.ts';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { endIfNotCreated } from '../../../../src/jobs/agent/thread/transitions.ts';
import { anInstruction, aThread, aTrouble } from '../../../support/jobs/agent/any-thread.ts';

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

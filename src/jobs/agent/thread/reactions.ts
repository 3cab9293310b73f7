import type { Reaction } from '../../../slack/reactions.ts';
import type { Instruction, ThreadRun } from './record.ts';
import { roundKey } from './round-view.ts';

/** What became of instructions between two states of a thread, in the words of the audit log; each change once. */
export function diffOutcomes(
  before: ThreadRun,
  after: ThreadRun,
): { instruction: Instruction; result: string }[] {
  const known = new Map(before.instructions.map((one) => [one.id, one]));
  const kept = new Set(after.instructions.map(({ id }) => id));
  // When very many are dropped at once, some of them are not kept at all.
  const lost = before.instructions.filter((one) => resultOf(one) === undefined && !kept.has(one.id));
  const changed = after.instructions.flatMap((instruction) => {
    const result = resultOf(instruction);
    const earlier = known.get(instruction.id);
    const previous = earlier?.attempt === instruction.attempt ? resultOf(earlier) : undefined;
    return result === undefined || result === previous ? [] : [{ instruction, result }];
  });
  return [...lost.map((instruction) => ({ instruction, result: RESULTS.discarded })), ...changed];
}

const RESULTS = {
  sent: 'sent',
  notForAgent: 'not for the agent',
  discarded: 'discarded',
  withdrawn: 'withdrawn',
  left: 'left unclear',
  notSent: 'not sent',
} as const;

function resultOf({ state, outcome }: Instruction): string | undefined {
  switch (state) {
    case 'working':
      return RESULTS.sent;
    case 'unknown':
      return 'unclear';
    case 'failed':
      return RESULTS.notSent;
    case 'over':
      return outcome && RESULTS[outcome];
    default:
      return undefined;
  }
}

/**
 * The reaction that each reply which was taken or held shows, by its `ts`; `undefined` where it shows none now. That a
 * reply was taken is shown by the message about its round, as a rule, and needs no reaction then.
 */
export function reactionsOf(
  thread: Pick<ThreadRun, 'id' | 'instructions'>,
): Map<string, Reaction | undefined> {
  const replies = thread.instructions.filter(({ isReply }) => isReply);
  return new Map(replies.map((one) => [one.id, reactionOf(thread, one)]));
}

function reactionOf(
  thread: Pick<ThreadRun, 'id'>,
  { state, outcome, round }: Instruction,
): Reaction | undefined {
  if (state === 'held') return { name: 'double_vertical_bar' };
  const isDropped = outcome === 'notForAgent' || outcome === 'discarded' || outcome === 'withdrawn';
  if (state === 'over' && isDropped) return undefined;
  return { name: 'eyes', unlessShown: round === undefined ? '' : roundKey(thread, round) };
}

import type { AgentJob } from '../../../docs-api/schemas.ts';
import type { Instruction, Person, SendTrouble, ThreadRun } from './record.ts';

/** What became of one send. */
export type SendResult =
  | { kind: 'taken'; job: AgentJob }
  /** Nobody knows whether it arrived. */
  | { kind: 'unknown' }
  /** It certainly did not arrive, and people are told why. */
  | { kind: 'notSent'; trouble: Pick<SendTrouble, 'why' | 'reason' | 'adminsTold' | 'archivedAtMs' | 'ref'> }
  /** It certainly did not arrive, and goes out later by itself. */
  | { kind: 'later'; limit?: NonNullable<ThreadRun['limit']>; retry?: NonNullable<ThreadRun['retry']> };

/** The platform itself, which answered late. */
const platform: Person = { id: '', name: '' };

/**
 * The thread after a send. `attempt` is the one that was made: an instruction that has moved on since is left alone,
 * but a late answer settles the question that was asked meanwhile.
 */
export function applySendResult(
  thread: ThreadRun,
  { id, attempt }: Pick<Instruction, 'id' | 'attempt'>,
  result: SendResult,
  nowMs: number,
): ThreadRun {
  const instruction = thread.instructions.find((other) => other.id === id && other.attempt === attempt);
  if (instruction === undefined || !['sending', 'unknown'].includes(instruction.state)) return thread;
  if (instruction.state === 'unknown' && result.kind === 'unknown') return thread;
  const isOpenTrouble = (trouble: SendTrouble) =>
    trouble.id === id && trouble.attempt === attempt && trouble.answer === undefined;
  const action = result.kind === 'taken' ? ('late' as const) : ('lateNot' as const);
  const answer = { by: platform, action, atMs: nowMs };
  const resolved: ThreadRun = {
    ...thread,
    troubles: thread.troubles.map((trouble) => (isOpenTrouble(trouble) ? { ...trouble, answer } : trouble)),
  };
  const endedRetry = thread.retry && { ...thread.retry, over: true };
  const withInstruction = (changes: Partial<Instruction>) =>
    resolved.instructions.map((other) => (other === instruction ? { ...instruction, ...changes } : other));
  const troubleOf = (why: SendTrouble['why']): SendTrouble => {
    const { by, excerpt, creates } = instruction;
    return { id, attempt, by, excerpt, creates, why, sinceMs: nowMs };
  };
  switch (result.kind) {
    case 'taken':
      return {
        ...resolved,
        agentJobId: resolved.agentJobId ?? result.job.id,
        retry: endedRetry,
        limit: resolved.limit && { ...resolved.limit, refusals: 0 },
        instructions: withInstruction({ state: 'working' }),
      };
    case 'unknown':
      return {
        ...resolved,
        retry: endedRetry,
        instructions: withInstruction({ state: 'unknown' }),
        troubles: [...resolved.troubles, troubleOf('unknown')],
      };
    case 'notSent': {
      const trouble = { ...troubleOf(result.trouble.why), ...result.trouble };
      return {
        ...resolved,
        retry: endedRetry,
        instructions: withInstruction({ state: 'failed', outcome: 'notSent' }),
        // The failure takes the place of the question, in the same message.
        troubles: [...thread.troubles.filter((other) => !isOpenTrouble(other)), trouble],
      };
    }
    case 'later':
      return {
        ...resolved,
        limit: result.limit ?? resolved.limit,
        retry: result.retry ?? resolved.retry,
        instructions: withInstruction({ state: 'waiting', sentAtMs: undefined }),
      };
  }
}

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
export function answered(
  thread: ThreadRun,
  { id, attempt }: Pick<Instruction, 'id' | 'attempt'>,
  result: SendResult,
  nowMs: number,
): ThreadRun {
  const one = thread.instructions.find((other) => other.id === id && other.attempt === attempt);
  if (one === undefined || !['sending', 'unknown'].includes(one.state)) return thread;
  if (one.state === 'unknown' && result.kind === 'unknown') return thread;
  const isAsked = (trouble: SendTrouble) =>
    trouble.id === id && trouble.attempt === attempt && trouble.answer === undefined;
  const action = result.kind === 'taken' ? ('late' as const) : ('lateNot' as const);
  const answer = { by: platform, action, atMs: nowMs };
  const late: ThreadRun = {
    ...thread,
    troubles: thread.troubles.map((trouble) => (isAsked(trouble) ? { ...trouble, answer } : trouble)),
  };
  const retried = thread.retry && { ...thread.retry, over: true };
  const become = (changes: Partial<Instruction>) =>
    late.instructions.map((other) => (other === one ? { ...one, ...changes } : other));
  const troubleOf = (why: SendTrouble['why']): SendTrouble => {
    const { by, excerpt, creates } = one;
    return { id, attempt, by, excerpt, creates, why, sinceMs: nowMs };
  };
  switch (result.kind) {
    case 'taken':
      return {
        ...late,
        agentJobId: late.agentJobId ?? result.job.id,
        retry: retried,
        limit: late.limit && { ...late.limit, refusals: 0 },
        instructions: become({ state: 'working' }),
      };
    case 'unknown':
      return {
        ...late,
        retry: retried,
        instructions: become({ state: 'unknown' }),
        troubles: [...late.troubles, troubleOf('unknown')],
      };
    case 'notSent': {
      const trouble = { ...troubleOf(result.trouble.why), ...result.trouble };
      return {
        ...late,
        retry: retried,
        instructions: become({ state: 'failed', outcome: 'notSent' }),
        // The failure takes the place of the question, in the same message.
        troubles: [...thread.troubles.filter((other) => !isAsked(other)), trouble],
      };
    }
    case 'later':
      return {
        ...late,
        limit: result.limit ?? late.limit,
        retry: result.retry ?? late.retry,
        instructions: become({ state: 'waiting', sentAtMs: undefined }),
      };
  }
}

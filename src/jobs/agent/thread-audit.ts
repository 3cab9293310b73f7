import type { AgentContext } from './context.ts';
import { outcomesBetween } from './outcomes.ts';
import type { Instruction, ThreadRun } from './thread.ts';

/** Before the save that it tells of: after a crash a line may stand twice in the audit log, but is never missing. */
export async function noteOutcomes(
  before: ThreadRun,
  after: ThreadRun,
  context: Pick<AgentContext, 'audit' | 'now'>,
): Promise<void> {
  for (const { instruction, result } of outcomesBetween(before, after)) {
    const text = before.instructions.find(({ id }) => id === instruction.id)?.text ?? instruction.text;
    await noteInstruction(after, instruction, `${result} · ${text.length} characters`, context);
  }
}

async function noteInstruction(
  thread: ThreadRun,
  { by: user }: Instruction,
  result: string,
  { audit, now }: Pick<AgentContext, 'audit' | 'now'>,
) {
  const { agentJobId, asked, place, teamId } = thread;
  await audit.add(teamId, {
    atMs: now(),
    user,
    channel: place?.channel ?? asked.channel,
    what: 'instruction',
    subject: agentJobId ?? 'new agent job',
    ...(agentJobId !== undefined && { job: agentJobId }),
    result,
  });
}

/** What became of the wish to follow a job. */
export async function noteThread(
  { teamId, owner: user, asked, agentJobId }: ThreadRun,
  result: string,
  { audit, now }: Pick<AgentContext, 'audit' | 'now'>,
): Promise<void> {
  const subject = agentJobId ?? 'new agent job';
  await audit.add(teamId, { atMs: now(), user, channel: asked.channel, what: 'agent', subject, result });
}

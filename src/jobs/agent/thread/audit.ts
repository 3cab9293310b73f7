import type { JobContext } from '../../context.ts';
import { diffOutcomes } from './reactions.ts';
import type { Instruction, Person, ThreadRun } from './record.ts';

/** What happened to instructions, and what else somebody did to the thread or may not do. */
export async function auditChanges(
  before: ThreadRun,
  after: ThreadRun,
  context: Pick<JobContext, 'audit' | 'now'>,
): Promise<void> {
  await auditOutcomes(before, after, context);
  const known = new Set(before.notes.map(({ id }) => id));
  for (const { id, to, kind, about } of after.notes) {
    if (known.has(id)) continue;
    const by = [after.owner, ...after.instructions.map((one) => one.by)].find((person) => person.id === to);
    const user = by ?? { id: to, name: to };
    if (kind === 'notPermitted' || kind === 'noLongerAllowed')
      await auditThread(after, 'refused: not permitted', context, user);
    if (kind === 'mode') await auditThread(after, `replies: ${about}`, context, user);
  }
  if (before.state !== 'ended' && after.state === 'ended')
    await auditThread(after, after.ended?.why ?? 'ended', context, after.ended?.by);
}

/** Before the save that it tells of: after a crash a line may stand twice in the audit log, but is never missing. */
export async function auditOutcomes(
  before: ThreadRun,
  after: ThreadRun,
  context: Pick<JobContext, 'audit' | 'now'>,
): Promise<void> {
  for (const { instruction, result } of diffOutcomes(before, after)) {
    const text = before.instructions.find(({ id }) => id === instruction.id)?.text ?? instruction.text;
    await auditInstruction(after, instruction, `${result} · ${text.length} characters`, context);
  }
}

async function auditInstruction(
  thread: ThreadRun,
  { by: user }: Instruction,
  result: string,
  { audit, now }: Pick<JobContext, 'audit' | 'now'>,
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
export async function auditThread(
  { teamId, owner, asked, agentJobId }: ThreadRun,
  result: string,
  { audit, now }: Pick<JobContext, 'audit' | 'now'>,
  user: Person = owner,
): Promise<void> {
  const subject = agentJobId ?? 'new agent job';
  await audit.add(teamId, { atMs: now(), user, channel: asked.channel, what: 'agent', subject, result });
}

import type { JobContext } from '../../context.ts';
import type { Instruction, Person } from './instruction.ts';
import type { ThreadRun } from './record.ts';

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

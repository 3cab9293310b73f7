import type { JobContext } from '../../context.ts';
import type { Instruction, Person } from './instruction.ts';
import { findInstruction, type ThreadRun } from './record.ts';

/**
 * Adds changes to the audit log: results of instructions, refused people, switches of the mode, the end. Call it before
 * the save: after a crash a line may be there twice, but is never missing. All lines are sent to Redis when it returns,
 * so the save need not wait.
 */
export async function auditChanges(before: ThreadRun, after: ThreadRun, context: JobContext): Promise<void> {
  const { agentJobId, asked, place, teamId } = after;
  const lines: Promise<void>[] = [];
  for (const { instruction, result } of diffOutcomes(before, after)) {
    const { text } = findInstruction(before, instruction.id) ?? instruction;
    const line = context.audit.add(teamId, {
      atMs: context.now(),
      user: instruction.by,
      channel: place?.channel ?? asked.channel,
      what: 'instruction',
      subject: agentJobId ?? 'new agent job',
      ...(agentJobId !== undefined && { job: agentJobId }),
      result: `${result} · ${text.length} characters`,
    });
    lines.push(line);
  }
  const known = new Set(before.ephemerals.map(({ id }) => id));
  for (const { id, to, kind, about } of after.ephemerals) {
    if (known.has(id)) continue;
    const people = [after.owner, ...after.instructions.map(({ by }) => by)];
    const user = people.find((person) => person.id === to) ?? { id: to, name: to };
    if (kind === 'notPermitted' || kind === 'noLongerAllowed')
      lines.push(auditThread(after, 'refused: not permitted', context, user));
    if (kind === 'mode') lines.push(auditThread(after, `replies: ${about}`, context, user));
  }
  const { ended } = after;
  if (before.ended === undefined && ended) lines.push(auditThread(after, ended.why, context, ended.by));
  await Promise.all(lines);
}

export async function auditThread(
  { teamId, owner, asked, agentJobId }: ThreadRun,
  result: string,
  { audit, now }: JobContext,
  user: Person = owner,
): Promise<void> {
  const subject = agentJobId ?? 'new agent job';
  await audit.add(teamId, { atMs: now(), user, channel: asked.channel, what: 'agent', subject, result });
}

/** Returns the results of instructions between two states of a thread, in the words of the audit log. */
function diffOutcomes(before: ThreadRun, after: ThreadRun): { instruction: Instruction; result: string }[] {
  const known = new Map(before.instructions.map((one) => [one.id, one]));
  const kept = new Set(after.instructions.map(({ id }) => id));
  // If very many are dropped at once, `compact` keeps only some of them.
  const lost = before.instructions.filter((one) => resultOf(one) === undefined && !kept.has(one.id));
  const changed = after.instructions.flatMap((instruction) => {
    const result = resultOf(instruction);
    const earlier = known.get(instruction.id);
    const previous = earlier?.attempt === instruction.attempt ? resultOf(earlier) : undefined;
    return result === undefined || result === previous ? [] : [{ instruction, result }];
  });
  return [...lost.map((instruction) => ({ instruction, result: 'discarded' })), ...changed];
}

/** Results by state, or by outcome for finished instructions. Other states have no result. */
const RESULTS: Partial<Record<Instruction['state'] | NonNullable<Instruction['outcome']>, string>> = {
  working: 'sent',
  unknown: 'unclear',
  failed: 'not sent',
  sent: 'sent',
  notForAgent: 'not for the agent',
  discarded: 'discarded',
  withdrawn: 'withdrawn',
  left: 'left unclear',
  notSent: 'not sent',
};

const resultOf = ({ state, outcome }: Instruction) => RESULTS[state === 'over' ? (outcome ?? state) : state];

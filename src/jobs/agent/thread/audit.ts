import { countOf } from '../../../slack/text.ts';
import type { JobContext } from '../../engine/context.ts';
import type { Person } from '../../shared/origin.ts';
import { findInstruction, type Instruction, type ThreadRun } from './record.ts';

/**
 * Adds changes to the audit log: results of instructions, who had one sent now, refused people, switches of the mode, the end. Call it before
 * the save: after a crash a line may be there twice, but is never missing.
 */
export async function auditChanges(before: ThreadRun, after: ThreadRun, context: JobContext): Promise<void> {
  const { agentJobId: job, asked, place, teamId, ended } = after;
  const lines: Promise<void>[] = [];
  const hasEnded = before.ended === undefined && ended !== undefined;
  // If it was never followed, nothing of it was for the agent.
  const isUnfollowed = hasEnded && !AUDITED_ENDS.includes(ended.why);
  for (const one of isUnfollowed ? [] : after.instructions) {
    const earlier = findInstruction(before, one.id);
    const result = RESULTS[one.state];
    const isKnown = earlier?.attempt === one.attempt && RESULTS[earlier.state] === result;
    const add = (user: Person, what: string) => {
      const line = {
        atMs: context.now(),
        user,
        channel: place?.channel ?? asked.channel,
        what: 'instruction',
        subject: job ?? 'new agent job',
        job,
        result: `${what} · ${sizeText(earlier ?? one)}`,
      };
      lines.push(context.store.audit.add(teamId, line));
    };
    // It may stop the agent's work.
    if (one.sentNowBy && !earlier?.sentNowBy) add(one.sentNowBy, 'send now');
    if (result !== undefined && !isKnown) add(one.by, result);
  }
  const people = [after.owner, ...after.instructions.map(({ by }) => by)];
  for (const { id, to, kind, about } of after.ephemerals) {
    if (before.ephemerals.some((one) => one.id === id)) continue;
    const user = people.find((person) => person.id === to) ?? { id: to, name: to };
    if (kind === 'notPermitted' || kind === 'noLongerAllowed')
      lines.push(auditThread(after, 'refused: not permitted', context, user));
    if (kind === 'mode') lines.push(auditThread(after, `replies: ${about}`, context, user));
  }
  if (hasEnded && !isUnfollowed) lines.push(auditThread(after, ended.why, context, ended.by));
  await Promise.all(lines);
}

/** Why threads end that were followed, or whose job could not be made. The other ends have lines of their own. */
const AUDITED_ENDS = ['stopped', 'notMade', 'jobRefused', 'broken'];

const sizeText = ({ text, background }: Instruction) =>
  `${text.length} characters${background ? `, with ${countOf(background.count, 'message')}` : ''}`;

/** What the lines about a thread have in common. */
export const auditOf = ({ owner, asked, agentJobId }: ThreadRun) => ({
  user: owner,
  channel: asked.channel,
  what: 'agent',
  subject: agentJobId ?? 'new agent job',
});

async function auditThread(
  thread: ThreadRun,
  result: string,
  { store, now }: { store: Pick<JobContext['store'], 'audit'> } & Pick<JobContext, 'now'>,
  user: Person = thread.owner,
): Promise<void> {
  await store.audit.add(thread.teamId, { ...auditOf(thread), user, atMs: now(), result });
}

/** The results of instructions in the words of the audit log. Other states have none. */
const RESULTS: Partial<Record<Instruction['state'], string>> = {
  working: 'sent',
  sent: 'sent',
  unknown: 'unclear',
  failed: 'not sent',
  notSent: 'not sent',
  notForAgent: 'not for the agent',
  discarded: 'discarded',
  withdrawn: 'withdrawn',
  left: 'left unclear',
};

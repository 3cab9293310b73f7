import { message, type Part } from '../../../slack/blocks.ts';
import type { Need, RunNeeds } from '../../feature.ts';
import { ephemeralMessage } from './ephemeral-view.ts';
import type { Instruction } from './instruction.ts';
import { jobName, quoted, quotedShort } from './phrases.ts';
import { findInstruction, heldOf, isSoleAuthor, type SendProblem, type ThreadRun } from './record.ts';
import { troubleMessage } from './unsent-view.ts';
import { threadPermalink } from './view.ts';

/** Held replies and sends of unknown result need a decision by their authors. */
export const threadNeeds: RunNeeds<ThreadRun> = {
  of(thread) {
    if (thread.state === 'ended') return [];
    const sends = thread.sendProblems.filter(({ why, answer }) => why === 'unknown' && answer === undefined);
    return [
      ...sends.map((trouble): Need => ({ user: trouble.by.id, id: sendId(trouble) })),
      ...heldFirst(thread).map(({ by, id }): Need => ({ user: by.id, id: heldId(id) })),
    ];
  },

  line(thread, need, { workspaceUrl }) {
    const url = workspaceUrl();
    const address = url && threadPermalink(thread, url);
    const where: Part[] = address === undefined ? [] : [' · ', { link: address, label: 'Open thread' }];
    const trouble = troubleOf(thread, need);
    if (trouble !== undefined) {
      const question = trouble.creates ? 'Was the job created?' : 'Did it reach the agent?';
      return ['⚠️ ', { bold: 'Send unclear' }, ` · ${quotedShort(trouble.excerpt)} · ${question}`, ...where];
    }
    const held = heldInstruction(thread, need);
    const more = held && !isSoleAuthor(thread, need.user) ? heldOf(thread, need.user).length - 1 : 0;
    const rest = more > 0 ? ` and ${more} more` : '';
    const what = `${quotedShort(held?.excerpt)}${rest} · Is this for the agent? · ${jobName(thread)}`;
    return ['⏸ ', { bold: 'Held' }, ` · ${what}`, ...where];
  },

  question(thread, need) {
    const trouble = troubleOf(thread, need);
    if (trouble !== undefined) return troubleMessage(thread, trouble);
    const held = heldInstruction(thread, need);
    const about = { about: held?.id, excerpt: held?.excerpt };
    return ephemeralMessage(thread, { id: need.id, to: need.user, kind: 'question', ...about });
  },

  answered(thread, need) {
    const trouble = troubleOf(thread, need);
    if (trouble?.answer !== undefined) return troubleMessage(thread, trouble);
    return message([[settledText(heldInstruction(thread, need))]]);
  },
};

function settledText(one: Instruction | undefined): string {
  if (one?.outcome === 'notForAgent')
    return `Not sent, because you said it's not for the agent: ${quoted(one.excerpt)}`;
  if (one?.outcome === 'withdrawn')
    return `Not sent, because its message was deleted: ${quoted(one.excerpt)}`;
  const wasNotSent = one === undefined || (one.outcome !== undefined && one.outcome !== 'sent');
  if (wasNotSent) return 'Already handled: its thread shows the result.';
  return `${quoted(one.excerpt)} goes to the agent.`;
}

const sendId = ({ id, attempt }: Pick<SendProblem, 'id' | 'attempt'>) => `send ${id} ${attempt}`;
const heldId = (id: string) => `held ${id}`;

const troubleOf = ({ sendProblems: troubles }: ThreadRun, { id, user }: Need) =>
  troubles.find((one) => sendId(one) === id && one.by.id === user);

const heldInstruction = (thread: ThreadRun, { id, user }: Need) => {
  const one = findInstruction(thread, id.slice(heldId('').length));
  return one?.by.id === user ? one : undefined;
};

/** Returns the replies to ask about. One answer covers all held replies of a person; for a sole author, only one. */
function heldFirst(thread: ThreadRun): Instruction[] {
  const held = thread.instructions.filter(({ state }) => state === 'held');
  return held.filter(
    (one, index) =>
      isSoleAuthor(thread, one.by.id) || held.findIndex(({ by }) => by.id === one.by.id) === index,
  );
}

import { type Layout, layout, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { formatDuration } from '../../../slack/text.ts';
import { pullRequestParts } from '../../pull-request-view.ts';
import { personName } from '../../wording-view.ts';
import { agentActions } from './buttons.ts';
import type { DigestOrigin, Instruction, ThreadRun } from './record.ts';
import { type AskEnding, askEnding, isAskSettled } from './transitions.ts';
import { threadPermalink } from './view.ts';

/**
 * Returns the lines under digests about the instructions that people gave there, once the thread has its card. Without
 * `workspaceUrl` the lines have no link to the thread.
 */
export function digestAskMessages(thread: ThreadRun, workspaceUrl: string | undefined): OutboxMessage[] {
  if (thread.place === undefined && thread.state !== 'ended') return [];
  return thread.instructions.flatMap((one): OutboxMessage[] => {
    const { id, origin } = one;
    if (origin === undefined || origin.final) return [];
    return [
      {
        key: `${thread.id}.ask.${id}`,
        place: { under: origin.under },
        kind: 'state',
        ...(!isAskSettled(thread, one) && { lasting: true }),
        message: askLine(thread, one, origin, workspaceUrl),
      },
    ];
  });
}

/** A digest mentions nobody. */
function askLine(
  thread: ThreadRun,
  one: Instruction,
  origin: DigestOrigin,
  workspaceUrl: string | undefined,
) {
  const url = mayLink(thread, origin) && workspaceUrl ? threadPermalink(thread, workspaceUrl) : undefined;
  return layout({
    ...lineOf(askEnding(thread, one), origin.about),
    small: [[`Asked by ${personName(one.by.name)}`]],
    buttons: url === undefined ? [] : [{ label: 'Open thread', action: agentActions.openThread, url }],
  });
}

/** Whether all readers of the digest may open the thread. */
const mayLink = ({ place, inDirectMessage, asked }: ThreadRun, { channel }: DigestOrigin) =>
  !inDirectMessage && (place?.channel === channel || asked.isPublic);

function lineOf(ending: AskEnding | undefined, about: string): Pick<Layout, 'icon' | 'lines'> {
  const line = (icon: string, ...parts: Part[]) => ({ icon, lines: [parts] });
  switch (ending?.kind) {
    case undefined:
      return line('⏳', `The docs agent was asked about ${about}.`);
    case 'newPr':
      return line('✅', 'The agent opened ', ...pullRequestParts(ending, 'a pull request'), ` for ${about}.`);
    case 'samePr':
      return line(
        '✅',
        `The agent finished ${about} in the same pull request as before, `,
        ...pullRequestParts(ending, 'without an address'),
        '.',
      );
    case 'noPr':
      return line('➖', `The agent finished ${about} without a pull request.`);
    case 'failed':
      return line('❌', `The agent could not finish ${about}.`);
    case 'archived':
      return line('📁', `The job about ${about} was archived.`);
    case 'gone':
      return line('❌', `The platform no longer has the job about ${about}.`);
    case 'notSent':
      return line('❌', `The instruction about ${about} was not sent.`);
    case 'unknown':
      return line('⚠️', `The instruction about ${about} may not have reached the agent.`);
    case 'stopped':
      return line('💤', `The job about ${about} is no longer followed, so I don't know its result.`);
    case 'gaveUp': {
      const after = ending.afterMs === undefined ? '' : ` after ${formatDuration(ending.afterMs)}`;
      return line('💤', `I stopped watching ${about}${after}; the agent may still finish.`);
    }
  }
}

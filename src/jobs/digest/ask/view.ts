import { type Layout, layout, type Message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { formatDuration } from '../../../slack/text.ts';
import { pullRequestParts } from '../../pull-request-view.ts';
import { personName } from '../../wording-view.ts';
import { digestActions } from '../buttons.ts';
import { rootKey } from '../edition/record.ts';
import { subjectText } from './entries.ts';
import type { AskEnding, AskRun } from './record.ts';

/** Returns the line in the digest's thread, once it can link the agent's thread, or that takes too long. */
export function askMessages(run: AskRun): OutboxMessage[] {
  if (run.state === 'accepted' || run.state === 'handed') return [];
  return [
    {
      key: `${run.id}.ask`,
      place: { under: rootKey({ id: run.edition }) },
      kind: 'state',
      message: askLine(run),
    },
  ];
}

/** A digest mentions nobody. */
const askLine = ({ by, subject, ending, threadUrl }: AskRun): Message =>
  layout({
    ...lineOf(ending, subjectText(subject)),
    small: [[`Asked by ${personName(by.name)}`]],
    buttons:
      threadUrl === undefined
        ? []
        : [{ label: 'Open thread', action: digestActions.openThread, url: threadUrl }],
  });

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
    case 'gaveUp':
    case 'unwatched': {
      const afterMs = 'afterMs' in ending ? ending.afterMs : undefined;
      const after = afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`;
      return line('💤', `I stopped watching ${about}${after}; the agent may still finish.`);
    }
  }
}

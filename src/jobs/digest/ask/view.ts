import { layout, type Message, type Part } from '../../../slack/blocks.ts';
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
function askLine({ by, subject, ending, threadUrl }: AskRun): Message {
  const about = subjectText(subject);
  const { icon, words } =
    ending === undefined
      ? { icon: '⏳', words: [`The docs agent was asked about ${about}.`] }
      : endingOf(ending, about);
  const small: Part[][] = [[`Asked by ${personName(by.name)}`]];
  return layout({
    lines: [[`${icon} `, ...words]],
    small,
    buttons:
      threadUrl === undefined
        ? []
        : [{ label: 'Open thread', action: digestActions.openThread, url: threadUrl }],
    text: [words, ...small],
  });
}

function endingOf(ending: AskEnding, about: string): { icon: string; words: Part[] } {
  switch (ending.kind) {
    case 'newPr':
      return {
        icon: '✅',
        words: ['The agent opened ', ...pullRequestParts(ending, 'a pull request'), ` for ${about}.`],
      };
    case 'samePr':
      return {
        icon: '✅',
        words: [
          `The agent finished ${about} in the same pull request as before, `,
          ...pullRequestParts(ending, 'without an address'),
          '.',
        ],
      };
    case 'noPr':
      return { icon: '➖', words: [`The agent finished ${about} without a pull request.`] };
    case 'failed':
      return { icon: '❌', words: [`The agent could not finish ${about}.`] };
    case 'archived':
      return { icon: '📁', words: [`The job about ${about} was archived.`] };
    case 'gone':
      return { icon: '❌', words: [`The platform no longer has the job about ${about}.`] };
    case 'gaveUp': {
      const after = ending.afterMs === undefined ? '' : ` after ${formatDuration(ending.afterMs)}`;
      return { icon: '💤', words: [`I stopped watching ${about}${after}; the agent may still finish.`] };
    }
    case 'notSent':
      return { icon: '❌', words: [`The instruction about ${about} was not sent.`] };
    case 'unknown':
      return {
        icon: '⚠️',
        words: [`The instruction about ${about} may not have reached the agent.`],
      };
    case 'stopped':
      return {
        icon: '💤',
        words: [`The job about ${about} is no longer followed, so I don't know its result.`],
      };
    case 'unwatched':
      return { icon: '💤', words: [`I stopped watching ${about}; the agent may still finish.`] };
  }
}

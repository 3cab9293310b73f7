import { type Message, message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { formatDuration } from '../../../slack/text.ts';

import { pullRequestParts } from '../../pull-request-view.ts';
import { personName } from '../../wording-view.ts';
import { digestActions } from '../buttons.ts';
import { rootKey } from '../edition/record.ts';
import { subjectText } from './entries.ts';
import type { AskEnding, AskRun } from './record.ts';

/** Returns the line in the digest's thread, once it can link the thread of the agent, or that takes too long. */
export function askMessages(run: AskRun): OutboxMessage[] {
  if (run.state === 'accepted' || run.state === 'handed') return [];
  return [
    {
      key: `${run.id}.ask`,
      place: { under: rootKey({ id: run.edition, attempt: run.attempt }) },
      kind: 'state',
      message: askLine(run),
    },
  ];
}

/** A digest mentions nobody. */
function askLine({ by, subject, ending, threadUrl }: AskRun): Message {
  const asked = `${personName(by.name)} asked the docs agent about ${subjectText(subject)}.`;
  const line: Part[] = ending === undefined ? [asked] : [`${asked} `, ...endingParts(ending)];
  const buttons =
    threadUrl === undefined
      ? []
      : [{ label: 'Open thread', action: digestActions.openThread, url: threadUrl }];
  return message([line], buttons);
}

function endingParts(ending: AskEnding): Part[] {
  switch (ending.kind) {
    case 'newPr':
      return ['The agent opened ', ...pullRequestParts(ending, 'a pull request'), '.'];
    case 'samePr':
      return [
        'The agent finished; it is the same pull request as before, ',
        ...pullRequestParts(ending, 'without an address'),
        '.',
      ];
    case 'noPr':
      return ['The agent finished without a pull request.'];
    case 'failed':
      return ['The agent could not finish.'];
    case 'archived':
      return ['The job was archived.'];
    case 'gone':
      return ['The platform does not know the job any more.'];
    case 'gaveUp': {
      const after = ending.afterMs === undefined ? '' : ` after ${formatDuration(ending.afterMs)}`;
      return [`I stopped watching${after}; the agent may still finish.`];
    }
    case 'notSent':
      return ['It was not sent.'];
    case 'unknown':
      return ['Nobody knows whether it arrived.'];
    case 'stopped':
      return ["The job is not followed any more, so I can't tell what came of it."];
    case 'unwatched':
      return ['I stopped watching; the agent may still finish.'];
  }
}

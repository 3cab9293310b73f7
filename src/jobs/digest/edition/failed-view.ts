import { message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { cut, oneLine } from '../../../slack/text.ts';
import { projectMissingText } from '../../wording-view.ts';
import type { EditionRun } from './record.ts';

/** Returns the message to whoever asked for dates or a preview that did not come; a schedule reports its own failures. */
export function failedMessage(run: EditionRun): OutboxMessage | undefined {
  const { ended, kind, owner } = run;
  if (ended === undefined || ended.why === 'done' || kind === 'weekly') return undefined;
  const site = cut(oneLine(run.site), 60);
  const what: Part[] = [
    `❌ The ${kind === 'preview' ? 'preview of the digest' : 'digest'} of ${site} did not come. `,
  ];
  return {
    key: `${run.id}.failed`,
    place: { user: owner.id },
    kind: 'ending',
    message: message([[...what, ...failureParts(run)]]),
  };
}

/** Returns why a digest did not come, and what mends it. */
function failureParts({
  ended,
  project,
  channel,
}: Pick<EditionRun, 'ended' | 'project' | 'channel'>): Part[] {
  switch (ended?.why) {
    case 'place':
      return ended.code === 'is_archived'
        ? [{ channel }, ' is archived.']
        : ["I can't post in ", { channel }, `. Type /invite @Docket there, then send it again.`];
    case 'project':
      return [`${projectMissingText({ project })}.`];
    case 'permission':
      return ['You may no longer ask for digests.'];
    case 'broken':
      return [`Something broke on my side. ref ${ended.ref ?? ''}`];
    default:
      return ["The platform didn't give the numbers. Try again in a while."];
  }
}

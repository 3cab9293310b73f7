import { layout, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { causeText, failureParts } from '../failure-view.ts';
import type { PlatformCause } from '../model.ts';
import { daysText } from '../weeks.ts';
import { shortSite } from './phrases.ts';
import type { EditionRun } from './record.ts';

/** Returns the message to the requester of dates or a preview that failed; a schedule reports its own failures. */
export function failedMessage(run: EditionRun): OutboxMessage | undefined {
  const { ended, kind, owner, channel, project } = run;
  if (ended === undefined || ended.why === 'done' || kind === 'weekly') return undefined;
  const { why, fix } = failureParts({ ...ended, code: ended.code ?? ended.ref }, project, {
    again: 'ask for it again',
    retry: 'Ask for it again in a while.',
  });
  const where: Part[] = ended.why === 'place' ? [' in ', { channel }] : [];
  const what = kind === 'preview' ? 'preview of the digest' : 'digest';
  const sentence: Part[] = [
    `The ${what} of ${shortSite(run.site)}`,
    ...where,
    ' could not be sent: ',
    ...why,
  ];
  return {
    key: `${run.id}.failed`,
    place: { user: owner.id },
    kind: 'ending',
    message: layout({ lines: [['❌ ', ...sentence], fix], text: [sentence, fix] }),
  };
}

/** Returns the channel's line about a weekly digest that the platform delays, in its present form. */
export function lateMessage(run: EditionRun): OutboxMessage | undefined {
  const { id, kind, stuck, site, range, channel, totals, ended } = run;
  if (kind !== 'weekly' || stuck === undefined) return undefined;
  const digest = `digest of ${shortSite(site)}, ${daysText(range)},`;
  const sentence = lateText(digest, stuck, { isThere: totals !== undefined, isOver: ended !== undefined });
  return {
    key: `${id}.late`,
    place: { channel },
    kind: 'state',
    lowPriority: true,
    message: layout({ lines: [[sentence]], text: [[sentence]] }),
  };
}

function lateText(
  digest: string,
  stuck: PlatformCause,
  { isThere, isOver }: Record<'isThere' | 'isOver', boolean>,
) {
  if (isThere) return `✅ The ${digest} arrived late: the platform gave no numbers at first.`;
  if (isOver) return `❌ The ${digest} could not be sent: ${causeText(stuck)}.`;
  return `⚠️ The ${digest} is late: ${causeText(stuck)}. I'll post it as soon as there are numbers.`;
}

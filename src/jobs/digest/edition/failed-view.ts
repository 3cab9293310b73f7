import { layout, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { failureParts } from '../failure-view.ts';
import { shortSite } from './phrases.ts';
import type { EditionRun } from './record.ts';

/** Returns the message to whoever asked for dates or a preview that did not come; a schedule reports its own failures. */
export function failedMessage(run: EditionRun): OutboxMessage | undefined {
  const { ended, kind, owner, channel, project } = run;
  if (ended === undefined || ended.why === 'done' || kind === 'weekly') return undefined;
  const { why, fix } = failureParts({ why: ended.why, code: ended.code ?? ended.ref }, project, {
    again: 'ask for it again',
    retry: 'Ask for it again in a while.',
  });
  const where: Part[] = ended.why === 'place' ? [' in ', { channel }] : [];
  const what = kind === 'preview' ? 'preview of the digest' : 'digest';
  const sentence: Part[] = [`The ${what} of ${shortSite(run.site)}`, ...where, ' did not come: ', ...why];
  return {
    key: `${run.id}.failed`,
    place: { user: owner.id },
    kind: 'ending',
    message: layout({ lines: [['❌ ', ...sentence], fix], text: [sentence, fix] }),
  };
}

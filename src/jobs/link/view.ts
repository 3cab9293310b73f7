import { linkPlaceholder, type Message, message } from '../../slack/blocks.ts';
import type { Shown } from '../../slack/outbox.ts';
import { cut, oneLine } from '../../slack/text.ts';
import { type LinkButton, type LinkRun, linkActions } from './run.ts';

const WHEN = '{date_short_pretty} {time}';

/** The one message of a run; nothing while its first link is being made. */
export function linkMessages(run: LinkRun): Shown[] {
  const shown = linkMessage(run);
  if (shown === undefined) return [];
  // That a link has ended is not worth a new post where somebody deleted the message.
  const kind = run.state === 'over' ? 'progress' : 'ending';
  return [{ key: `${run.id}.link`, place: { user: run.to.id }, kind, message: shown }];
}

function linkMessage(run: LinkRun): Message | undefined {
  const value: LinkButton = { v: 1, run: run.id, made: run.made };
  const again = (label: string) => ({ label, action: linkActions.again, value: JSON.stringify(value) });
  const site = cut(oneLine(run.site), 253);
  switch (run.state) {
    case 'making':
      return undefined;
    case 'failed':
      return message(
        [[`⚠️ I couldn't get a download link to the export of ${site} yet.`]],
        [again('Try again')],
      );
    case 'over':
      return message(
        [
          [`Your own link to the export of ${site}`],
          [
            '🔒 The link ended ',
            { time: run.linkEndsAtMs ?? 0, format: WHEN },
            '. The export is still there.',
          ],
        ],
        [again('New link')],
      );
    case 'sent': {
      const until =
        run.linkEndsAtMs === undefined
          ? ["The platform didn't say how long the link works. "]
          : ['The link works until ', { time: run.linkEndsAtMs, format: WHEN }, '. '];
      const download = {
        label: 'Download bundle',
        action: linkActions.download,
        url: linkPlaceholder(run.link ?? ''),
        style: 'primary' as const,
      };
      return message(
        [
          [`Your own link to the export of ${site}`],
          [...until, 'Anyone who has it can download the bundle.'],
        ],
        [download, again('New link')],
      );
    }
  }
}

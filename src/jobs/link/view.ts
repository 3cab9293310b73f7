import { type Message, message } from '../../slack/blocks.ts';
import type { Shown } from '../../slack/outbox.ts';
import { cut, oneLine } from '../../slack/text.ts';
import { downloadButton, linkEnded, linkWorks } from '../bundle-link-view.ts';
import { type LinkButton, type LinkRun, linkActions } from './record.ts';

/** The key of the message that has the link. */
export const linkKey = (run: Pick<LinkRun, 'id'>) => `${run.id}.link`;

/** Every message of a run as it should look now; none while a link is being made, or where Slack refuses them. */
export function linkMessages(run: LinkRun): Shown[] {
  if (run.state === 'making' || run.refusal !== undefined) return [];
  const place = { user: run.to.id };
  const key = linkKey(run);
  if (run.state !== 'failed') {
    if (run.state === 'over') return [{ key, place, message: overMessage(run), ...edited }];
    return [{ key, place, kind: 'ending', message: sentMessage(run) }];
  }
  const failed = { place, kind: 'ending' as const, message: failedMessage(run) };
  if (run.link === undefined) return [{ key, ...failed }];
  // That no further link can be had is news, and the one before may still work.
  const before = run.over ? overMessage(run) : sentMessage(run);
  return [
    { key, place, message: before, ...edited },
    { key: `${key}.${run.made}`, ...failed },
  ];
}

/** That a link has ended is not worth a new post where somebody deleted the message. */
const edited = { kind: 'state', repost: false } as const;

const title = (run: LinkRun) => [`Your own link to the export of ${site(run)}`];

const site = (run: LinkRun) => cut(oneLine(run.site), 253);

function again(run: LinkRun, label: string) {
  const value: LinkButton = { v: 1, run: run.id, made: run.made };
  return { label, action: linkActions.again, value: JSON.stringify(value) };
}

function sentMessage(run: LinkRun): Message {
  const download = downloadButton(linkActions.download, run.link ?? '');
  return message([title(run), linkWorks(run.linkEndsAtMs)], [download, again(run, 'New link')]);
}

function overMessage(run: LinkRun): Message {
  return message([title(run), linkEnded(run.linkEndsAtMs ?? 0)], [again(run, 'New link')]);
}

function failedMessage(run: LinkRun): Message {
  return message(
    [[`⚠️ I couldn't get a download link to the export of ${site(run)} yet.`]],
    [again(run, 'Try again')],
  );
}

/** The link itself, privately, for somebody whom Slack lets nobody send direct messages. */
export function refusedMessage(run: LinkRun, code: string): Message {
  const why = `Slack doesn't let me send you direct messages (${code}), so here it is, for you alone.`;
  return message(
    [title(run), [why], linkWorks(run.linkEndsAtMs)],
    [downloadButton(linkActions.download, run.link ?? '')],
  );
}

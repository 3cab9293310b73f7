import { type ButtonParts, layout, linkPlaceholder, type Message, type Part } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { sanitizeUserText } from '../../slack/text.ts';
import { type LinkButton, type LinkRun, linkActions } from './record.ts';

/** Format of a link's expiry, in each reader's own time. */
export const LINK_END_FORMAT = '{date_short_pretty} {time}';

/** How long a link works (epoch; missing if the platform did not say), with a warning. */
export function linkValidityParts(expiresAtMs: number | undefined): Part[] {
  const until: Part[] =
    expiresAtMs === undefined
      ? ["The platform didn't say how long the link works. "]
      : ['The link works until ', { time: expiresAtMs, format: LINK_END_FORMAT }, '. '];
  return [...until, 'Anyone who has it can download the bundle.'];
}

/** Replaces an expired link; `link` names it if nothing else in the message does. */
export const linkExpiredParts = (expiredAtMs: number, link = 'The link'): Part[] => [
  `🔒 ${link} ended `,
  { time: expiredAtMs, format: LINK_END_FORMAT },
  '. The export is still there.',
];

/** The button with the link; `link` is its name in the link store. */
export const downloadButton = (action: string, link: string): ButtonParts => ({
  label: 'Download bundle',
  action,
  url: linkPlaceholder(link),
  style: 'primary',
});

/** The key of the message that has the link. */
export const linkKey = (run: Pick<LinkRun, 'id'>) => `${run.id}.link`;

/** Returns every message of a run in its present form; none while a link is made, or if Slack refuses them. */
export function linkMessages(run: LinkRun): OutboxMessage[] {
  if (run.state === 'making' || run.refusal !== undefined) return [];
  const place = { user: run.to.id };
  const key = linkKey(run);
  if (run.state !== 'failed') {
    if (run.state === 'over') return [{ key, place, message: expiredMessage(run), ...withoutRepost }];
    return [{ key, place, kind: 'ending', message: sentMessage(run) }];
  }
  const failed = { place, kind: 'ending' as const, message: failedMessage(run) };
  if (run.link === undefined) return [{ key, ...failed }];
  // A failed further link gets its own message, since the previous link may still work.
  const previous = run.expired ? expiredMessage(run) : sentMessage(run);
  return [
    { key, place, message: previous, ...withoutRepost },
    { key: `${key}.${run.made}`, ...failed },
  ];
}

/** If somebody deleted the message, its expiry is not worth a new post. */
const withoutRepost = { kind: 'state', repost: false } as const;

const ownLink = (run: LinkRun) => `Your own link to the export of ${site(run)}`;

const title = (run: LinkRun) => [ownLink(run)];

const site = (run: LinkRun) => sanitizeUserText(run.site, 253);

const newLink = { label: 'New link', action: linkActions.again };

/** The value of [New link] and [Get the link]. */
function aboutLink(run: LinkRun): string {
  const value: LinkButton = { v: 1, run: run.id, made: run.made };
  return JSON.stringify(value);
}

function sentMessage(run: LinkRun): Message {
  return layout({
    lines: [title(run)],
    small: [linkValidityParts(run.linkEndsAtMs)],
    buttons: [downloadButton(linkActions.download, run.link ?? '')],
    menu: { entries: [newLink], value: aboutLink(run) },
    text: [title(run)],
  });
}

function expiredMessage(run: LinkRun): Message {
  return layout({
    lines: [linkExpiredParts(run.linkEndsAtMs ?? 0, ownLink(run))],
    buttons: [{ ...newLink, value: aboutLink(run), style: 'primary' }],
  });
}

function failedMessage(run: LinkRun): Message {
  const sentence = `I could not get a download link to the export of ${site(run)} yet.`;
  return layout({
    lines: [[`⚠️ ${sentence}`]],
    buttons: [{ label: 'Get the link', action: linkActions.again, value: aboutLink(run) }],
    text: [[sentence]],
  });
}

/** The ephemeral with the link itself, for a person whose direct messages Slack refuses. */
export function refusedMessage(run: LinkRun, code: string): Message {
  const why = `Slack doesn't let me send you direct messages (${code}), so here it is, for you alone.`;
  return layout({
    lines: [title(run), [why]],
    small: [linkValidityParts(run.linkEndsAtMs)],
    buttons: [downloadButton(linkActions.download, run.link ?? '')],
  });
}

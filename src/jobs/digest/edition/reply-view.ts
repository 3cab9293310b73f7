import { layout, type Message, message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { bidiIsolate, cut, singleLine, upperFirst } from '../../../slack/text.ts';
import { digestActions } from '../buttons.ts';
import { causeText, failureParts } from '../failure-view.ts';
import type { DayRange, PlatformCause } from '../model.ts';
import { daysText, rangeText, type Week } from '../weeks.ts';
import { shortSite } from './phrases.ts';
import type { EditionRun } from './record.ts';

type Which = Pick<EditionRun, 'site' | 'range' | 'channel'>;

const which = (site: string) => bidiIsolate(cut(singleLine(site), 80));

/** An answer about a digest, with its days in a line below. */
const answer = (
  line: Part[],
  range: DayRange,
  rest: Pick<Parameters<typeof layout>[0], 'buttons'> & { next?: Part[] } = {},
): Message =>
  layout({
    lines: [line, ...(rest.next === undefined ? [] : [rest.next])],
    small: [[rangeText(range)]],
    buttons: rest.buttons ?? [],
  });

/** To a person who posts a digest by hand. */
export const onItsWayMessage = ({ site, channel, range }: Which): Message =>
  answer([{ bold: 'On its way' }, ` · the digest of ${which(site)} in `, { channel }], range);

/** To a person who previews the next digest of a schedule. */
export const previewMessage = ({ site, range }: Pick<Which, 'site' | 'range'>): Message =>
  answer([{ bold: 'On its way' }, ` · a preview of the digest of ${which(site)}`], range, {
    next: ["I'll send it as a direct message; nobody else sees it."],
  });

/** To a person who requests a digest of any dates. It is posted there, or in their direct messages. */
export const readingMessage = ({ site, range }: Pick<Which, 'site' | 'range'>, isHere: boolean): Message =>
  answer([{ bold: 'On its way' }, ` · the digest of ${which(site)}`], range, {
    next: [`I'll ${isHere ? 'post it here' : 'send it as a direct message'} in a moment.`],
  });

/** To the requester of a digest whose totals are delayed by limits. */
export const waitsMessage = ({ site, range }: Which, byMs: number): Message =>
  answer([{ bold: 'Waiting' }, ` · the digest of ${which(site)}`], range, {
    next: [
      'It should arrive by about ',
      { time: byMs, format: '{time}' },
      ": this hour's requests for numbers are used up. Nothing is lost.",
    ],
  });

/** To a person who posts a digest by hand, if the platform gives no numbers. */
export const stuckReply = ({ site, channel, range }: Which, cause: PlatformCause | undefined): Message =>
  answer([{ bold: 'No numbers yet' }, ` · the digest of ${which(site)} in `, { channel }], range, {
    next: [`${upperFirst(causeText(cause))}. I keep trying, and post it as soon as there are numbers.`],
  });

const posted = (
  state: string,
  { site, channel, range }: Which,
  permalink: string | undefined,
  next?: Part[],
): Message =>
  answer([{ bold: state }, ` · the digest of ${which(site)} in `, { channel }], range, {
    ...(next && { next }),
    buttons:
      permalink === undefined
        ? []
        : [{ label: 'Open thread', action: digestActions.openThread, url: permalink }],
  });

/** To a person who posted a digest by hand; `permalink` is its address. */
export const postedMessage = (run: Which, permalink: string | undefined): Message =>
  posted('Posted', run, permalink);

/** To a person who requests a digest that is already posted. */
export const postedAlreadyMessage = (run: Which, permalink: string | undefined): Message =>
  posted('Already posted', run, permalink, ['Nothing was posted again.']);

/** To a person who requests a week's digest before its numbers are final. */
export const notSettledMessage = ({ range }: Week, settledMs: number): Message =>
  answer([{ bold: 'Too early' }, ' · the platform may still count the last views of the week'], range, {
    next: ['Send it after ', { time: settledMs, format: '{time}' }, '.'],
  });

/** Returns the message to the requester of dates or a preview that failed; a schedule reports its own failures. */
export function failedMessage(run: EditionRun): OutboxMessage | undefined {
  const { ended, kind, owner, channel, project } = run;
  if (ended === undefined || ended.why === 'done' || kind === 'weekly') return undefined;
  const { why, fix } = failureParts(ended, project, {
    again: 'ask for it again',
    retry: 'Ask for it again in a while.',
  });
  const where: Part[] = ended.why === 'place' ? [' in ', { channel }] : [];
  const what = kind === 'preview' ? 'preview of the digest' : 'digest';
  const sentence = [`The ${what} of ${shortSite(run.site)}`, ...where, ' could not be sent: ', ...why];
  return {
    key: `${run.id}.failed`,
    place: { user: owner.id },
    kind: 'ending',
    message: layout({ icon: '❌', lines: [sentence, fix] }),
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
    message: message([[sentence]]),
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

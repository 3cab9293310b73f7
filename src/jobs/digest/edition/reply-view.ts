import {
  type ButtonParts,
  type Line,
  layout,
  type Message,
  message,
  openThreadButton,
  type Part,
} from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { cut, lowerFirst, sanitizeUserText, singleLine, upperFirst } from '../../../slack/text.ts';
import { isNotThere, projectMissingText } from '../../wording-view.ts';
import { digestActions } from '../buttons.ts';
import type { PlatformCause } from '../model.ts';
import { daysText, rangeText, type Week } from '../weeks.ts';
import { shortSite } from './phrases.ts';
import type { EditionEnding, EditionRun } from './record.ts';

type Which = Pick<EditionRun, 'site' | 'range' | 'channel'>;

/** An answer about a digest: its state, its subject, a line of its own, and its days. */
const answer = (
  state: string,
  { site, range, channel }: Pick<Which, 'site' | 'range'> & Partial<Which>,
  next?: Line,
  { what = 'the digest', buttons = [] }: { what?: string; buttons?: ButtonParts[] } = {},
): Message => {
  const subject = ` · ${what} of ${sanitizeUserText(site, 80)}`;
  const where: Part[] = channel === undefined ? [subject] : [`${subject} in `, { channel }];
  return layout({ lines: [[{ bold: state }, ...where], next], small: [rangeText(range)], buttons });
};

/** To a person who posts a digest by hand. */
export const onItsWayMessage = (run: Which): Message => answer('On its way', run);

/** To a person who previews the next digest of a schedule. */
export const previewMessage = ({ site, range }: Pick<Which, 'site' | 'range'>): Message =>
  answer('On its way', { site, range }, "I'll send it as a direct message; nobody else sees it.", {
    what: 'a preview of the digest',
  });

/** To a person who requests a digest of any dates. It is posted there, or in their direct messages. */
export const readingMessage = ({ site, range }: Pick<Which, 'site' | 'range'>, isHere: boolean): Message =>
  answer(
    'On its way',
    { site, range },
    `I'll ${isHere ? 'post it here' : 'send it as a direct message'} in a moment.`,
  );

/** To the requester of a digest whose totals are delayed by limits. */
export const waitsMessage = ({ site, range }: Which, byMs: number): Message =>
  answer('Waiting', { site, range }, [
    'It should arrive by about ',
    { time: byMs, format: '{time}' },
    ": this hour's requests for numbers are used up. Nothing is lost.",
  ]);

/** To a person who posts a digest by hand, if the platform gives no numbers. */
export const stuckReply = (run: Which, cause: PlatformCause | undefined): Message =>
  answer(
    'No numbers yet',
    run,
    `${upperFirst(causeText(cause))}. I keep trying, and post it as soon as there are numbers.`,
  );

const openThread = (url: string | undefined) => openThreadButton(digestActions.openThread, url);

/** To a person who posted a digest by hand; `permalink` is its address. */
export const postedMessage = (run: Which, permalink: string | undefined): Message =>
  answer('Posted', run, undefined, { buttons: openThread(permalink) });

/** To a person who requests a digest that is already posted. */
export const postedAlreadyMessage = (run: Which, permalink: string | undefined): Message =>
  answer('Already posted', run, 'Nothing was posted again.', { buttons: openThread(permalink) });

/** To a person who requests a week's digest before its numbers are final. */
export const notSettledMessage = ({ range }: Week, settledMs: number): Message =>
  layout({
    lines: [
      [{ bold: 'Too early' }, ' · the platform may still count the last views of the week'],
      ['Send it after ', { time: settledMs, format: '{time}' }, '.'],
    ],
    small: [rangeText(range)],
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
  const text =
    totals !== undefined
      ? `✅ The ${digest} arrived late: the platform gave no numbers at first.`
      : ended !== undefined
        ? `❌ The ${digest} could not be sent: ${causeText(stuck)}.`
        : `⚠️ The ${digest} is late: ${causeText(stuck)}. I'll post it as soon as there are numbers.`;
  const place = { channel };
  return { key: `${id}.late`, place, kind: 'state', lowPriority: true, message: message([text]) };
}

/**
 * Returns why a digest failed, and the fix. The line before it names the channel. `code` is Slack's, or a reference.
 * `again` says how to post the digest after the fix, `retry` how if no fix is known. `orElse` is an alternative.
 */
export function failureParts(
  failure: Pick<EditionEnding, 'why' | 'code' | 'cause'> | undefined,
  project: string,
  { again, retry, orElse }: { again: string; retry: string; orElse?: string },
): { why: Part[]; fix: Part[] } {
  const code = cut(singleLine(failure?.code ?? ''), 60);
  const instead = orElse === undefined ? '' : `; or ${orElse}`;
  switch (failure?.why) {
    case 'place':
      if (isNotThere(code))
        return {
          why: ["I'm not in that channel."],
          fix: ['Type ', { code: '/invite @Docket' }, ` there, then ${again}.`],
        };
      return code === 'is_archived'
        ? { why: ['it is archived.'], fix: [`Unarchive it, then ${again}${instead}.`] }
        : {
            why: [`Slack doesn't let me post there (${code}).`],
            fix: [`Let me post there, then ${again}${instead}.`],
          };
    case 'project':
      return {
        why: [`${lowerFirst(projectMissingText({ project }))}.`],
        fix: [`The people who run Docket have to add it; then ${again}.`],
      };
    case 'broken':
      return { why: [`something broke on my side. ref ${code}`], fix: [retry] };
    default: {
      const { cause } = failure ?? {};
      const toMend = cause?.status === 400 ? 'find out why' : cause && MENDING[cause.kind];
      return {
        why: [`${causeText(failure?.cause)}.`],
        fix: [toMend === undefined ? retry : `The people who run Docket have to ${toMend}; then ${again}.`],
      };
    }
  }
}

const MENDING: Partial<Record<PlatformCause['kind'], string>> = {
  key: 'give me a key that works',
  forbidden: 'check that the plan, the IP allowlist and the key allow it',
  lost: 'check that the projectId in my settings is right',
};

/** Returns why the platform gives no numbers, as the end of a sentence. */
export function causeText(cause: PlatformCause | undefined): string {
  if (cause === undefined) return 'the platform gave no numbers';
  const { kind, status, said } = cause;
  const code = status === undefined ? '' : ` (${status})`;
  const words = said === undefined ? '' : `: "${sanitizeUserText(said, 200).replaceAll('"', "'")}"`;
  switch (kind) {
    case 'key':
      return `the platform rejects my key${code}`;
    case 'forbidden':
      return `the platform refuses to give numbers${code}${words}`;
    case 'lost':
      return `the platform doesn't know this project${code}`;
    case 'limit':
      return status === undefined
        ? "my share of the platform's hourly limit is used up"
        : "the platform's hourly limit is used up, partly by others";
    case 'down':
      if (status === undefined) return "the platform doesn't answer";
      return status >= 500
        ? `the platform answers with errors${code}`
        : `I can't read the platform's answers${code}`;
  }
}

import {
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
import type { EditionEnding, EditionRun } from './record.ts';

type Which = Pick<EditionRun, 'site' | 'range'> & { channel?: string };

/** An answer to a person about a digest: its state, its subject, a line of its own, and its days. */
function answer(
  state: string,
  { site, range, channel }: Which,
  next?: Line,
  { what = 'the digest', permalink }: { what?: string; permalink?: string | undefined } = {},
): Message {
  const subject = ` · ${what} of ${sanitizeUserText(site, 80)}`;
  const where: Part[] = channel === undefined ? [subject] : [`${subject} in `, { channel }];
  const buttons = openThreadButton(digestActions.openThread, permalink);
  return layout({ lines: [[{ bold: state }, ...where], next], small: [rangeText(range)], buttons });
}

const ANSWERS = {
  onItsWay: ['On its way'],
  preview: [
    'On its way',
    "I'll send it as a direct message; nobody else sees it.",
    'a preview of the digest',
  ],
  here: ['On its way', "I'll post it here in a moment."],
  direct: ['On its way', "I'll send it as a direct message in a moment."],
  posted: ['Posted'],
  postedAlready: ['Already posted', 'Nothing was posted again.'],
} satisfies Record<string, [state: string, next?: string, what?: string]>;

/** Returns the answer to a request for a digest. It names the channel if `run` has one; `permalink` is its address. */
export function answerMessage(name: keyof typeof ANSWERS, run: Which, permalink?: string): Message {
  const [state, next, what]: [string, string?, string?] = ANSWERS[name];
  return answer(state, run, next, { ...(what && { what }), permalink });
}

/** To the requester of a digest whose totals are delayed by limits. */
export const waitsMessage = ({ site, range }: Which, byMs: number): Message =>
  answer('Waiting', { site, range }, [
    'It should arrive by about ',
    { time: byMs, format: '{time}' },
    ": this hour's requests for numbers are used up. Nothing is lost.",
  ]);

/** To a person who posts a digest by hand, if there are no numbers. */
export const stuckReply = (run: Which & { project: string }, cause: PlatformCause | undefined): Message =>
  answer(
    'No numbers yet',
    run,
    `${upperFirst(causeText(cause, run))}. I keep trying, and post it as soon as there are numbers.`,
  );

/** To a person who requests a week's digest before its numbers are final. */
export const notFinalMessage = ({ range }: Week, finalMs: number): Message =>
  layout({
    lines: [
      [{ bold: 'Too early' }, ' · the platform may still count the last views of the week'],
      ['Send it after ', { time: finalMs, format: '{time}' }, '.'],
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
  const sentence = [
    `The ${what} of ${sanitizeUserText(run.site, 60)}`,
    ...where,
    ' could not be sent: ',
    ...why,
  ];
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
  const digest = `digest of ${sanitizeUserText(site, 60)}, ${daysText(range)},`;
  const text =
    totals !== undefined
      ? `✅ The ${digest} arrived late: the platform gave no numbers at first.`
      : ended !== undefined
        ? `❌ The ${digest} could not be sent: ${causeText(stuck, run)}.`
        : `⚠️ The ${digest} is late: ${causeText(stuck, run)}. I'll post it as soon as there are numbers.`;
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
  const { why, cause } = failure ?? {};
  const code = cut(singleLine(failure?.code ?? ''), 60);
  if (why === 'broken') return { why: [`something broke on my side. ref ${code}`], fix: [retry] };
  if (why !== 'place') {
    const toMend = cause?.status === 400 ? 'find out why' : cause && MENDING[cause.kind];
    const fix = toMend === undefined ? retry : `The people who run Docket have to ${toMend}; then ${again}.`;
    return { why: [`${causeText(cause, { project })}.`], fix: [fix] };
  }
  if (isNotThere(code)) {
    const fix = ['Type ', { code: '/invite @Docket' }, ` there, then ${again}.`];
    return { why: ["I'm not in that channel."], fix };
  }
  const [reason, change] =
    code === 'is_archived'
      ? ['it is archived.', 'Unarchive it']
      : [`Slack doesn't let me post there (${code}).`, 'Let me post there'];
  return { why: [reason], fix: [`${change}, then ${again}${orElse ? `; or ${orElse}` : ''}.`] };
}

const MENDING: Partial<Record<PlatformCause['kind'], string>> = {
  key: 'give me a key that works',
  forbidden: 'check that the plan, the IP allowlist and the key allow it',
  lost: 'check that the projectId in my settings is right',
  project: 'add it',
};

/** Returns why there are no numbers, as the end of a sentence. */
export function causeText(cause: PlatformCause | undefined, { project }: { project: string }): string {
  if (cause === undefined) return 'the platform gave no numbers';
  const { kind, status, platformMessage } = cause;
  const code = status === undefined ? '' : ` (${status})`;
  const words =
    platformMessage === undefined ? '' : `: "${sanitizeUserText(platformMessage, 200).replaceAll('"', "'")}"`;
  const down =
    status === undefined
      ? "the platform doesn't answer"
      : `${status >= 500 ? 'the platform answers with errors' : "I can't read the platform's answers"}${code}`;
  return {
    key: `the platform rejects my key${code}`,
    forbidden: `the platform refuses to give numbers${code}${words}`,
    lost: `the platform doesn't know this project${code}`,
    project: lowerFirst(projectMissingText({ project })),
    limit:
      status === undefined
        ? "my share of the platform's hourly limit is used up"
        : "the platform's hourly limit is used up, partly by others",
    down,
  }[kind];
}

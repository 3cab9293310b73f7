import { type Line, layout, type Message, openThreadButton, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { cut, joinFacts, sanitizeUserText, singleLine, upperFirst } from '../../../slack/text.ts';
import { isNotThere, platformReasonText, projectMissingText } from '../../shared/wording-view.ts';
import { digestActions } from '../buttons.ts';
import type { PlatformCause } from '../model.ts';
import { daysText, type Period, rangeText, unitOf } from '../weeks.ts';
import { type EditionEnding, type EditionRun, isScheduled } from './record.ts';

type Which = Pick<EditionRun, 'site' | 'range'> & { channel?: string };

/** An answer to a person about a digest: its state, its subject, a line of its own, and its days. */
function answer(
  state: string,
  { site, range, channel }: Which,
  next?: Line,
  { icon, permalink, cause }: { icon?: string; permalink?: string | undefined; cause?: PlatformCause } = {},
): Message {
  const subject = ` · digest of ${sanitizeUserText(site, 80)}`;
  const where: Part[] = channel === undefined ? [subject] : [`${subject} in `, { channel }];
  const buttons = openThreadButton(digestActions.openThread, permalink);
  const small = [rangeText(range), causeDetails(cause)];
  return layout({ ...(icon && { icon }), lines: [[{ bold: state }, ...where], next], small, buttons });
}

const ANSWERS = {
  onItsWay: ['On its way'],
  preview: ['Preview on its way', "I'll send it as a direct message; nobody else sees it."],
  here: ['On its way', "I'll post it here in a moment."],
  direct: ['On its way', "I'll send it as a direct message in a moment."],
  posted: ['Posted'],
  postedAlready: ['Already posted', 'Nothing was posted again.'],
} satisfies Record<string, [state: string, next?: string]>;

/** Returns the answer to a request for a digest. It names the channel if `run` has one; `permalink` is its address. */
export function answerMessage(name: keyof typeof ANSWERS, run: Which, permalink?: string): Message {
  const [state, next]: [string, string?] = ANSWERS[name];
  return answer(state, run, next, { permalink });
}

/** To the requester of a digest whose totals are delayed by limits. */
export function waitsMessage({ site, range }: Which, byMs: number): Message {
  const when: Part = { time: byMs, format: '{time}' };
  const why = ", because this hour's requests for numbers are used up.";
  return answer('Waiting', { site, range }, ["I'll send it from about ", when, why], { icon: '🕒' });
}

/** To a person who posts a digest by hand, if there are no numbers. */
export function noNumbersMessage(
  run: Which & { project: string },
  cause: PlatformCause | undefined,
): Message {
  const next = `${causeText(cause, run)}. I'll keep trying, and post it as soon as there are numbers.`;
  return answer('No numbers yet', run, next, { icon: '🕒', ...(cause && { cause }) });
}

/** To a person who requests a digest of a week or month before its numbers are final. */
export const notFinalMessage = ({ name, range }: Period, finalMs: number): Message =>
  layout({
    lines: [
      [{ bold: 'Too early' }, ` · the platform may still count the last views of the ${unitOf(name)}`],
      ['Send it after ', { time: finalMs, format: '{time}' }, '.'],
    ],
    small: [rangeText(range)],
  });

/** Returns the message to the requester of dates or a preview that failed; a schedule reports its own failures. */
export function failedMessage(run: EditionRun): OutboxMessage | undefined {
  const { ended, kind, owner, channel, project } = run;
  if (ended === undefined || ended.why === 'done' || isScheduled(run)) return undefined;
  const { lines, small } = failureParts(ended, { project, channel }, { again: 'ask for it again' });
  const subject = ` · ${sanitizeUserText(run.site, 60)}`;
  const where: Part[] = ended.why === 'place' ? [subject, ' in ', { channel }] : [subject];
  const state = kind === 'preview' ? 'Preview not sent' : 'Digest not sent';
  return {
    key: `${run.id}.failed`,
    place: { user: owner.id },
    kind: 'ending',
    message: layout({ icon: '❌', lines: [[{ bold: state }, ...where], ...lines], small }),
  };
}

/** Returns the channel's line about a schedule's digest that the platform delays, in its present form. */
export function lateMessage(run: EditionRun): OutboxMessage | undefined {
  const { id, stuck, site, range, channel, totals, ended } = run;
  if (!isScheduled(run) || stuck === undefined) return undefined;
  const line = (state: string): Part[] => [
    { bold: state },
    ` · ${sanitizeUserText(site, 60)} · ${daysText(range)}`,
  ];
  const because = causeText(stuck, run);
  const small = [causeDetails(stuck)];
  const shown =
    totals !== undefined
      ? layout({
          icon: '✅',
          lines: [line('Digest posted late')],
          small: ['The platform gave no numbers at first.'],
        })
      : ended !== undefined
        ? layout({ icon: '❌', lines: [line('Digest not posted'), `${because}.`], small })
        : layout({
            icon: '⚠️',
            lines: [line('Digest late'), `${because}. I'll post it as soon as there are numbers.`],
            small,
          });
  return { key: `${id}.late`, place: { channel }, kind: 'state', lowPriority: true, message: shown };
}

/**
 * Returns why a digest failed with the fix, line by line, and codes as small print. `again` says how to post the digest
 * after the fix. `orElse` is an alternative.
 */
export function failureParts(
  failure: Pick<EditionEnding, 'why' | 'code' | 'cause'> | undefined,
  { project, channel }: { project: string; channel: string },
  { again, orElse }: { again: string; orElse?: string },
): { lines: Line[]; small: Line[] } {
  const { why, cause } = failure ?? {};
  const code = cut(singleLine(failure?.code ?? ''), 60);
  const retry = `${upperFirst(again)} in a while.`;
  if (why === 'broken') return { lines: [`Something broke on my side. ${retry}`], small: [`ref ${code}`] };
  if (why !== 'place') {
    const task = cause?.status === 400 ? 'find out why' : cause && ADMIN_TASKS[cause.kind];
    const fix = task === undefined ? retry : `Ask your Docket admins to ${task}, then ${again}.`;
    return { lines: [`${causeText(cause, { project })}. ${fix}`], small: [causeDetails(cause)] };
  }
  if (isNotThere(code)) {
    const fix = ['. Type ', { code: '/invite @Docket' }, ` there, then ${again}.`];
    return { lines: [["I'm not in ", { channel }, ...fix]], small: [] };
  }
  const then = `, then ${again}${orElse ? `, or ${orElse}` : ''}.`;
  return code === 'is_archived'
    ? { lines: [[{ channel }, ` is archived. Unarchive it${then}`]], small: [] }
    : {
        lines: [["Slack doesn't let me post in ", { channel }, `. Change that${then}`]],
        small: [`Slack's answer: ${code}`],
      };
}

/** What admins can do about a cause. */
const ADMIN_TASKS: Partial<Record<PlatformCause['kind'], string>> = {
  key: 'renew the key',
  forbidden: 'check what the plan, the IP allowlist and my key allow',
  lost: "check the project's id",
  project: 'add it',
};

/** Returns why there are no numbers, as a sentence without its period. */
export function causeText(cause: PlatformCause | undefined, { project }: { project: string }): string {
  if (cause === undefined) return 'The platform gave no numbers';
  const { kind, status } = cause;
  return {
    key: 'My access to the docs platform was rejected',
    forbidden: "The platform won't give me numbers",
    lost: "The platform doesn't know this project",
    project: projectMissingText({ project }),
    limit:
      status === undefined
        ? "This hour's requests for numbers are used up"
        : "The platform's hourly limit is used up, partly by others",
    down:
      status === undefined
        ? "The platform isn't answering"
        : status >= 500
          ? 'The platform has trouble'
          : "I can't read the platform's answers",
  }[kind];
}

/** The platform's words and its code, for the small print. */
const causeDetails = ({ status, platformMessage }: PlatformCause = { kind: 'down' }): string =>
  joinFacts(
    platformMessage === undefined ? '' : platformReasonText(platformMessage.replaceAll('"', "'")),
    status === undefined ? '' : `HTTP ${status}`,
  );

import {
  type ButtonParts,
  compose,
  contextBlock,
  type Message,
  message,
  type Part,
} from '../../../slack/blocks.ts';
import { cut, formatCount, oneLine } from '../../../slack/text.ts';
import { personName } from '../../wording-view.ts';
import { digestActions, type ScheduleButton } from '../buttons.ts';
import { failureParts, isNotThere } from '../failure-view.ts';
import { timetableText } from '../schedule-times.ts';
import { rangeText, type Week } from '../weeks.ts';
import type { ScheduleRun } from './record.ts';
import { type DueDigest, MAX_FAILURES } from './transitions.ts';

/** A moment in each reader's own zone. */
const MOMENT_FORMAT = '{date_short_pretty} {time}';

const site = (run: ScheduleRun) => cut(oneLine(run.site), 253);

export type ScheduleAction = 'preview' | 'sendNow' | 'change' | 'remove' | 'pause' | 'resume' | 'takeOver';

const labels: Record<ScheduleAction, string> = {
  preview: 'Preview',
  sendNow: 'Send now',
  change: 'Change',
  remove: 'Remove',
  pause: 'Pause',
  resume: 'Resume',
  takeOver: 'Take over',
};

/** Returns buttons of a schedule; the first may be the obvious next step. */
export function scheduleButtons(
  { id }: Pick<ScheduleRun, 'id'>,
  ...actions: ScheduleAction[]
): ButtonParts[] {
  const value: ScheduleButton = { v: 1, schedule: id };
  return actions.map((action) => ({
    label: labels[action],
    action: digestActions[action],
    value: JSON.stringify(value),
    ...(action === 'remove' && { confirm: confirmRemoval }),
  }));
}

const confirmRemoval: NonNullable<ButtonParts['confirm']> = {
  title: 'Remove this digest?',
  text: 'No more digests of it are posted, for everybody in its channel. Those that were posted stay.',
  yes: 'Remove',
  no: 'Keep it',
  style: 'danger',
};

/** A schedule in a list: what comes where, and when it comes next. */
export function scheduleLine(run: ScheduleRun): Part[] {
  return [
    { bold: cut(oneLine(run.site), MAX_LISTED_SITE) },
    ' in ',
    { channel: run.channel },
    ` · ${timetableText(run.timetable)} · `,
    ...stateParts(run),
  ];
}

function stateParts(run: ScheduleRun): Part[] {
  switch (run.state) {
    case 'testing':
      return ['being set up'];
    case 'active':
      return ['next ', { time: run.nextAtMs, format: MOMENT_FORMAT }];
    case 'paused':
      if (run.pausedByFailures) return [`paused after ${failuresText(run.failures)}`];
      if (run.pausedByPermission)
        return [`paused: @${personName(run.owner.name)} may have no digests any more`];
      return [run.pausedBy ? `paused by @${personName(run.pausedBy.name)}` : 'paused'];
    case 'removed':
      return ['removed'];
  }
}

const MAX_LISTED_SITE = 80;

/** What can be done with a schedule in a list. */
export const listedButtons = (run: ScheduleRun): ButtonParts[] =>
  run.state === 'testing'
    ? scheduleButtons(run, 'preview', 'change', 'remove')
    : scheduleButtons(
        run,
        'preview',
        'sendNow',
        run.state === 'paused' ? 'resume' : 'pause',
        'change',
        'remove',
        ...(run.ownerLeft ? ['takeOver' as const] : []),
      );

/** To whoever has changed it, which may leave a week out, or has it go on. */
export function goesOnMessage(run: ScheduleRun, leftOut?: Week): Message {
  const when: Part[] =
    run.state === 'active'
      ? [' Next one: ', { time: run.nextAtMs, format: MOMENT_FORMAT }, '.']
      : [' It is paused.'];
  const without = leftOut && `The new time leaves out ${rangeText(leftOut.range)}. [Send now] posts it.`;
  return message(
    [
      [`Weekly, ${timetableText(run.timetable)}, in `, { channel: run.channel }, '.', ...when],
      ...(without === undefined ? [] : [[without]]),
    ],
    listedButtons(run),
  );
}

const withPrimary = ([first, ...others]: ButtonParts[]): ButtonParts[] =>
  first === undefined ? [] : [{ ...first, style: 'primary' }, ...others];

/** The first message in the channel: shows that the app may post there, and tells what is to come. */
export function testMessage(run: ScheduleRun): Message {
  const what: Part[][] = [
    [`📊 Weekly digest of ${site(run)} comes here, ${timetableText(run.timetable)}.`],
    ...(run.alerts ? [['A day with unusually many or few views is told, too.']] : []),
  ];
  const small = contextBlock([
    [`Set up by @${personName(run.owner.name)} · `, { code: '/docs-digest list' }],
  ]);
  return compose(what, [message(what), small]);
}

/** To whoever set it up. */
export const createdMessage = (run: ScheduleRun): Message =>
  message(
    [
      [
        `Weekly, ${timetableText(run.timetable)}. First one: `,
        { time: run.nextAtMs, format: MOMENT_FORMAT },
        '.',
      ],
    ],
    scheduleButtons(run, 'preview', 'sendNow', 'change', 'remove'),
  );

/** To whoever set it up, when the app may not post in the channel. */
export function noPlaceMessage(run: ScheduleRun, code: string): Message {
  const where: Part = { channel: run.channel };
  if (isNotThere(code))
    return message([
      [
        "I can't post in ",
        where,
        ' yet, so nothing was set up. Type ',
        { code: '/invite @Docket' },
        ' there, then ',
        { code: '/docs-digest create' },
        ' again.',
      ],
    ]);
  return message([
    ["Slack doesn't let me post in ", where, ` (${code}), so nothing was set up. Choose another channel.`],
  ]);
}

/** To the owner: a digest could not be posted. */
export function failedMessage(run: ScheduleRun): Message {
  const paused = run.pausedByFailures
    ? [[`Paused after ${failuresText(MAX_FAILURES)}; it goes on when one could be posted.`]]
    : [];
  return message(
    [...failedLines(run), ...paused],
    withPrimary(
      scheduleButtons(run, 'sendNow', ...(run.pausedByFailures ? ['resume' as const] : []), 'remove'),
    ),
  );
}

function failedLines(run: ScheduleRun): Part[][] {
  const { why, fix } = failureParts(run.failure, run.project, {
    again: '[Send now]',
    retry: 'Choose [Send now] to try again.',
    orElse: 'remove this digest',
  });
  return [[`❌ I couldn't post the digest of ${site(run)} in `, { channel: run.channel }, ': ', ...why], fix];
}

const failuresText = (failures: number) =>
  failures === 1 ? '1 failure' : `${formatCount(failures)} failures`;

/** To the admins: its owner has left, and its channel, which would hear of it, takes no posts. */
export const abandonedMessage = (run: ScheduleRun): Message =>
  message(
    [
      ...failedLines(run),
      [
        `@${personName(run.owner.name)}, who set it up, has left. Paused; it goes on when one could be posted.`,
      ],
    ],
    withPrimary(scheduleButtons(run, 'sendNow', 'takeOver', 'remove')),
  );

/** To the owner: digests that were missed for more than two days. */
export function skippedMessage(run: ScheduleRun, skipped: readonly DueDigest[]): Message {
  const weeks = skipped.map(({ week, dueAtMs }): Part[] => [
    `${rangeText(week.range)}, due `,
    { time: dueAtMs, format: MOMENT_FORMAT },
  ]);
  const listed = weeks.slice(-MAX_LISTED);
  const more = weeks.length - listed.length;
  return message([
    [
      `⚠️ ${skipped.length === 1 ? 'A digest' : 'Digests'} of ${site(run)} in `,
      { channel: run.channel },
      ' could not be sent within two days, and then came to nothing:',
    ],
    ...listed,
    ...(more > 0 ? [[`and ${formatCount(more)} before.`]] : []),
    [`The next one comes on its day. For an earlier week type `, { code: '/docs-digest <range>' }, ' there.'],
  ]);
}

const MAX_LISTED = 5;

/** To the owner, who may have no digests any more. */
export const notPermittedMessage = (run: ScheduleRun): Message =>
  message(
    [
      [
        `⏸ Paused: you may no longer set up digests, so that of ${site(run)} in `,
        { channel: run.channel },
        ' is not posted.',
      ],
      ['Ask whoever runs Docket for the permission, then choose [Resume].'],
    ],
    scheduleButtons(run, 'resume', 'remove'),
  );

/** In the channel, once: the person whose digest it is has left. */
export const ownerLeftMessage = (run: ScheduleRun): Message =>
  message(
    [
      [
        `⚠️ @${personName(run.owner.name)}, who set up the weekly digest of ${site(run)}, has left. It goes on.`,
      ],
      ['Whoever takes it over hears when it cannot be posted.'],
    ],
    scheduleButtons(run, 'takeOver'),
  );

/** The same after somebody took it over. */
export const takenOverMessage = (run: ScheduleRun, from: { name: string }): Message =>
  message([
    [
      `The weekly digest of ${site(run)} was set up by @${personName(from.name)}, who has left. ` +
        `@${personName(run.owner.name)} took it over.`,
    ],
  ]);

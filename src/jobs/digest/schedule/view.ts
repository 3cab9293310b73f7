import { layout, type Message, message, moment, type Part } from '../../../slack/blocks.ts';
import { countOf, cut, formatCount, singleLine, upperFirst } from '../../../slack/text.ts';
import { timetableText, WEEKDAYS } from '../../schedule/timetable.ts';
import { scheduleViews } from '../../schedule/view.ts';
import type { RunNeeds } from '../../shared/feature.ts';
import { LABELS, personName } from '../../shared/wording-view.ts';
import { digestActions } from '../buttons.ts';
import { CHECK_COUNTING, pathText } from '../edition/phrases.ts';
import { failureParts } from '../edition/reply-view.ts';
import type { PlatformCause } from '../model.ts';
import { daysText, type Period, rangeText, unitOf } from '../weeks.ts';
import { type Alert, editionKindOf, periodAt, type ScheduleRun } from './record.ts';

const whatOf = (run: Pick<ScheduleRun, 'timetable'>) => `${editionKindOf(run)} digest`;

const views = scheduleViews<ScheduleRun, 'preview' | 'sendNow'>({
  what: whatOf,
  short: 'digest',
  done: 'posted',
  actions: digestActions,
  labels: { preview: 'Preview digest', sendNow: LABELS.runNow },
  first: 'preview',
  now: 'sendNow',
  confirmRemoval: {
    title: 'Remove this digest?',
    text: 'Its channel gets no more digests. Those already posted stay.',
  },
  cannot: 'set up digests',
  create: '/docs-digest create',
  ownerLeft: () => "Take it over to hear when a digest can't be posted.",
});
const { site, primaryFirst } = views;

/** To the person who changed it: the change may skip a week or month, or resume the schedule. */
export const changedMessage = (run: ScheduleRun, leftOut?: Period): Message =>
  views.changed(
    run,
    leftOut &&
      `The new time skips ${unitOf(leftOut.name) === 'week' ? 'the week ' : ''}${daysText(leftOut.range)}. [${LABELS.runNow}] posts it.`,
  );

const MAX_LISTED = 5;

const RUN_NOW = `choose [${LABELS.runNow}]`;

const subjectLine = (state: string, run: ScheduleRun): Part[] => [
  { bold: state },
  ` · ${site(run)} in `,
  { channel: run.channel },
];

/** The messages of the schedule's steps. */
export const scheduleNotes = {
  ...views,

  /** The first message in the channel: shows that the app may post there, and announces the digests. */
  test(run: ScheduleRun): Message {
    const when = `${timetableText(run.timetable)} · set up by ${personName(run.owner.name)} · `;
    return layout({
      icon: '📊',
      lines: [
        [{ bold: upperFirst(whatOf(run)) }, ` of ${site(run)}, posted here from now on`],
        run.alerts && 'I also post about days with unusually many or few views.',
      ],
      small: [[when, { code: '/docs-digest list' }]],
    });
  },

  /** To the owner: a digest could not be posted. */
  failed(run: ScheduleRun): Message {
    const { lines, small } = failureParts(run.failure, run, { again: RUN_NOW, orElse: 'remove this digest' });
    const isPaused = run.pausedBy === 'failures';
    const paused = `Paused after ${countOf(run.failures, 'failure')}; it resumes once a post succeeds.`;
    return layout({
      icon: '❌',
      lines: [subjectLine('Digest not posted', run), ...lines],
      small: [isPaused && paused, ...small],
      buttons: primaryFirst(run, 'sendNow', ...(isPaused ? (['resume'] as const) : []), 'remove'),
    });
  },

  /** To the owner: the platform gives no numbers for a digest that is due. */
  late(run: ScheduleRun, cause: PlatformCause): Message {
    const { lines, small } = failureParts({ why: 'platform', cause }, run, { again: RUN_NOW });
    return layout({
      icon: '⚠️',
      lines: [subjectLine('Digest late', run), ...lines],
      small: ['I also try again every half hour, for two days.', ...small],
      buttons: primaryFirst(run, 'sendNow', 'remove'),
    });
  },

  /** To the owner: digests that were missed by more than two days. */
  skipped(run: ScheduleRun, dueTimes: readonly number[], nowMs: number): Message {
    const more = dueTimes.length - MAX_LISTED;
    const isOne = dueTimes.length === 1;
    const what = `${isOne ? 'a digest' : countOf(dueTimes.length, 'digest')} of ${site(run)} in `;
    const then = `, because I couldn't post ${isOne ? 'it' : 'them'} within two days:`;
    const unit = run.timetable.monthly ? 'month' : 'week';
    const last = periodAt(run, nowMs);
    const canRun = periodAt(run, dueTimes.at(-1) ?? 0).name === last.name;
    const command = { code: '/docs-digest <range>' };
    return layout({
      icon: '➖',
      lines: [
        [{ bold: 'Skipped' }, ` ${what}`, { channel: run.channel }, then],
        ...dueTimes
          .slice(-MAX_LISTED)
          .map((dueAtMs) => [`${rangeText(periodAt(run, dueAtMs).range)}, due `, moment(dueAtMs)]),
        more > 0 && `and ${formatCount(more)} before.`,
        [
          'The next one comes on schedule.',
          canRun ? ` [${LABELS.runNow}] posts that of ${daysText(last.range)}.` : '',
          ...(canRun && isOne ? [] : [` For an earlier ${unit}, type `, command, ' there.']),
        ],
      ],
      buttons: canRun ? primaryFirst(run, 'sendNow') : [],
    });
  },
};

/** A page's views on the alert's day or days, and on the days compared with; of several days, per day. */
interface MovedPage {
  path: string;
  now: number;
  before: number;
}

const names = { human: 'People', ai: 'AI' } as const;

/** In the channel: a day with unusual views. */
export function alertMessage(
  run: Pick<ScheduleRun, 'site'>,
  day: string,
  alerts: readonly Alert[],
  moved: readonly MovedPage[],
): Message {
  const date = Temporal.PlainDate.from(day);
  const weekday = WEEKDAYS[date.dayOfWeek - 1] ?? '';
  const when = `${weekday.slice(0, 3)} ${date.day} ${date.toLocaleString('en-US', { month: 'short' })}`;
  const periods = alerts.map(({ ofWeek }) => (ofWeek ? ' over the last week' : ` on ${when}`));
  const [period] = periods;
  const isSame = periods.every((one) => one === period);
  const changes = alerts.map(({ by, now, usual }, at) => {
    const percent = formatCount(Math.round((100 * Math.abs(now - usual)) / usual));
    return `${names[by]} ${now < usual ? 'down' : 'up'} ${percent}%${isSame ? '' : periods[at]}`;
  });
  const numbers = alerts.map(({ by, now, usual, ofWeek }) => {
    const whose = alerts.length > 1 ? `${names[by]} ` : '';
    return `${whose}${formatCount(usual)} → ${formatCount(now)}${ofWeek ? ' a day' : ''}`;
  });
  const pages = moved.map(
    ({ path, now, before }) => `${pathText(path)} ${formatCount(before)} → ${formatCount(now)}`,
  );
  // No views by AI alone may have other causes: a site can block it.
  const isBroken = alerts.some(({ by, now }) => by === 'human' && now === 0);
  const isRise = alerts.every(({ now, usual }) => now > usual);
  const against = alerts.every(({ ofWeek }) => ofWeek) ? 'seven weeks before' : `last eight ${weekday}s`;
  return layout({
    icon: isBroken ? '⚠️' : isRise ? '📈' : '📉',
    lines: [
      [
        { bold: `${changes.join(', ')}${isSame ? period : ''}` },
        ` · ${cut(singleLine(run.site), 253)} · ${numbers.join(', ')}`,
      ],
      isBroken && CHECK_COUNTING,
    ],
    small: [pages.length > 0 && `mostly ${pages.join(', ')}`, `compared with the ${against}`],
  });
}

/** Only the owner sees these, and has to act: a digest that could not be posted, or a lost permission. */
export const scheduleNeeds: RunNeeds<ScheduleRun> = {
  isTrouble: true,
  /** A person who has a digest sent again first sees its result. */
  of({ state, owner, ownerLeft, pausedBy, failures, failure, posting }) {
    if (state === 'removed' || state === 'testing' || ownerLeft) return [];
    if (pausedBy === 'permission') return [{ user: owner.id, id: 'permission' }];
    return failures > 0 && posting === undefined ? [{ user: owner.id, id: `failed ${failure?.week}` }] : [];
  },
  line(run, { id }) {
    return id === 'permission'
      ? ['⏸ ', ...subjectLine('Paused', run), ' · you may no longer set up digests']
      : ['❌ ', ...subjectLine('Digest not posted', run)];
  },
  question: (run, { id }) => (id === 'permission' ? scheduleNotes.notPermitted : scheduleNotes.failed)(run),
  answered(run) {
    if (run.state === 'removed') return message(['This digest was already removed.']);
    return run.posting === undefined ? changedMessage(run) : message(['This digest is on its way.']);
  },
};

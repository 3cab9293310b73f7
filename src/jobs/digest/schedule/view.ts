import { layout, type Message, message, moment, type Part } from '../../../slack/blocks.ts';
import { countOf, cut, formatCount, sanitizeUserText, singleLine } from '../../../slack/text.ts';
import type { Need, RunNeeds } from '../../feature.ts';
import { timetableText, WEEKDAYS } from '../../schedule/timetable.ts';
import { scheduleViews } from '../../schedule/view.ts';
import { personName } from '../../wording-view.ts';
import { digestActions } from '../buttons.ts';
import { CHECK_COUNTING, pathText, viewsText } from '../edition/phrases.ts';
import { failureParts } from '../edition/reply-view.ts';
import type { PlatformCause } from '../model.ts';
import { daysText, lastCompleteWeek, rangeText, type Week } from '../weeks.ts';
import type { Alert, ScheduleRun } from './record.ts';

const views = scheduleViews<ScheduleRun, 'preview' | 'sendNow'>({
  ...{ what: 'weekly digest', short: 'digest', done: 'posted' },
  actions: digestActions,
  labels: { preview: 'Preview', sendNow: 'Send now' },
  first: 'preview',
  now: 'sendNow',
  confirmRemoval: {
    title: 'Remove this digest?',
    text: 'Its channel gets no more digests. Those already posted stay.',
  },
  cannot: 'set up digests',
  create: '/docs-digest create',
  ownerLeft: ['continues, but', 'The new owner gets a message if it cannot be posted.'],
});
const { site, primaryFirst } = views;

/** To the person who changed it: the change may skip a week, or resume the schedule. */
export const changedMessage = (run: ScheduleRun, leftOut?: Week): Message =>
  views.changed(
    run,
    leftOut && `The new time skips the week ${daysText(leftOut.range)}. [Send now] posts it.`,
  );

const MAX_LISTED = 5;

/** The messages of the schedule's steps. */
export const scheduleNotes = {
  ...views,

  /** The first message in the channel: shows that the app may post there, and announces the digests. */
  test(run: ScheduleRun): Message {
    const when = `${timetableText(run.timetable)} · set up by ${personName(run.owner.name)} · `;
    return layout({
      icon: '📊',
      lines: [
        ['The ', { bold: 'weekly digest' }, ` for ${site(run)} will be posted here`],
        run.alerts && 'I also post about days with unusually many or few views.',
      ],
      small: [[when, { code: '/docs-digest list' }]],
    });
  },

  /** To the owner: a digest could not be posted. */
  failed(run: ScheduleRun): Message {
    const retry = 'Choose [Send now] to try again.';
    const wanted = { again: '[Send now]', retry, orElse: 'remove this digest' };
    const { why, fix } = failureParts(run.failure, run.project, wanted);
    const isPaused = run.pausedBy === 'failures';
    const subject = [`The digest of ${site(run)} couldn't be posted in `, { channel: run.channel }, ': '];
    const paused = `Paused after ${countOf(run.failures, 'failure')}; it resumes once a post succeeds.`;
    return layout({
      icon: '❌',
      lines: [[...subject, ...why], fix],
      small: [isPaused && paused],
      buttons: primaryFirst(run, 'sendNow', ...(isPaused ? (['resume'] as const) : []), 'remove'),
    });
  },

  /** To the owner: the platform gives no numbers for a digest that is due. */
  late(run: ScheduleRun, cause: PlatformCause): Message {
    const wanted = { again: '[Send now]', retry: 'Choose [Send now] to try again now.' };
    const { why, fix } = failureParts({ why: 'platform', cause }, run.project, wanted);
    return layout({
      icon: '⚠️',
      lines: [[`The digest of ${site(run)} in `, { channel: run.channel }, ' is late: ', ...why], fix],
      small: ['I also try again every half hour, for two days.'],
      buttons: primaryFirst(run, 'sendNow', 'remove'),
    });
  },

  /** To the owner: digests that were missed by more than two days. */
  skipped(run: ScheduleRun, dueTimes: readonly number[]): Message {
    const more = dueTimes.length - MAX_LISTED;
    const isOne = dueTimes.length === 1;
    const what = `${isOne ? 'A digest' : countOf(dueTimes.length, 'digest')} of ${site(run)} in `;
    const then = ` could not be sent within two days, so ${isOne ? 'it was' : 'they were'} left out:`;
    const command = { code: '/docs-digest <range>' };
    return layout({
      icon: '⚠️',
      lines: [
        [what, { channel: run.channel }, then],
        ...dueTimes
          .slice(-MAX_LISTED)
          .map((dueAtMs) => [`${rangeText(lastCompleteWeek(dueAtMs).range)}, due `, moment(dueAtMs)]),
        more > 0 && `and ${formatCount(more)} before.`,
        ['The next one comes on schedule. For an earlier week, type ', command, ' there.'],
      ],
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
  const changes = alerts.map(({ by, now, usual, lasting }) => {
    const percent = formatCount(Math.round((100 * Math.abs(now - usual)) / usual));
    return `${names[by]} ${now < usual ? 'down' : 'up'} ${percent}%${lasting ? ' for days' : ''}`;
  });
  const numbers = alerts.map(({ by, now, usual, lasting }) => {
    const whose = alerts.length > 1 ? `${names[by]}: ` : '';
    const perDay = lasting ? ' a day in the last week' : '';
    return `${whose}${viewsText(now)}${perDay}, usually about ${formatCount(usual)}.`;
  });
  const pages = moved.map(
    ({ path, now, before }) => `${pathText(path)} ${formatCount(before)} → ${formatCount(now)}`,
  );
  // No views by AI alone may have other causes: a site can block it.
  const isBroken = alerts.some(({ by, now }) => by === 'human' && now === 0);
  const against = alerts.every(({ lasting }) => lasting) ? 'seven weeks before' : `last eight ${weekday}s`;
  return layout({
    icon: '⚠️',
    lines: [
      [{ bold: changes.join(', ') }, ` · ${cut(singleLine(run.site), 253)} · ${when}`],
      numbers.join(' '),
      pages.length > 0 && `Most of it: ${pages.join(' · ')}`,
      isBroken && 'None at all usually means that counting broke.',
      isBroken && CHECK_COUNTING,
    ],
    small: [`Compared with the ${against}`],
  });
}

/** Only the owner sees these, and has to act: a digest that could not be posted, or a lost permission. */
export const scheduleNeeds: RunNeeds<ScheduleRun> = {
  of(run) {
    const kind = kindOf(run);
    return kind === undefined ? [] : [{ user: run.owner.id, id: kind }];
  },
  line(run, { id }) {
    const digest: Part[] = [`the digest of ${sanitizeUserText(run.site, 80)} in `, { channel: run.channel }];
    return id === 'permission'
      ? ['⏸ ', { bold: 'Paused' }, ' · you may no longer set up ', ...digest]
      : ['❌ ', { bold: 'Digest failed' }, ' · I could not post ', ...digest];
  },
  question: (run, { id }) => (id === 'permission' ? scheduleNotes.notPermitted : scheduleNotes.failed)(run),
  answered(run) {
    if (run.state === 'removed') return message(['This digest was already removed.']);
    return run.posting === undefined ? changedMessage(run) : message(['This digest is on its way.']);
  },
};

/** A person who has a digest sent again first sees its result. */
function kindOf(run: ScheduleRun): Need['id'] | undefined {
  if (run.state === 'removed' || run.state === 'testing' || run.ownerLeft) return undefined;
  if (run.pausedBy === 'permission') return 'permission';
  return run.failures > 0 && run.posting === undefined ? `failed ${run.failure?.week}` : undefined;
}

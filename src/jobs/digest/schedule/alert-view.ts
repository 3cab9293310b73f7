import { layout, type Message, type Part } from '../../../slack/blocks.ts';
import { cut, formatCount, singleLine } from '../../../slack/text.ts';
import type { Alert } from '../alerts.ts';
import { CHECK_COUNTING, pathText, viewsText } from '../edition/phrases.ts';
import { WEEKDAYS } from '../schedule-times.ts';
import type { ScheduleRun } from './record.ts';

/** A page's views on the alert's day or days, and on the days compared with; of several days, per day. */
export interface MovedPage {
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
  const site = cut(singleLine(run.site), 253);
  const change = ({ by, now, usual, lasting }: Alert, unit: string) =>
    `${names[by]} ${now < usual ? 'down' : 'up'} ${percent(now, usual)}${unit}${lasting ? ' for days' : ''}`;
  const changes = alerts.map((alert) => change(alert, '%')).join(', ');
  const spoken = alerts.map((alert) => change(alert, ' percent')).join(', ');
  const numbers = alerts
    .map(({ by, now, usual, lasting }) => {
      const whose = alerts.length > 1 ? `${names[by]}: ` : '';
      const perDay = lasting ? ' a day in the last week' : '';
      return `${whose}${viewsText(now)}${perDay}, usually about ${formatCount(usual)}.`;
    })
    .join(' ');
  // No views by AI alone may have other causes: a site can block it.
  const isBroken = alerts.some(({ by, now }) => by === 'human' && now === 0);
  const broken = isBroken ? [['None at all usually means that counting broke.'], [CHECK_COUNTING]] : [];
  const mostOfIt = (join: (page: MovedPage) => string): Part[][] =>
    moved.length > 0 ? [[`Most of it: ${moved.map(join).join(' · ')}`]] : [];
  const shown = ({ path, now, before }: MovedPage) =>
    `${pathText(path)} ${formatCount(before)} → ${formatCount(now)}`;
  const said = ({ path, now, before }: MovedPage) =>
    `${pathText(path)} from ${formatCount(before)} to ${formatCount(now)}`;
  const against = alerts.every(({ lasting }) => lasting)
    ? 'Compared with the seven weeks before'
    : `Compared with the last eight ${weekday}s`;
  return layout({
    lines: [['⚠️ ', { bold: changes }, ` · ${site} · ${when}`], [numbers], ...mostOfIt(shown), ...broken],
    small: [[against]],
    text: [[`${spoken} on ${site}, ${when}: ${numbers}`], ...mostOfIt(said), ...broken, [`${against}.`]],
  });
}

const percent = (now: number, usual: number) =>
  formatCount(Math.round((100 * Math.abs(now - usual)) / usual));

import { compose, type Message, message, type Part } from '../../../slack/blocks.ts';
import { cut, formatCount, oneLine } from '../../../slack/text.ts';
import type { Alert } from '../alerts.ts';
import { pathText } from '../edition/phrases.ts';
import { WEEKDAYS } from '../schedule-times.ts';
import type { ScheduleRun } from './record.ts';

/** A page of a day, and of the same day a week earlier. */
export interface MovedPage {
  path: string;
  now: number;
  before: number;
}

const names = { human: 'people', ai: 'AI' } as const;

/** In the channel: a day whose views are not what they usually are. */
export function alertMessage(
  run: Pick<ScheduleRun, 'site'>,
  day: string,
  alerts: readonly Alert[],
  moved: readonly MovedPage[],
): Message {
  const date = Temporal.PlainDate.from(day);
  const weekday = WEEKDAYS[date.dayOfWeek - 1] ?? '';
  const when = `${weekday.slice(0, 3)} ${date.day} ${date.toLocaleString('en-US', { month: 'short' })}`;
  const site = cut(oneLine(run.site), 253);
  const changes = alerts.map(({ by, now, usual }) => {
    const sign = now < usual ? '−' : '+';
    return `${names[by]} ${sign}${percent(now, usual)}% (${formatCount(now)}, usually about ${formatCount(usual)})`;
  });
  const spoken = alerts.map(({ by, now, usual }) => {
    const direction = now < usual ? 'down' : 'up';
    return `${names[by]} ${direction} ${percent(now, usual)} percent, ${formatCount(now)} views, usually about ${formatCount(usual)}`;
  });
  const against = `on ${when} against the last eight ${weekday}s`;
  const pages = moved.map(
    ({ path, now, before }) => `${pathText(path)} ${formatCount(before)} → ${formatCount(now)}`,
  );
  // AI alone may have none for other reasons: a site can turn it away.
  const isBroken = alerts.some(({ by, now }) => by === 'human' && now === 0);
  const rest: Part[][] = [
    ...(pages.length > 0 ? [[`Most of it: ${pages.join(' · ')}`]] : []),
    ...(isBroken ? [['None at all usually means that counting broke.']] : []),
  ];
  return compose(
    [[`⚠️ ${site}: ${spoken.join('; ')}, ${against}.`], ...rest],
    [message([['⚠️ ', { bold: site }, ` · ${changes.join(' · ')} ${against}.`], ...rest])],
  );
}

const percent = (now: number, usual: number) =>
  formatCount(Math.round((100 * Math.abs(now - usual)) / usual));

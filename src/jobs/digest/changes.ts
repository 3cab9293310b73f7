import { formatCount } from '../../slack/text.ts';
import { type Counts, totalOf } from './model.ts';

/** Below this, a difference says more than a percentage. */
const MIN_FOR_PERCENT = 50;

type Change =
  | { kind: 'same' }
  | { kind: 'new' }
  | { kind: 'difference'; up: boolean; by: string }
  | { kind: 'percent'; up: boolean; by: string };

/** Also a difference if the percentage would round to zero. */
function changeOf(now: number, before: number): Change {
  if (now === before) return { kind: 'same' };
  if (before === 0) return { kind: 'new' };
  const up = now > before;
  const percent = percentOf(now, before);
  return Math.min(now, before) < MIN_FOR_PERCENT || percent === 0
    ? { kind: 'difference', up, by: formatCount(Math.abs(now - before)) }
    : { kind: 'percent', up, by: formatCount(percent) };
}

const percentOf = (now: number, before: number) => Math.round((100 * Math.abs(now - before)) / before);

/** Returns a change as a digest shows it: "▲ 6%", "▼ 2%"; small numbers as "+3", "−3"; "new", "±0". */
export function changeText(now: number, before: number): string {
  const change = changeOf(now, before);
  switch (change.kind) {
    case 'same':
      return '±0';
    case 'new':
      return 'new';
    case 'difference':
      return `${change.up ? '+' : '−'}${change.by}`;
    case 'percent':
      return `${change.up ? '▲' : '▼'} ${change.by}%`;
  }
}

/** Returns a change for screen readers: "up 6 percent", "3 fewer". */
export function spokenChange(now: number, before: number): string {
  const change = changeOf(now, before);
  switch (change.kind) {
    case 'same':
      return 'unchanged';
    case 'new':
      return 'none before';
    case 'difference':
      return `${change.by} ${change.up ? 'more' : 'fewer'}`;
    case 'percent':
      return `${change.up ? 'up' : 'down'} ${change.by} percent`;
  }
}

/** Returns both numbers of a change: "840 → 420, ▼ 50%", without a percentage if that says little. */
export function bothText(now: number, before: number): string {
  const percent = before < MIN_FOR_PERCENT ? 0 : percentOf(now, before);
  const change = percent === 0 ? '' : `, ${now > before ? '▲' : '▼'} ${formatCount(percent)}%`;
  return `${formatCount(before)} → ${formatCount(now)}${change}`;
}

/** Returns the share of AI in views: "27%". It is 0% or 100% only if it is exactly none or all. */
export function shareText(views: Counts): string {
  const total = totalOf(views);
  const percent = total === 0 ? 0 : Math.round((100 * views.ai) / total);
  if (percent === 0 && views.ai > 0) return 'under 1%';
  if (percent === 100 && views.human > 0) return 'over 99%';
  return `${percent}%`;
}

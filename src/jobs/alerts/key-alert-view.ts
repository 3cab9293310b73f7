import { layout, type Message, type Part } from '../../slack/blocks.ts';
import { listNames } from '../wording-view.ts';

export interface RejectedKey {
  /** The setting that holds it. */
  variable: string;
  /** The projects that it is for, where there are others. */
  names: readonly string[];
  sinceMs: number;
  /** What waits because of it; empty for nothing. */
  waiting: string;
}

/** Which key is rejected, of which projects, since when, and what waits because of it. */
export function rejectedKeyLine({ variable, names, sinceMs, waiting }: RejectedKey): Part[] {
  const of = names.length > 0 ? ` (${listNames(names)})` : '';
  return [
    { bold: variable },
    `${of} is rejected since `,
    { time: sinceMs, format: '{date_short_pretty} {time}' },
    waiting === '' ? '.' : `; ${waiting}.`,
  ];
}

export function keyAlertMessage(key: RejectedKey): Message {
  const fix = 'Set a new one and restart me; what waits goes on by itself then.';
  return layout({
    lines: [['🔑 ', ...rejectedKeyLine(key)], [fix]],
    small: [['I tell you once an hour at most.']],
    text: [rejectedKeyLine(key), [fix]],
  });
}

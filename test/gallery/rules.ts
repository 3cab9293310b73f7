import type { GalleryState } from './state.ts';
import { spokenText } from './words.ts';

/** What a phone shows of a message without opening it. */
const NOTIFICATION_LENGTH = 120;

/** Returns what is wrong with the `text` of a message, for somebody who reads or hears no more than its beginning. */
export function textProblems({ shown, says }: GalleryState): string[] {
  if (shown.kind !== 'message') return [];
  const text = spokenText(shown.message.text);
  const beginning = Array.from(text).slice(0, NOTIFICATION_LENGTH).join('');
  const missing = (part: 'state' | 'subject') =>
    says === undefined || has(beginning, says[part])
      ? []
      : [`does not begin with its ${part} "${says[part]}"`];
  const bar = /[▓░▰▱█]{2}/u.test(text) ? ['has a bar, which cannot be read aloud'] : [];
  return [...missing('state'), ...missing('subject'), ...bar];
}

const has = (text: string, word: string) => text.toLowerCase().includes(word.toLowerCase());

import { createStandInSlack } from '../../demo/slack/slack.ts';
import type { Block } from '../../demo/slack/workspace.ts';
import type { GalleryState } from './state.ts';
import { spokenText } from './words.ts';

/** What a phone shows of a message without opening it. */
const NOTIFICATION_LENGTH = 120;
/** Whoever looks at a message reads that many lines of it. */
const FIRST_LINES = 2;

const slack = createStandInSlack();

/** Returns what is wrong with a message for somebody who reads or hears no more than its beginning. */
export function problemsOf({ shown, says }: GalleryState): string[] {
  if (shown.kind !== 'message') return [];
  const text = spokenText(shown.message.text);
  const bar = /[▓░▰▱█]{2}/u.test(text) ? ['its text has a bar, which cannot be read aloud'] : [];
  if (says === undefined) return bar;
  const spoken = Array.from(text).slice(0, NOTIFICATION_LENGTH).join('');
  const seen = slack
    .read({ text, blocks: shown.message.blocks as unknown as Block[] })
    .split('\n')
    .slice(0, FIRST_LINES)
    .join('\n');
  const { state, subject, shows = state, isBelowCard } = says;
  return [
    ...lacks('its text', spoken, [state, subject]),
    ...lacks('the message', seen, [shows, isBelowCard ? shows : subject]),
    ...bar,
  ];
}

const lacks = (what: string, text: string, words: string[]) =>
  words
    .filter((word) => !text.toLowerCase().includes(word.toLowerCase()))
    .map((word) => `${what} does not begin with "${word}"`);

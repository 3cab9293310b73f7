import { cut, singleLine } from '../../../slack/text.ts';

/** Longest quotation, and how much of a longer text is looked at. */
const MAX_QUOTED = 200;
const MAX_SOURCE = 5000;

/** What could end a quotation, or be taken for its end, in any script; and what would begin code. */
const quoteMarks = /[\p{Quotation_Mark}\p{Pi}\p{Pf}`´″‶❛❜❝❞❮❯״ʺ˝ˮ]/gu;

/**
 * Returns what readers wrote as data in quotes: one line, cut, without anything invisible, and without any further quote
 * mark or backslash, so that nothing in it can end the quotation.
 */
export function quotedWords(text: string): string {
  const line = cut(singleLine(text.slice(0, MAX_SOURCE).toWellFormed()), MAX_QUOTED);
  return `"${line.replace(quoteMarks, "'").replaceAll('\\', '/')}"`;
}

import { cut, singleLine } from '../../../slack/text.ts';

/** Maximum length of a quotation, and of the text that is read for it. */
const MAX_QUOTED = 200;
const MAX_SOURCE = 5000;

/** Characters that could end a quotation, or look like its end, in any script; and those that begin code. */
const quoteMarks = /[\p{Quotation_Mark}\p{Pi}\p{Pf}`´″‶❛❜❝❞❮❯״ʺ˝ˮ]/gu;

/**
 * Returns text from readers as quoted data: one line, cut, without invisible characters, quote marks or backslashes. So
 * nothing in it can end the quotation.
 */
export function quotedWords(text: string): string {
  const line = cut(singleLine(text.slice(0, MAX_SOURCE).toWellFormed()), MAX_QUOTED);
  return `"${line.replace(quoteMarks, "'").replaceAll('\\', '/')}"`;
}

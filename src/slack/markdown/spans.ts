import { stripInvisible } from '../visible.ts';
import type { MarkdownOptions } from './names.ts';

/** A piece of text in one Slack style. It may have several lines; entities are decoded, tokens resolved. */
export interface Span {
  text: string;
  bold?: boolean;
  italic?: boolean;
  strike?: boolean;
  code?: boolean;
  /** The address that the text links to. */
  url?: string;
  /** The id of the user that it mentions. */
  mentions?: string;
}

/** Returns the text with `\n` as line ends, without control and other invisible characters. */
export function cleanText(text: string): string {
  return stripInvisible(
    text.replace(/\r\n?|[\u2028\u2029]/g, '\n').replace(/(?![\n\t])\p{Cc}/gu, ''),
  ).toWellFormed();
}

/** Returns the spans without any mention of this user, and without its punctuation or space. */
export function withoutMention(
  spans: readonly Span[],
  { withoutMention: userId }: Pick<MarkdownOptions, 'withoutMention'>,
): readonly Span[] {
  if (userId === undefined) return spans;
  const kept: Span[] = [];
  let dropped = false;
  for (const span of spans) {
    if (span.mentions === userId) {
      dropped = true;
    } else if (dropped) {
      dropped = false;
      appendAfterMention(kept, span);
    } else {
      kept.push({ ...span });
    }
  }
  return kept;
}

/** Appends the span after a dropped mention to the kept ones, and removes the mention's punctuation or space. */
function appendAfterMention(kept: Span[], next: Span) {
  const last = kept.at(-1);
  const before = last?.text ?? '';
  let { text } = next;
  if (!next.code) {
    if (before === '' || before.endsWith('\n')) text = text.replace(/^[ \t]*(?:[,:;–—-](?=\s|$))?[ \t]*/, '');
    else if (last && !last.code && /^[,.:;!?]+(?=\s|$)/.test(text)) last.text = before.trimEnd();
    else if (/\s$/.test(before)) text = text.replace(/^[ \t]+/, '');
  }
  kept.push({ ...next, text });
}

/**
 * An argument or a flag as typed, without the quotes around it. A flag's `value` is what stands behind its `=`. `start` and `end` are
 * where the token stands in the text, quotes included.
 */
export type Token = { start: number; end: number } & (
  | { kind: 'plain'; text: string }
  | { kind: 'flag'; name: string; value: string | undefined }
);

/** Members of one line open and close each other: keyboards and pasting mix them. */
const quoteFamilies = ['"“”„‟«»″＂〝〞〟❝❞', "'‘’‚‛‹›`´′＇❛❜", '「」', '『』'];
const quotes = quoteFamilies.join('');
const quotesAround = new RegExp(`^[${quotes}]+|(?<![${quotes}])[${quotes}]+$`, 'gu');

const quote = new RegExp(`[${quotes}]`, 'gu');
/** Before the start of a token, or of a flag's value. */
const beforeToken = /(?<=(?:^|\s)(?:[\p{Pd}\u2212]+\p{L}[^\s=＝]*[=＝])?)/uy;

/** Keyboards make one dash of two, and others of that. */
const flagStart = /[\p{Pd}\u2212]+(?=\p{L})([^\s=＝]+)([=＝])?/uy;
const untilSpace = /\S*/uy;
const spaces = /\s*/uy;

/**
 * Splits a slash command's text, of which `stripInvisible` has been made, into tokens. Understood: quotes of all kinds
 * around a value, the dashes that keyboards and pasting bring, line breaks, and `& < >` as Slack escapes them. A quote
 * without its partner, or inside a token, is a character like others. A flag's name comes in lower case.
 */
export function tokenize(text: string): Token[] {
  const pairs = quotePairs(text);
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  };
  const takeText = () => {
    const closing = pairs.get(at);
    if (closing === undefined) return unescaped(take(untilSpace)?.[0] ?? '');
    const inside = text.slice(at + 1, closing);
    at = closing + 1;
    return unescaped(inside);
  };
  for (take(spaces); at < text.length; take(spaces)) {
    const start = at;
    const flag = take(flagStart);
    if (flag === null) tokens.push({ kind: 'plain', text: takeText(), start, end: at });
    else {
      const hasValue = flag[2] !== undefined && /\S/u.test(text.charAt(at));
      const value = hasValue ? takeText() : undefined;
      tokens.push({ kind: 'flag', name: flagName(flag[1] ?? ''), value, start, end: at });
    }
  }
  return tokens;
}

/** Text without quotes at its ends, balanced or not. */
export const unquoted = (text: string) => text.replace(quotesAround, '');

/** `should_escape: false` in the manifest is about mentions and links only; these three come escaped all the same. */
function unescaped(text: string): string {
  const meant: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
  return text.replace(/&(?:amp|lt|gt);/gu, (entity) => meant[entity] ?? entity);
}

/**
 * Where each quote ends that starts a token: at a member of its family before a space or the end. Quotes inside
 * quotes come in pairs of their own.
 */
function quotePairs(text: string): ReadonlyMap<number, number> {
  const pairs = new Map<number, number>();
  const opened = quoteFamilies.map((members) => ({ members, at: [] as number[] }));
  for (const { 0: character, index } of text.matchAll(quote)) {
    const open = opened.find(({ members }) => members.includes(character))?.at ?? [];
    const last = /^\s?$/u.test(text.charAt(index + 1)) ? open.pop() : undefined;
    beforeToken.lastIndex = index;
    if (last !== undefined) pairs.set(last, index);
    else if (beforeToken.test(text)) open.push(index);
  }
  return pairs;
}

function flagName(typed: string): string {
  return unescaped(typed)
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .toLowerCase();
}

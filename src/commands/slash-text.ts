import type { Part } from '../slack/blocks.ts';
import { cut, oneLine } from '../slack/text.ts';
import { stripInvisible } from '../slack/visible.ts';

/** A word as typed, without the quotes around it. A flag's `value` is what stands behind its `=`. */
export type SlashToken =
  | { kind: 'plain'; text: string }
  | { kind: 'flag'; name: string; value: string | undefined };

/** What a flag takes. `example` is a value of it; a `list` may have spaces after its commas. */
export type Flag = { takes: 'nothing' } | { takes: 'value' | 'list'; example: string };

/** `values` has every flag that was typed, those that take nothing with an empty text. */
export type SlashText =
  | { kind: 'read'; args: string[]; values: ReadonlyMap<string, string> }
  | { kind: 'unclear'; message: Part[] };

/** Members of one line open and close each other: keyboards and pasting mix them. */
const quoteFamilies = ['"“”„‟«»″＂〝〞〟❝❞', "'‘’‚‛‹›`´′＇❛❜", '「」', '『』'];
const quotes = quoteFamilies.join('');
const quotesAround = new RegExp(`^[${quotes}]+|(?<![${quotes}])[${quotes}]+$`, 'gu');

const quote = new RegExp(`[${quotes}]`, 'gu');
/** Before the start of a word, or of a flag's value. */
const beforeToken = /(?<=(?:^|\s)(?:[\p{Pd}\u2212]+\p{L}[^\s=＝]*[=＝])?)/uy;

/** Keyboards make one dash of two, and others of that. */
const flagStart = /[\p{Pd}\u2212]+(?=\p{L})([^\s=＝]+)([=＝])?/uy;
const untilSpace = /\S*/uy;
const spaces = /\s*/uy;

/**
 * The words of a slash command's text. Understood: quotes of all kinds around a value, the dashes and invisible
 * characters that keyboards and pasting bring, line breaks, and `& < >` as Slack escapes them. A quote without its
 * partner, or inside a word, is a character like others. A flag's name comes in small letters.
 */
export function slashTokens(typed: string): SlashToken[] {
  const text = unescaped(stripInvisible(typed));
  const pairs = quotePairs(text);
  const tokens: SlashToken[] = [];
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  };
  const takeText = () => {
    const closing = pairs.get(at);
    if (closing === undefined) return take(untilSpace)?.[0] ?? '';
    const inside = text.slice(at + 1, closing);
    at = closing + 1;
    return inside;
  };
  for (take(spaces); at < text.length; take(spaces)) {
    const flag = take(flagStart);
    if (flag === null) tokens.push({ kind: 'plain', text: takeText() });
    else {
      const hasValue = flag[2] !== undefined && /\S/u.test(text.charAt(at));
      tokens.push({ kind: 'flag', name: flagName(flag[1] ?? ''), value: hasValue ? takeText() : undefined });
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
 * Where each quote ends that starts a word: at a member of its family before a space or the end. Quotes inside
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
  return typed
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .toLowerCase();
}

/** Reads a command's text by the flags that it knows. What is unclear is said in one line, with the fix. */
export function readSlashText(text: string, flags: Record<string, Flag>): SlashText {
  const args: string[] = [];
  const values = new Map<string, string>();
  const rest = slashTokens(text).reverse();
  for (let token = rest.pop(); token !== undefined; token = rest.pop()) {
    if (token.kind === 'plain') {
      args.push(token.text);
      continue;
    }
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
    const typed = { code: `--${token.name}` };
    if (flag === undefined) return { kind: 'unclear', message: unknownFlag(token.name, Object.keys(flags)) };
    if (values.has(token.name))
      return { kind: 'unclear', message: ['Type ', typed, ' once; it is there twice.'] };
    if (flag.takes === 'nothing') {
      if (token.value !== undefined)
        return { kind: 'unclear', message: [typed, ' takes no value. Type it alone, or leave it out.'] };
      values.set(token.name, '');
      continue;
    }
    const value = flagValue(token.value, rest, flag.takes === 'list');
    if (value.trim() === '') {
      const example = { code: `--${token.name} ${flag.example}` };
      return { kind: 'unclear', message: [typed, ' needs a value, such as ', example, '.'] };
    }
    values.set(token.name, value);
  }
  return { kind: 'read', args, values };
}

/**
 * Takes a flag's value from behind its `=`, or from the words that follow, of which the last one is the next. A list
 * goes on around its commas.
 */
function flagValue(inline: string | undefined, rest: SlashToken[], isList: boolean): string {
  const next = () => {
    const token = rest.at(-1);
    return token?.kind === 'plain' ? token.text : undefined;
  };
  const first = inline ?? next();
  if (first === undefined) return '';
  if (inline === undefined) rest.pop();
  const values = [first];
  let continues = endsInComma(first);
  while (isList && first.trim() !== '') {
    const more = next();
    if (more === undefined || !(continues || /^\s*[,،，、]/u.test(more))) break;
    values.push(more);
    if (more.trim() !== '') continues = endsInComma(more);
    rest.pop();
  }
  return values.join(' ');
}

const endsInComma = (text: string) => /[,،，、]$/u.test(text.trimEnd());

function unknownFlag(name: string, known: string[]): Part[] {
  const typed = { code: `--${cut(oneLine(name), 40)}` };
  const meant = nearest(name, known);
  if (meant !== undefined) return ["I don't know ", typed, '. Did you mean ', { code: `--${meant}` }, '?'];
  const all = known.flatMap((one, index): Part[] => [index === 0 ? '' : ', ', { code: `--${one}` }]);
  return ["I don't know ", typed, '. There are ', ...all, '.'];
}

/** The one name that starts like it, or else one that is a slip or two away. */
function nearest(name: string, known: string[]): string | undefined {
  const longer = known.filter((one) => one.startsWith(name));
  if (longer.length === 1) return longer[0];
  const near = known.filter((one) => editDistance(name, one) <= Math.max(1, Math.floor(one.length / 3)));
  return near.sort((one, other) => editDistance(name, one) - editDistance(name, other))[0];
}

/** Letters to add, leave out or change (Levenshtein); infinite where the lengths alone say that it is many. */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 3) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

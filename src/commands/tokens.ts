/** The kind of value of each flag, by name. */
type Flags = Readonly<Record<string, { takes: 'nothing' | 'value' | 'list' }>>;

/**
 * An argument, or a flag with its value, without quotes. `start` and `end` are its position in the text. A `name` is in
 * lower case.
 */
export type Token = { start: number; end: number } & (
  | { kind: 'plain'; text: string }
  | { kind: 'flag'; name: string; value: string | undefined }
);

/** A flag with the text after its `=`, or a plain token; either may be in quotes. */
const pattern = /(?=\S)(?:-+(\p{L}[^\s=]*)=?)?("[^"]*"(?=\s|$)|'[^']*'(?=\s|$)|\S+)?/gu;

const comma = /[,،，、]/u;

/**
 * Splits a slash command's text after `stripInvisible`. Phones and pasted text bring other quotes and dashes, and merge
 * two dashes into one. Slack escapes `& < >`.
 */
export function tokenize(text: string, flags: Flags): Token[] {
  const tokens: Token[] = [];
  for (const { 0: typed, 1: name, 2: value, index } of normalized(text).matchAll(pattern)) {
    const end = index + typed.length;
    // As it was typed, without its quotes.
    const own = value && withoutPair(text.slice(end - value.length, end));
    if (name !== undefined) {
      tokens.push({ kind: 'flag', name: name.toLowerCase(), value: own, start: index, end });
      continue;
    }
    const flag = tokens.at(-1);
    if (own !== undefined && flag?.kind === 'flag' && continues(flag, own, flags)) {
      flag.value = flag.value === undefined ? own : `${flag.value} ${own}`;
      flag.end = end;
    } else tokens.push({ kind: 'plain', text: own ?? '', start: index, end });
  }
  return tokens;
}

/** Returns whether a flag takes the next token as its value. */
function continues({ name, value }: Extract<Token, { kind: 'flag' }>, next: string, flags: Flags): boolean {
  const takes = Object.hasOwn(flags, name) ? flags[name]?.takes : 'nothing';
  if (value === undefined) return takes !== 'nothing';
  return (
    takes === 'list' && (comma.test(value.trimEnd().slice(-1)) || comma.test(next.trimStart().charAt(0)))
  );
}

/** Removes quotes at the ends of a text, balanced or not. */
export const unquoted = (text: string) =>
  text.replace(/^["'“”„«»‘’‚]+|(?<!["'“”„«»‘’‚])["'“”„«»‘’‚]+$/gu, '');

/** Each character becomes one character, so that positions stay. */
const normalized = (text: string) =>
  text
    .replace(/[“”„«»]/gu, '"')
    .replace(/[‘’‚]/gu, "'")
    .replace(/[\u2010-\u2015\u2212]/gu, '-');

function withoutPair(typed: string): string {
  const [first, last] = [normalized(typed.slice(0, 1)), normalized(typed.slice(-1))];
  const isQuoted = typed.length > 1 && first === last && (first === '"' || first === "'");
  return unescaped(isQuoted ? typed.slice(1, -1) : typed);
}

/** `should_escape: false` in the manifest applies only to mentions and links; these three still come escaped. */
const unescaped = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

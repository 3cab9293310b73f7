/** Most texts: they contain no invisible characters. */
const onlyAscii = /^[\0-\x7F]*$/;

/** Scripts whose letters do not join: no character between them changes how they look. */
const unjoined = ['Latin', 'Greek', 'Cyrillic', 'Han', 'Hangul', 'Hiragana', 'Katakana']
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');

/** Characters that emoji and scripts need. */
const keepPattern = [
  String.raw`\p{RGI_Emoji}|\p{Extended_Pictographic}[\uFE0E\uFE0F]?`,
  String.raw`(?<=[[\p{L}\p{M}]--[${unjoined}\p{Default_Ignorable_Code_Point}]])[\u200C\u200D\u180B-\u180F]`,
].join('|');

const invisiblePattern = String.raw`[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\uFFF9-\uFFFB]`;

const invisibleOrKept = new RegExp(`(${keepPattern})|${invisiblePattern}`, 'gv');

/**
 * Returns text without invisible characters: tag characters, variation selectors, zero-width characters, those that
 * change the direction of text, and all others that Unicode calls ignorable. They can carry text to a program that no
 * person sees. Characters that emoji and scripts need stay: those within emoji and flags, one variation selector after
 * a pictograph, and one joiner after a letter of a script that joins. It is idempotent.
 */
export function stripInvisible(text: string): string {
  if (onlyAscii.test(text)) return text;
  return text.replace(invisibleOrKept, (_, kept: string | undefined) => kept ?? '');
}

/**
 * Returns text of people or the docs platform as one line of a message: white space folded, without control and
 * invisible characters, which could hide or reorder the text after them.
 */
export function singleLine(text: string): string {
  return stripInvisible(text.replace(/(?!\s)\p{Cc}/gu, ''))
    .replace(/\s+/gu, ' ')
    .trim();
}

/** Returns text of people or the docs platform with its lines, without other control and invisible characters. */
export const visibleText = (text: string): string =>
  stripInvisible(text.replaceAll('\t', '  ').replace(/(?!\n)\p{Cc}/gu, '')).trim();

/** Letters and digits of right-to-left scripts; Unicode reserves these blocks for them. */
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/**
 * Returns other people's words, made one line by `singleLine`, for use among our own numbers and words. Right-to-left
 * words are isolated, or they would reorder the numbers next to them. Cut as by `cutShown`.
 */
export const bidiIsolate = (words: string, max = Infinity): string =>
  rightToLeft.test(words) ? `\u2068${cutShown(words, max - 2)}\u2069` : cutShown(words, max);

/** Returns other people's words for a line of ours: one line of at most `max` code points, isolated. */
export const sanitizeUserText = (text: string, max: number): string =>
  bidiIsolate(cut(singleLine(text), max));

/** Returns the number of characters that people see in a text: its code points. */
export const lengthOf = (text: string) => Array.from(text).length;

/** Returns at most `max` code points, the last one an ellipsis if it was cut. Cut before escaping. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const points = Array.from(text.slice(0, 2 * max + 1));
  return points.length <= max ? text : `${points.slice(0, max - 1).join('')}…`;
}

/** The same, cut after a word if one ends in its second half. */
export function cutAtWord(text: string, max: number): string {
  const short = cut(text, max);
  const end = short.lastIndexOf(' ');
  return short === text || end < max / 2 ? short : `${short.slice(0, end).replace(/[\s,;:–—-]$/u, '')}…`;
}

/** Returns a state or a sentence of ours for use within another one. */
export const lowerFirst = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1);

export const upperFirst = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Returns text escaped for a `mrkdwn` string: Slack requires exactly these three. Disarms `<!here>` and `<@U…>`. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns at most `max` characters as Slack counts them in blocks: code units, with `& < >` escaped. */
export function cutShown(text: string, max: number): string {
  let kept = '';
  let room = max;
  for (const point of text) {
    room -= escapeText(point).length;
    if (room < 0) return `${kept}…`;
    // The cut leaves room for the ellipsis.
    if (room > 0) kept += point;
  }
  return text;
}

/** Returns the first `maxBytes` bytes of UTF-8; splits no character, entity such as `&amp;` or isolated words. */
export function cutBytes(escaped: string, maxBytes: number): string {
  if (Buffer.byteLength(escaped) <= maxBytes) return escaped;
  let bytes = Buffer.byteLength('…');
  let kept = '';
  for (const [token] of escaped.matchAll(/&(?:amp|lt|gt);|<[^<>]*>|./gsu)) {
    // Who begins an isolate pays for its end.
    if (token !== '\u2069') bytes += Buffer.byteLength(token === '\u2068' ? '\u2068\u2069' : token);
    if (bytes > maxBytes) break;
    kept += token;
  }
  const isIsolated = kept.lastIndexOf('\u2068') > kept.lastIndexOf('\u2069');
  return `${kept}${isIsolated ? '\u2069' : ''}…`;
}

/** Returns minutes and hours as people say them: "6 min", "2 h 5 min"; under a minute in seconds. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

/** Returns bytes in decimal units: "18.4 MB". */
export function formatSize(bytes: number): string {
  if (bytes < 1000) return countOf(bytes, 'byte');
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

const counts = new Intl.NumberFormat('en-US');

/** Returns a whole number with separators: "12,480". */
export function formatCount(value: number): string {
  // Adding 0 turns -0 into 0.
  return counts.format(Math.round(value) + 0);
}

/** Returns a number of things: "1 page", "12 pages". */
export const countOf = (count: number, thing: string) =>
  `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`;

/** Returns the facts that are known, with a separator. */
export const joinFacts = (...facts: (string | undefined)[]) => facts.filter(Boolean).join(' · ');

/** Joins parts, such as `a, b and c`. */
export const andList = new Intl.ListFormat('en-GB');

/** Joins alternatives, such as `a, b or c`. */
export const orList = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Returns the address that opens a message; `workspaceUrl` ends with a slash. */
export function messageUrl(workspaceUrl: string, { channel, ts }: { channel: string; ts: string }): string {
  return `${workspaceUrl}archives/${channel}/p${ts.replace('.', '')}`;
}

/**
 * Returns the time of a message's `ts` in epoch milliseconds, with a fraction, so that messages keep their order. NaN
 * if it is not a `ts`.
 */
export const tsToMs = (ts: string) => Number(ts) * 1000;

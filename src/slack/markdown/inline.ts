import { cut, singleLine, stripInvisible } from '../text.ts';

/** What a message can mention: the sign before the name, and the words if there is no name. */
const MENTIONED = {
  users: ['@', 'someone'],
  channels: ['#', 'some-channel'],
  groups: ['@', 'some-group'],
} as const;
type Mentioned = keyof typeof MENTIONED;

/** Stands for the id in a mention of everybody, which is one of a group with the label `here`, `channel` or `everyone`. */
export const EVERYBODY = 'everybody';

/** The ids that a message mentions, and whether it mentions `@here`, `@channel` or `@everyone`. */
export type Mentions = Record<Mentioned, string[]> & { everybody: boolean };

/** Names by id, without `@` or `#`: people's, channels' and the handles of user groups. */
export type Names = Record<Mentioned, { get(id: string): string | undefined }>;

/** For messages whose mentions were not looked up. */
export const noNames: Names = { users: new Map(), channels: new Map(), groups: new Map() };

/** Options for reading a message: the names, and the user whose mention is left out. */
export interface MarkdownOptions {
  names: Names;
  withoutMention?: string | undefined;
}

/** A piece of text in one Slack style, already cleaned. Entities are decoded, tokens resolved. */
export interface Span {
  text: string;
  bold?: boolean;
  italic?: boolean;
  strike?: boolean;
  code?: boolean;
  /** The address that the text links to. */
  url?: string;
  /** Whether it is a mention that is left out. */
  leftOut?: boolean;
}

/**
 * Returns `@ana`, `@"Ana Silva"` or `#docs`. If the id has no name, uses the message's `label`; a channel has none, since
 * not everybody may know the name of a private one.
 */
export function mentionSpan(
  kind: Mentioned,
  id: string,
  { names, withoutMention }: MarkdownOptions,
  label?: string,
): Span {
  if (kind === 'users' && id === withoutMention) return { text: '', leftOut: true };
  const [sign, unknown] = MENTIONED[kind];
  return { text: `${sign}${nameOf(names[kind].get(id), label) ?? unknown}` };
}

/** Longer names are cut, so that none can carry a text. */
const MAX_NAME_LENGTH = 40;

/**
 * Returns the first name that is not empty, so that it cannot look like an instruction: letters, numbers and a few
 * signs, cut, and in quotes unless it is one word. People choose their names themselves, and the agent reads them.
 */
export function nameOf(...candidates: (string | undefined)[]): string | undefined {
  for (const chosen of candidates) {
    const cleaned = singleLine(cut(chosen ?? '', 4 * MAX_NAME_LENGTH))
      .replace(/(?!\u200C|\u200D)[^\p{L}\p{M}\p{N} .,'’&()/_-]/gu, ' ')
      .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, ' ');
    const name = cut(singleLine(cleaned), MAX_NAME_LENGTH);
    if (name !== '') return /^[^ ,&()/]*$/.test(name) ? name : `"${name}"`;
  }
  return undefined;
}

/** Returns the text with `\n` as line ends, without control and other invisible characters. */
export function cleanText(text: string): string {
  return stripInvisible(
    text.replace(/\r\n?|[\u2028\u2029]/g, '\n').replace(/(?![\n\t])\p{Cc}/gu, ''),
  ).toWellFormed();
}

/**
 * Returns styled text as Markdown: `**bold**`, `_italic_`, `~~strike~~`, code, links, bullets typed as `•` as `-`. Other
 * text stays as typed, since people who type Markdown in Slack mean it. The lines have no white space at their ends.
 */
export function renderInline(spans: readonly Span[]): string {
  return mergeSpans(withoutMentions(spans))
    .map((span) => (span.url === undefined ? renderLines(span) : renderLink(span, span.url)))
    .join('')
    .replace(/^([ \t]*)[•◦▪‣]\uFE0E?(?=\s|$)/gmu, '$1-')
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .replace(/(?<![^\S\n])[^\S\n]+(?=\n|$)/g, '')
    .trimEnd();
}

/** Returns the spans without the mentions that are left out, and without the punctuation and the space after each. */
function withoutMentions(spans: readonly Span[]): Span[] {
  return spans.flatMap((span, index) => {
    if (span.leftOut) return [];
    if (!spans[index - 1]?.leftOut || span.code || span.url !== undefined) return [span];
    return [{ ...span, text: span.text.replace(/^[ \t]*(?:[,:;–—-](?=\s|$))?[ \t]*/, '') }];
  });
}

/** Joins neighbours of one style, so that a token is also recognized if it was sent in pieces. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  const keyOf = ({ bold, italic, strike, code, url }: Span) => [bold, italic, strike, code, url].join();
  for (const span of spans) {
    if (span.text === '' && !span.url) continue;
    const last = merged.at(-1);
    if (last && !span.code && span.url === undefined && keyOf(last) === keyOf(span)) last.text += span.text;
    else merged.push({ ...span });
  }
  return merged;
}

const renderLines = (span: Span) =>
  span.text
    .split('\n')
    .map((line) => withMarks(span.code && line.trim() !== '' ? codeSpan(line) : line, span))
    .join('\n');

/** Returns a line with the marks of its style, which stand next to no white space. */
function withMarks(line: string, { bold, italic, strike, code, url }: Span): string {
  const core = line.trim();
  if (core === '') return line;
  const marks = `${bold ? '**' : ''}${italic ? '_' : ''}${strike ? '~~' : ''}`;
  const start = line.indexOf(core);
  const end = marks.split('').reverse().join('');
  const text = code || url !== undefined ? core : disarm(core);
  return `${line.slice(0, start)}${marks}${text}${end}${line.slice(start + core.length)}`;
}

function renderLink(span: Span, url: string): string {
  const address = cleanText(url)
    .trim()
    .replace(/[\s<>]/g, encodeURIComponent);
  const label = span.text.replace(/\s+/g, ' ').trim() || address;
  const named = span.code ? codeSpan(label) : disarm(label);
  const withoutScheme = address.replace(/^(?:https?:\/\/|mailto:|tel:)/, '');
  if ([address, withoutScheme].some((typed) => typed === label || typed === `${label}/`))
    return withMarks(named, span);
  // Brackets could end the link early.
  const target = address.replaceAll('(', '%28').replaceAll(')', '%29');
  return withMarks(target === '' ? named : `[${named.replace(/[[\]]/g, '\\$&')}](${target})`, span);
}

/** Returns one line of code as a Markdown code span. */
function codeSpan(line: string): string {
  const ticks = '`'.repeat(longestTicks(line) + 1);
  // Readers of Markdown drop one space at each end.
  const pad = /^`|`$|^ .* $/.test(line) ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/** Returns cleaned code as a block between fences longer than any inside; an empty text if the code is blank. */
export function fence(text: string, language = ''): string {
  const code = text.replace(/^\n|\n$/g, '');
  if (code.trim() === '') return '';
  const ticks = '`'.repeat(Math.max(3, longestTicks(code) + 1));
  return `${ticks}${language}\n${code}\n${ticks}`;
}

const longestTicks = (code: string) =>
  (code.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);

/** Returns text with the brackets removed around apparent tokens (`<@U…>`, `<#C…>`, `<!here>`): a person typed them. */
const disarm = (text: string) =>
  text.replace(
    /(?<!<)<+(?=[@#][A-Z0-9]|!(?:here|channel|everyone|subteam|date|group)\b)([^<>\n]*)(>?)/g,
    '$1',
  );

/** Decodes the three characters that Slack escapes, in one pass so that `&amp;lt;` becomes `&lt;`. */
const decodeEntities = (text: string) =>
  text.replace(/&(amp|lt|gt);/g, (_, name) => (name === 'amp' ? '&' : name === 'lt' ? '<' : '>'));

/** Code and tokens, and bold or struck text between the edges of words. */
const MARKED =
  /`[^`]+`|<[^<>\n]+>|(?<![\p{L}\p{N}*~])([*~])(?=[^\s*~])([^*~\n]*[^\s*~])\1(?![\p{L}\p{N}*~])/gu;

/** Returns the text of a message or of a text object as Markdown. Its other marks are the same there. */
export const mrkdwnToMarkdown = (source: string, reading: MarkdownOptions): string =>
  renderInline(
    cleanText(source)
      .replace(MARKED, (whole, mark, inner) => (mark ? `${mark}${mark}${inner}${mark}${mark}` : whole))
      .split(/<([^<>\n]+)>/)
      .map((part, index) => (index % 2 === 1 ? parseToken(part, reading) : { text: decodeEntities(part) })),
  );

/** Returns the span of a token, without its `<` and `>`. If it is not one of Slack's, it stays as it is. */
function parseToken(body: string, reading: MarkdownOptions): Span {
  const bar = body.indexOf('|');
  const target = decodeEntities(bar < 0 ? body : body.slice(0, bar));
  const label = bar < 0 ? '' : decodeEntities(body.slice(bar + 1));
  if (target.startsWith('@')) return mentionSpan('users', target.slice(1), reading, label);
  if (target.startsWith('#')) return mentionSpan('channels', target.slice(1), reading);
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return { text: label, url: target };
  const [kind = '', first = ''] = target.split('^');
  if (kind === '!subteam') return mentionSpan('groups', first, reading, label);
  if (kind === '!date') return { text: formatDate(first, label) };
  if (/^!(?:here|channel|everyone|group)$/.test(kind))
    return mentionSpan('groups', EVERYBODY, reading, kind.slice(1));
  return { text: target.startsWith('!') && label !== '' ? label : `<${decodeEntities(body)}>` };
}

/** Returns a Slack date in UTC: "2026-09-20 14:00 UTC". `timestamp` is in seconds; if invalid, returns the fallback. */
export function formatDate(timestamp: unknown, fallback: string): string {
  const at = new Date(Number.parseFloat(String(timestamp)) * 1000);
  return Number.isNaN(at.getTime()) ? fallback : `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

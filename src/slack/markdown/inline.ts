import { singleLine, stripInvisible } from '../text.ts';
import { channelName, groupName, type MarkdownOptions, noNames, userName } from './names.ts';

/** A piece of text in one Slack style, already cleaned. Entities are decoded, tokens resolved. */
export interface Span {
  text: string;
  bold?: boolean;
  italic?: boolean;
  strike?: boolean;
  code?: boolean;
  /** The address that the text links to. */
  url?: string | undefined;
  /** Whether it is a mention that is left out. */
  leftOut?: boolean;
}

/** Returns the text with `\n` as line ends, without control and other invisible characters. */
export function cleanText(text: string): string {
  return stripInvisible(
    text.replace(/\r\n?|[\u2028\u2029]/g, '\n').replace(/(?![\n\t])\p{Cc}/gu, ''),
  ).toWellFormed();
}

/**
 * Returns styled text as Markdown: `**bold**`, `_italic_`, `~~strike~~`, code, links, bullets typed as `•` as `-`. Other
 * text stays as typed, since people who type Markdown in Slack mean it.
 */
export function renderInline(spans: readonly Span[]): string {
  const rendered = mergeSpans(withoutMentions(spans)).map((span) =>
    span.url === undefined ? renderLines(span) : renderLink(span, span.url),
  );
  return rendered.join('').replace(/^([ \t]*)[•◦▪‣]\uFE0E?(?=\s|$)/gmu, '$1-');
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
  const address = cleanText(url).trim();
  const bare = address.replace(/[\s<>]/g, encodeURIComponent);
  const label = span.text.replace(/\s+/g, ' ').trim() || bare;
  const isAddress = ['', 'https://', 'http://', 'mailto:', 'tel:'].some(
    (scheme) => bare === scheme + label || bare === `${scheme}${label}/`,
  );
  const named = span.code ? codeSpan(label) : disarm(label);
  if (isAddress) return withMarks(named, span);
  // Brackets could end the link early.
  const target = bare.replaceAll('(', '%28').replaceAll(')', '%29');
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

/** A channel's token with a name for it, which not everybody may know. */
const labelledChannel = /^#[CDG][A-Z0-9]{8,}\|.*$/;

/** Returns text with the brackets removed around apparent tokens (`<@U…>`, `<#C…>`, `<!here>`): a person typed them. */
export function disarm(text: string): string {
  return text.replace(
    /(?<!<)<+(?=[@#][A-Z0-9]|!(?:here|channel|everyone|subteam|date|group)\b)([^<>\n]*)(>?)/g,
    (_, token: string) => token.replace(labelledChannel, channelName(noNames, '')),
  );
}

/** Returns the text with `> ` before every line. */
export const quoteLines = (markdown: string): string =>
  markdown
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');

/** Decodes the three characters that Slack escapes, in one pass so that `&amp;lt;` becomes `&lt;`. */
export function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name) => (name === 'amp' ? '&' : name === 'lt' ? '<' : '>'));
}

/** Code, tokens, and bold or struck text between the edges of words. */
const MRKDWN_INLINE =
  /`([^`\n]+)`|<([^<>\n]+)>|(?<![\p{L}\p{N}*~])([*~])(?=[^\s*~])([^*~\n]*[^\s*~])\3(?![\p{L}\p{N}*~])/gu;

/**
 * Returns Slack's `mrkdwn` (the `text` of messages, and of text objects) as Markdown. Tokens, bold and struck text are
 * written in another way there; the other marks are the same.
 */
export function mrkdwnToMarkdown(source: string, reading: MarkdownOptions): string {
  return cleanText(source)
    .split(/```([\s\S]*?)```/)
    .map((part, index) => {
      if (index % 2 === 1) return fence(codeText(part, reading));
      // `>>>` quotes all that follows.
      const prose = part
        .replace(/^[ \t]+/, '')
        .replace(/^(?:&gt;|>){3} ?([\s\S]*)/m, (_, quoted: string) => quoteLines(quoted.trimEnd()));
      const markdown = trimLines(renderInline(mrkdwnSpans(prose, reading)));
      // In Markdown, only an empty line ends a quote.
      return markdown.replace(/^(>.*\n)(?=[^>\n])/gm, '$1\n');
    })
    .filter((block) => block.trim() !== '')
    .join('\n\n');
}

function mrkdwnSpans(source: string, reading: MarkdownOptions, style: Partial<Span> = {}): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const { 0: whole, 1: code, 2: token, 3: mark, 4: inner = '', index } of source.matchAll(
    MRKDWN_INLINE,
  )) {
    spans.push({ text: decodeEntities(source.slice(at, index)), ...style });
    at = index + whole.length;
    if (code !== undefined) spans.push({ text: codeText(code, reading), code: true, ...style });
    else if (token !== undefined) spans.push({ ...parseToken(token, reading), ...style });
    else spans.push(...mrkdwnSpans(inner, reading, mark === '*' ? { bold: true } : { strike: true }));
  }
  return [...spans, { text: decodeEntities(source.slice(at)), ...style }];
}

/** Returns code as it was typed: Slack also turns addresses in code into links. */
const codeText = (source: string, { names, onEverybody }: MarkdownOptions): string =>
  source
    .split(/<([^<>\n]+)>/)
    .map((part, index) => {
      if (index % 2 === 0) return decodeEntities(part);
      const { text, url = '' } = parseToken(part, { names, onEverybody });
      return text || url;
    })
    .join('');

/** Returns the span of a token, without its `<` and `>`. If it is not one of Slack's, it stays as it is. */
function parseToken(body: string, reading: MarkdownOptions): Span {
  const bar = body.indexOf('|');
  const target = decodeEntities(bar < 0 ? body : body.slice(0, bar));
  const label = bar < 0 ? '' : decodeEntities(body.slice(bar + 1));
  if (target.startsWith('@')) return userSpan(target.slice(1), reading, label);
  if (target.startsWith('#')) return { text: channelName(reading.names, target.slice(1)) };
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return { text: label, url: target };
  const [kind = '', first = '', , url] = target.split('^');
  if (kind === '!subteam') return { text: groupName(reading.names, first, label) };
  if (kind === '!date') return { text: formatDate(first, label), url };
  if (/^!(?:here|channel|everyone|group)$/.test(kind)) return everybodySpan(kind.slice(1), reading);
  return { text: target.startsWith('!') && label !== '' ? label : `<${decodeEntities(body)}>` };
}

/** Returns the mention of a person. */
export const userSpan = (id: string, { names, withoutMention }: MarkdownOptions, label?: string): Span =>
  id === withoutMention ? { text: '', leftOut: true } : { text: userName(names, id, label) };

/** Returns a mention of everybody: `here`, `channel` or `everyone`. */
export function everybodySpan(range: string, { onEverybody }: MarkdownOptions): Span {
  onEverybody?.();
  return { text: `@${singleLine(range)}` };
}

/** Returns the text without empty lines around it and white space at the ends of its lines. */
export const trimLines = (text: string): string =>
  text
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .replace(/(?<![^\S\n])[^\S\n]+(?=\n|$)/g, '')
    .trimEnd();

/** Returns a Slack date in UTC: "2026-09-20 14:00 UTC". `timestamp` is in seconds; if invalid, returns the fallback. */
export function formatDate(timestamp: unknown, fallback: string): string {
  const seconds = typeof timestamp === 'string' && timestamp.trim() === '' ? Number.NaN : Number(timestamp);
  const at = new Date(seconds * 1000);
  return Number.isNaN(at.getTime()) ? fallback : `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

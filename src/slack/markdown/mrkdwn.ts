import { fence, formatDate, quoteLines, trimLines } from './format.ts';
import { renderInline } from './inline.ts';
import { channelName, everybodyName, groupName, type MarkdownOptions, userName } from './names.ts';
import { type Span, withoutMention } from './spans.ts';

/** Returns Slack's `mrkdwn` (the `text` of messages, and of text objects) as Markdown. */
export function mrkdwnToMarkdown(source: string, reading: MarkdownOptions): string {
  return source
    .replace(/\r\n?/g, '\n')
    .split(/```([\s\S]*?)```/)
    .flatMap((part, index) =>
      index % 2 === 0 ? proseBlocks(part.replace(/^[ \t]+/, ''), reading) : fence(codeText(part, reading)),
    )
    .filter((block) => block.trim() !== '')
    .join('\n\n');
}

/** Decodes the three characters that Slack escapes, in one pass so that `&amp;lt;` becomes `&lt;`. */
export function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name) => (name === 'amp' ? '&' : name === 'lt' ? '<' : '>'));
}

/** Returns code as it was typed: Slack also turns addresses in code into links. */
function codeText(source: string, reading: MarkdownOptions): string {
  return source
    .split(/<([^<>\n]+)>/)
    .map((part, index) => {
      if (index % 2 === 0) return decodeEntities(part);
      const span = parseToken(part, reading);
      return span ? span.text || (span.url ?? '') : `<${decodeEntities(part)}>`;
    })
    .join('');
}

function proseBlocks(source: string, reading: MarkdownOptions): string[] {
  const groups: { quote: boolean; lines: string[] }[] = [];
  let restIsQuoted = false;
  for (const line of source.split('\n')) {
    const rest = /^(?:&gt;|>){3} ?/.exec(line);
    if (rest) restIsQuoted = true;
    const quote = restIsQuoted || /^(?:&gt;|>)/.test(line);
    const text = rest ? line.slice(rest[0].length) : quote ? line.replace(/^(?:&gt;|>) ?/, '') : line;
    const last = groups.at(-1);
    if (last?.quote === quote) last.lines.push(text);
    else groups.push({ quote, lines: [text] });
  }
  return groups.map(({ quote, lines }) => {
    const text = renderProse(lines, reading);
    return quote && text !== '' ? quoteLines(text) : text;
  });
}

function renderProse(lines: readonly string[], reading: MarkdownOptions): string {
  const spans = lines.flatMap((line, index) => [
    ...(index > 0 ? [{ text: '\n' }] : []),
    ...spansOf(line, reading),
  ]);
  return trimLines(renderInline(withoutMention(spans, reading)));
}

const MARKS = { '*': 'bold', _: 'italic', '~': 'strike' } as const;
type Mark = keyof typeof MARKS;

interface InlineToken {
  span: Span;
  mark?: Mark;
  opens: boolean;
  closes: boolean;
}

/** Returns one line as spans. A mark counts at the edge of a word, if its partner follows in the same line. */
function spansOf(line: string, reading: MarkdownOptions): Span[] {
  const found = tokenize(line, reading);
  const styledUntil = new Map<InlineToken, InlineToken>();
  let waiting: InlineToken[] = [];
  for (const one of found) {
    const opener = waiting.findIndex(({ mark }) => mark === one.mark);
    const partner = waiting[opener];
    if (one.closes && partner) {
      styledUntil.set(partner, one);
      waiting.length = opener;
    } else if (one.opens) {
      waiting = [...waiting.filter((other) => other !== partner), one];
    }
  }
  const closers = new Set(styledUntil.values());
  const on = new Set<Mark>();
  return found.flatMap((one) => {
    if (one.mark && styledUntil.has(one)) on.add(one.mark);
    else if (one.mark && closers.has(one)) on.delete(one.mark);
    else return [{ ...one.span, ...Object.fromEntries([...on].map((mark) => [MARKS[mark], true])) }];
    return [];
  });
}

function tokenize(line: string, reading: MarkdownOptions): InlineToken[] {
  const found: InlineToken[] = [];
  const put = (span: Span) => found.push({ span, opens: false, closes: false });
  let at = 0;
  for (const match of line.matchAll(/`([^`]+)`|<([^<>]+)>|[*_~]/g)) {
    const [whole, code, body] = match;
    if (match.index > at) put({ text: decodeEntities(line.slice(at, match.index)) });
    at = match.index + whole.length;
    if (code !== undefined) put({ text: codeText(code, reading), code: true });
    else if (body !== undefined) put(parseToken(body, reading) ?? { text: decodeEntities(whole) });
    else {
      const [before = ' ', after = ' '] = [line[match.index - 1], line[at]];
      const lonely = before !== whole && after !== whole;
      found.push({
        span: { text: whole },
        mark: whole as Mark,
        opens: lonely && !/[\p{L}\p{N}]/u.test(before) && !/\s/.test(after),
        closes: lonely && !/[\p{L}\p{N}]/u.test(after) && !/\s/.test(before),
      });
    }
  }
  if (at < line.length) put({ text: decodeEntities(line.slice(at)) });
  return found;
}

/** Returns the span of a token between `<` and `>`; undefined if it is not one of Slack's. */
function parseToken(body: string, reading: MarkdownOptions): Span | undefined {
  const { names } = reading;
  const bar = body.indexOf('|');
  const target = decodeEntities(bar < 0 ? body : body.slice(0, bar));
  const label = bar < 0 ? '' : decodeEntities(body.slice(bar + 1));
  const id = target.slice(1);
  if (target.startsWith('@')) return { text: userName(names, id, label), mentions: id };
  if (target.startsWith('#')) return { text: channelName(names, id) };
  if (target.startsWith('!')) return parseSpecial(id, label, reading);
  return /^[a-z][a-z0-9+.-]*:/i.test(target) ? { text: label, url: target } : undefined;
}

function parseSpecial(target: string, label: string, reading: MarkdownOptions): Span | undefined {
  const [kind = '', first = '', format = '', url] = target.split('^');
  if (kind === 'subteam') return { text: groupName(reading.names, first, label) };
  if (kind === 'date') return { text: formatDate(first, format, label), ...(url ? { url } : {}) };
  if (/^(?:here|channel|everyone|group)$/.test(kind)) return { text: everybodyName(kind) };
  return label === '' ? undefined : { text: label };
}

import { fence, formatDate, quoteLines, trimLines } from './format.ts';
import { renderInline } from './inline.ts';
import { channelName, everybodyName, groupName, type MarkdownOptions, userName } from './names.ts';
import { type Fields, fieldsOf, listOf, MAX_DEPTH, textOf, textsIn } from './payload.ts';
import { type Span, withoutMention } from './spans.ts';

/** Returns a `rich_text` block, the form of people's messages, as Markdown. Slack escapes nothing in the block. */
export function richTextToMarkdown(block: Fields, reading: MarkdownOptions): string {
  return blocksOf(listOf(block.elements), reading, 0);
}

/** Returns the block as lines of one paragraph or cell, without the marks of lists, quotes and fences. */
export function richTextLines(block: Fields, reading: MarkdownOptions): string {
  const spans = flattenSpans(listOf(block.elements), reading, 0);
  return renderInline(withoutMention(spans, reading)).trim();
}

const holdsElements = (element: unknown) => Array.isArray(fieldsOf(element).elements);

/** Returns elements as Markdown. Each one with elements of its own is a block; the others between are paragraphs. */
function blocksOf(elements: readonly unknown[], reading: MarkdownOptions, depth: number): string {
  let result = '';
  let inList = false;
  let loose: unknown[] = [];
  const widths: number[] = [];
  const put = (markdown: string, isList: boolean) => {
    if (!isList) widths.length = 0;
    if (markdown === '') return;
    const between = inList && isList ? '\n' : '\n\n';
    result += result === '' ? markdown : between + markdown;
    inList = isList;
  };
  const putLoose = () => {
    if (loose.length > 0) put(renderParagraph(loose, reading), false);
    loose = [];
  };
  for (const element of elements) {
    if (!holdsElements(element)) {
      loose.push(element);
      continue;
    }
    putLoose();
    const fields = fieldsOf(element);
    if (fields.type === 'rich_text_list') put(renderList(fields, widths, reading, depth), true);
    else put(blockOf(fields, reading, depth), false);
  }
  putLoose();
  return result;
}

function blockOf(fields: Fields, reading: MarkdownOptions, depth: number): string {
  const elements = listOf(fields.elements);
  if (depth > MAX_DEPTH) return '';
  if (fields.type === 'rich_text_preformatted') {
    const language = /^[\w+#.-]{1,30}$/.exec(textOf(fields.language) ?? '')?.[0];
    return quoteIfBordered(fields, fence(codeOf(elements, reading), language));
  }
  const text = blocksOf(elements, reading, depth + 1);
  return fields.type === 'rich_text_quote' && text !== '' ? quoteLines(text) : text;
}

function renderParagraph(elements: readonly unknown[], reading: MarkdownOptions): string {
  const spans = elements.flatMap((element) => spansOf(element, reading));
  return trimLines(renderInline(withoutMention(spans, reading)));
}

function quoteIfBordered({ border }: Fields, markdown: string): string {
  return border === 1 && markdown !== '' ? quoteLines(markdown) : markdown;
}

/** Slack sends each level of a nested list as a separate list. `widths` are those of the marks of the outer levels. */
function renderList(fields: Fields, widths: number[], reading: MarkdownOptions, depth: number): string {
  const level = Math.min(toCount(fields.indent), widths.length, 8);
  widths.length = level;
  const margin = ' '.repeat(widths.reduce((sum, width) => sum + width, 0));
  const first = toCount(fields.offset) + 1;
  const items = listOf(fields.elements).map((item, index) => {
    const mark = fields.style === 'ordered' ? `${first + index}. ` : '- ';
    widths[level] = mark.length;
    const [head = '', ...rest] = itemText(item, reading, depth).split('\n');
    const hanging = rest.map((line) => (line === '' ? '' : margin + ' '.repeat(mark.length) + line));
    return [margin + mark + head.trimStart(), ...hanging].join('\n').trimEnd();
  });
  return quoteIfBordered(fields, items.join('\n'));
}

function itemText(item: unknown, reading: MarkdownOptions, depth: number): string {
  if (depth > MAX_DEPTH) return '';
  const { type } = fieldsOf(item);
  const holds = type === 'rich_text_section' && holdsElements(item);
  return blocksOf(holds ? listOf(fieldsOf(item).elements) : [item], reading, depth + 1);
}

function toCount(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.max(0, value as number) : 0;
}

function codeOf(elements: readonly unknown[], reading: MarkdownOptions): string {
  return elements
    .flatMap((element) => spansOf(element, reading))
    .map(({ text, url }) => text || (url ?? ''))
    .join('');
}

function flattenSpans(elements: readonly unknown[], reading: MarkdownOptions, depth: number): Span[] {
  if (depth > MAX_DEPTH) return [];
  return elements.flatMap((element, index): Span[] => {
    const fields = fieldsOf(element);
    const inner = listOf(fields.elements);
    if (!Array.isArray(fields.elements)) return spansOf(element, reading);
    const lines =
      fields.type === 'rich_text_preformatted'
        ? [{ text: codeOf(inner, reading), code: true }]
        : flattenSpans(inner, reading, depth + 1);
    return index > 0 ? [{ text: '\n' }, ...lines] : lines;
  });
}

function spansOf(element: unknown, reading: MarkdownOptions): Span[] {
  const { names } = reading;
  const fields = fieldsOf(element);
  const { bold, italic, strike, code } = fieldsOf(fields.style);
  const style = { bold: bold === true, italic: italic === true, strike: strike === true };
  const text = (value: string, more: Partial<Span> = {}): Span[] =>
    value === '' && !more.url ? [] : [{ text: value, ...style, code: code === true, ...more }];
  const id = (value: unknown) => textOf(value) ?? '';
  const label = textOf(fields.text) ?? '';
  const url = textOf(fields.url);
  switch (fields.type) {
    case 'user':
      return text(userName(names, id(fields.user_id)), { mentions: id(fields.user_id) });
    case 'channel':
      return text(channelName(names, id(fields.channel_id)));
    case 'usergroup':
      return text(groupName(names, id(fields.usergroup_id)));
    case 'broadcast':
      return text(everybodyName(textOf(fields.range) ?? 'channel'));
    case 'team':
      return text('@some-workspace');
    case 'emoji':
      return text(renderEmoji(fields));
    case 'date':
      return text(
        formatDate(fields.timestamp, textOf(fields.format) ?? '', textOf(fields.fallback) ?? ''),
        url === undefined ? {} : { url },
      );
    case 'link':
      if (url !== undefined) return text(label, { url });
  }
  return text(fields.type === 'text' && label !== '' ? label : textsIn(element).join(' '));
}

/** Returns the emoji's character if Slack sends it, as for all but a workspace's own emoji; else `:name:`. */
function renderEmoji({ name, unicode }: Fields): string {
  const codes = (textOf(unicode) ?? '').split('-');
  if (codes.every((code) => /^[0-9a-f]{2,6}$/i.test(code) && Number.parseInt(code, 16) <= 0x10ffff)) {
    return String.fromCodePoint(...codes.map((code) => Number.parseInt(code, 16)));
  }
  return `:${textOf(name) ?? 'emoji'}:`;
}

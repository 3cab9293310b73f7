import {
  cleanText,
  decodeEntities,
  disarm,
  everybodySpan,
  fence,
  formatDate,
  mrkdwnToMarkdown,
  quoteLines,
  renderInline,
  type Span,
  trimLines,
  userSpan,
} from './inline.ts';
import { channelName, groupName, type MarkdownOptions } from './names.ts';

/** Fields of a Slack payload: each may be missing or of another type. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the fields of an object; of anything else, an empty object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a string that is not empty; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the blocks of a message as Markdown, separated by empty lines; of unknown types, all texts. */
export function blocksToMarkdown(blocks: unknown, reading: MarkdownOptions): string {
  return listOf(blocks)
    .map((block) => blockToMarkdown(fieldsOf(block), reading))
    .filter((markdown) => markdown.trim() !== '')
    .join('\n\n');
}

function blockToMarkdown(fields: Fields, reading: MarkdownOptions): string {
  switch (fields.type) {
    case 'rich_text':
      return richTextToMarkdown(fields, reading);
    case 'section':
      return joinTexts([fields.text, ...listOf(fields.fields)], '\n\n', reading);
    case 'header': {
      const title = textObjectToMarkdown(fields.text, reading).replace(/\s+/g, ' ');
      return title === '' ? '' : `## ${title}`;
    }
    case 'context':
      return joinTexts(listOf(fields.elements), ' ', reading);
    case 'markdown':
      return disarm(cleanText(textOf(fields.text) ?? ''));
    case 'table':
    case 'data_table':
      return tableToMarkdown(fields, reading);
    default:
      return textObjectToMarkdown(typeof fields.text === 'object' ? fields.text : fields, reading);
  }
}

const joinTexts = (objects: readonly unknown[], between: string, reading: MarkdownOptions) =>
  objects
    .map((one) => textObjectToMarkdown(one, reading))
    .filter((text) => text !== '')
    .join(between);

function textObjectToMarkdown(value: unknown, reading: MarkdownOptions): string {
  const { type, text } = fieldsOf(value);
  if (typeof text !== 'string') return plainToMarkdown(textsIn(value).join('\n'));
  return type === 'mrkdwn' ? mrkdwnToMarkdown(text, reading) : plainToMarkdown(decodeEntities(text));
}

const plainToMarkdown = (text: string) => renderInline([{ text: cleanText(text) }]).trim();

/** Fields with visible text. */
const TEXT_FIELDS = new Set([
  ...['text', 'title', 'subtitle', 'label', 'body', 'caption', 'description', 'fallback', 'alt_text'],
]);

/** Fields of buttons and inputs whose text nobody sees in the message. */
const HIDDEN_FIELDS = new Set(['confirm', 'placeholder', 'workflow']);

/** Returns every visible text in a value of unknown type, in order and each once. */
function textsIn(value: unknown): string[] {
  const found = new Set<string>();
  const collect = (part: unknown, key: string) => {
    if (typeof part === 'string' && part.trim() !== '' && TEXT_FIELDS.has(key)) found.add(part);
    if (typeof part !== 'object' || part === null) return;
    for (const [name, one] of Object.entries(part))
      if (!HIDDEN_FIELDS.has(name)) collect(one, Array.isArray(part) ? key : name);
  };
  collect(value, '');
  return [...found];
}

/** Slack allows 20 columns. Rows are padded to the longest one, so one endless row would lengthen all. */
const MAX_COLUMNS = 100;

/** Returns a `table` or `data_table` block as a Markdown table. The first row is the head, since Markdown needs one. */
function tableToMarkdown(block: Fields, reading: MarkdownOptions): string {
  const rows = listOf(block.rows).map((row) =>
    listOf(row)
      .slice(0, MAX_COLUMNS)
      .map((cell) => cellText(fieldsOf(cell), reading)),
  );
  const columns = Array.from(
    { length: Math.max(0, ...rows.map(({ length }) => length)) },
    (_, index) => index,
  );
  const [head, ...body] = rows;
  if (!head || columns.length === 0) return plainToMarkdown(textsIn(block).join('\n'));
  const aligns = listOf(block.column_settings).map((column) => fieldsOf(column).align);
  const rule = columns.map((index) =>
    aligns[index] === 'right' ? '--:' : aligns[index] === 'center' ? ':-:' : '---',
  );
  const lines = [head, rule, ...body].map(
    (cells) => `| ${columns.map((index) => cells[index] ?? '').join(' | ')} |`,
  );
  const caption = plainToMarkdown(textOf(block.caption) ?? '');
  return [...(caption === '' ? [] : [caption, '']), ...lines].join('\n');
}

function cellText(fields: Fields, reading: MarkdownOptions): string {
  const isNumber = typeof fields.value === 'number';
  const text =
    fields.type === 'rich_text'
      ? renderInline(spansOf(fields, reading)).trim()
      : plainToMarkdown(textsIn(fields).join(' ') || (isNumber ? String(fields.value) : ''));
  return text.replaceAll('|', '\\|').replaceAll('\n', '<br>');
}

/** Returns a `rich_text` block, the form of people's messages, as Markdown. Slack escapes nothing in the block. */
function richTextToMarkdown(block: Fields, reading: MarkdownOptions): string {
  let result = '';
  let wasList = false;
  let level = -1;
  for (const part of listOf(block.elements).map(fieldsOf)) {
    const isList = part.type === 'rich_text_list';
    level = isList ? Math.min(toCount(part.indent), level + 1, 8) : -1;
    const text = isList ? renderList(part, level, reading) : renderPart(part, reading);
    if (text === '') continue;
    const markdown = part.type === 'rich_text_quote' || part.border === 1 ? quoteLines(text) : text;
    const between = wasList && isList ? '\n' : '\n\n';
    result += result === '' ? markdown : between + markdown;
    wasList = isList;
  }
  return result;
}

function renderPart(part: Fields, reading: MarkdownOptions): string {
  if (part.type !== 'rich_text_preformatted') return trimLines(renderInline(spansOf(part, reading)));
  const language = /^[\w+#.-]{1,30}$/.exec(textOf(part.language) ?? '')?.[0];
  return fence(codeOf(part, reading), language);
}

/** Returns code as it was typed: Slack also turns addresses in code into links. */
const codeOf = (part: Fields, { names, onEverybody }: MarkdownOptions): string =>
  spansOf({ elements: part.elements }, { names, onEverybody })
    .map(({ text, url = '' }) => text || url)
    .join('');

/** Slack sends each level of a nested list as a separate list. */
function renderList(fields: Fields, level: number, reading: MarkdownOptions): string {
  const margin = ' '.repeat(4 * level);
  const first = toCount(fields.offset) + 1;
  const items = listOf(fields.elements).map((item, index) => {
    const mark = fields.style === 'ordered' ? `${first + index}. ` : '- ';
    const [head = '', ...rest] = trimLines(renderInline(spansOf(item, reading))).split('\n');
    const hanging = rest.map((line) => (line === '' ? '' : margin + ' '.repeat(mark.length) + line));
    return [margin + mark + head.trimStart(), ...hanging].join('\n').trimEnd();
  });
  return items.join('\n');
}

function toCount(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.max(0, value as number) : 0;
}

/** Returns an element, or all in it, each of those with elements of its own in another line. */
function spansOf(element: unknown, reading: MarkdownOptions): Span[] {
  const fields = fieldsOf(element);
  if (Array.isArray(fields.elements)) {
    if (fields.type === 'rich_text_preformatted') return [{ text: codeOf(fields, reading), code: true }];
    return fields.elements.flatMap((inner, index) => {
      const isLine = index > 0 && Array.isArray(fieldsOf(inner).elements);
      return [...(isLine ? [{ text: '\n' }] : []), ...spansOf(inner, reading)];
    });
  }
  if (fields.type === 'user')
    return [{ ...styleOf(fields), ...userSpan(textOf(fields.user_id) ?? '', reading) }];
  const { text, url } = inlineOf(fields, element, reading);
  return [{ text, url: url === undefined ? url : cleanText(url), ...styleOf(fields) }];
}

function styleOf({ style }: Fields): Omit<Span, 'text'> {
  const { bold, italic, strike, code } = fieldsOf(style);
  return { bold: bold === true, italic: italic === true, strike: strike === true, code: code === true };
}

function inlineOf(fields: Fields, element: unknown, reading: MarkdownOptions): Span {
  const { names } = reading;
  const field = (name: string) => textOf(fields[name]) ?? '';
  const url = textOf(fields.url);
  switch (fields.type) {
    case 'channel':
      return { text: channelName(names, field('channel_id')) };
    case 'usergroup':
      return { text: groupName(names, field('usergroup_id')) };
    case 'broadcast':
      return everybodySpan(field('range') || 'channel', reading);
    case 'team':
      return { text: '@some-workspace' };
    case 'emoji':
      return { text: renderEmoji(fields) };
    case 'color':
      return { text: cleanText(field('value')) };
    case 'date':
      return { text: cleanText(formatDate(fields.timestamp, field('fallback'))), url };
    case 'link':
      if (url !== undefined) return { text: cleanText(field('text')), url };
  }
  const text = fields.type === 'text' && field('text') ? field('text') : textsIn(element).join(' ');
  return { text: cleanText(text) };
}

/** Returns the emoji's character if Slack sends it, as for all but a workspace's own emoji; else `:name:`. */
function renderEmoji({ name, unicode }: Fields): string {
  const codes = (textOf(unicode) ?? '').split('-');
  if (codes.every((code) => /^[0-9a-f]{2,6}$/i.test(code) && Number.parseInt(code, 16) <= 0x10ffff)) {
    return String.fromCodePoint(...codes.map((code) => Number.parseInt(code, 16)));
  }
  return cleanText(`:${textOf(name) ?? 'emoji'}:`);
}

import { kindOfId } from '../ids.ts';
import { cut, stripInvisible } from '../text.ts';
import {
  cleanText,
  EVERYBODY,
  fence,
  formatDate,
  type MarkdownOptions,
  type Mentions,
  mentionSpan,
  mrkdwnToMarkdown,
  type Names,
  nameOf,
  renderInline,
  type Span,
} from './inline.ts';

/** The fields of a Slack message with its author's text, as Slack sent them. */
export interface MessageText {
  text?: unknown;
  blocks?: unknown;
  attachments?: unknown;
}

/** Fields of a Slack payload: each may be missing or of another type. */
type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const paragraphs = (parts: string[]) =>
  parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n');

/** Returns the text with `> ` before every line. */
const quoteLines = (markdown: string) => markdown.replace(/^(?=.)/gm, '> ').replace(/^$/gm, '>');

/**
 * Returns the author's text, as Markdown for a reader outside Slack: mentions as names, links kept, dates in UTC, code
 * unchanged. Its source is `blocks`, the typed text, or `text` if there are none. It includes pasted tables, and quotes
 * shared messages (see `mayQuote`), but no other previews or files. Empty if there is no text.
 *
 * Plain text is not escaped (see `renderInline`), and only quotes are cut: Slack limits messages to 40,000 characters.
 * The result has no invisible characters (see `stripInvisible`), and no Slack tokens outside code.
 */
export function messageToMarkdown(
  message: MessageText,
  names: Names,
  { withoutMention }: Pick<MarkdownOptions, 'withoutMention'> = {},
): string {
  const reading = { names, withoutMention };
  const { text, blocks, attachments } = fieldsOf(withoutDepth(message));
  const attached = listOf(attachments).map(fieldsOf);
  return paragraphs([
    writtenIn(text, listOf(blocks), reading),
    ...attached.map((one) =>
      isPasted(one) ? writtenIn('', listOf(one.blocks), reading) : quoteShared(one, reading),
    ),
  ]);
}

/** Deeper than anything that people can write, and far from a stack overflow. */
const MAX_DEPTH = 40;

/** Returns a value without the parts that are nested too deeply. */
function withoutDepth(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((one) => withoutDepth(one, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutDepth(one, depth + 1)]));
}

/** Returns a message without those that it shares: only its author's words. */
export const ownWords = (message: MessageText): MessageText => ({
  ...message,
  attachments: listOf(message.attachments).filter((one) => isPasted(fieldsOf(one))),
});

/** Whether a message shares files, or a message that `messageToMarkdown` does not quote. */
export const leavesSharedOut = (message: MessageText, names: Names): boolean =>
  listOf(fieldsOf(withoutDepth(message)).attachments)
    .map(fieldsOf)
    .some((one) => isShared(one) && (listOf(one.files).length > 0 || quoteShared(one, { names }) === ''));

/** Returns the ids whose names `messageToMarkdown` needs for these messages, each once. */
export function findMentions(...messages: readonly MessageText[]): Mentions {
  const found = { users: new Set<string>(), channels: new Set<string>(), groups: new Set<string>() };
  const record = (ids: Set<string>, isKnown: (kind: ReturnType<typeof kindOfId>) => boolean) => ({
    get(id: string) {
      if (isKnown(kindOfId(id)) || id === EVERYBODY) ids.add(id);
      return 'somebody';
    },
  });
  const names = {
    users: record(found.users, (kind) => kind === 'person'),
    channels: record(found.channels, (kind) => kind === 'channel' || kind === 'directMessage'),
    groups: record(found.groups, (kind) => kind === 'group'),
  };
  for (const message of messages) messageToMarkdown(message, names);
  const { users, channels, groups } = found;
  const everybody = groups.delete(EVERYBODY);
  return { users: [...users], channels: [...channels], groups: [...groups], everybody };
}

/** Fields that only link previews, shared messages and attachments of apps have. */
const UNFURL_FIELDS = [
  'is_share',
  'is_msg_unfurl',
  'is_app_unfurl',
  'from_url',
  'title_link',
  'bot_id',
  'app_id',
];

const isPasted = (attachment: Fields) => !UNFURL_FIELDS.some((field) => Boolean(attachment[field]));

/** Slack sets the first on forwarded messages, and only the second on the preview of a link to a message. */
const isShared = ({ is_share, is_msg_unfurl }: Fields) => Boolean(is_share) || Boolean(is_msg_unfurl);

/**
 * A person who forwards a message shows it to everybody here. The preview of a link is only for those who can see the
 * message: everybody, if its channel has a public name.
 */
const mayQuote = ({ is_share, channel_id }: Fields, { channels }: Names) =>
  Boolean(is_share) || channels.get(textOf(channel_id)) !== undefined;

/** Maximum characters of a quoted message. */
const MAX_QUOTE_LENGTH = 2000;

/** Returns a shared message as a quote under its author's name; an empty text if it may not be quoted. */
function quoteShared(attachment: Fields, { names }: MarkdownOptions): string {
  if (!isShared(attachment) || !mayQuote(attachment, names)) return '';
  const { text, author_name, blocks, message_blocks } = attachment;
  const ofMessage = listOf(message_blocks).flatMap((one) => listOf(fieldsOf(fieldsOf(one).message).blocks));
  const written = writtenIn(text, [...listOf(blocks), ...ofMessage], { names });
  // A cut text may end within an emoji.
  const quote = stripInvisible(cut(written, MAX_QUOTE_LENGTH));
  return quote === '' ? '' : quoteMessage(textOf(author_name), quote);
}

/** Returns a message's Markdown as a quote under its author's name. Nothing in either can end the quote. */
export const quoteMessage = (author: string | undefined, markdown: string): string =>
  `Message from ${nameOf(author) ?? 'someone'}:\n\n${quoteLines(markdown)}`;

/** Returns the blocks as Markdown, or else the text. */
const writtenIn = (text: unknown, blocks: readonly unknown[], reading: MarkdownOptions): string =>
  paragraphs(blocks.map((block) => blockToMarkdown(fieldsOf(block), reading))) ||
  mrkdwnToMarkdown(textOf(text), reading).trim();

/** Returns a block as Markdown. People write rich text and tables; of other blocks, it returns all texts. */
function blockToMarkdown(block: Fields, reading: MarkdownOptions): string {
  if (block.type === 'rich_text') return richTextToMarkdown(block, reading);
  const isTable = block.type === 'table' || block.type === 'data_table';
  return (isTable && tableToMarkdown(block, reading)) || textsIn(block, reading).join('\n');
}

/**
 * Returns the web addresses that a message's author links to, in order and each once; not those of previews and shared
 * messages.
 */
export function findLinks(message: MessageText): string[] {
  const { text, blocks, attachments } = fieldsOf(withoutDepth(ownWords(message)));
  const found = new Set<string>();
  const collect = (part: unknown) => {
    if (typeof part === 'string')
      for (const [, address = ''] of part.matchAll(/<(https?:[^|<>\s]+)/g))
        found.add(address.replaceAll('&amp;', '&'));
    if (typeof part !== 'object' || part === null) return;
    const { type, url } = fieldsOf(part);
    if (type === 'link' && url !== undefined) found.add(textOf(url));
    for (const [name, one] of Object.entries(part))
      if (typeof one === 'object' || TEXT_FIELDS.has(name)) collect(one);
  };
  collect([blocks, listOf(attachments).map((one) => fieldsOf(one).blocks), { text }]);
  return [...found];
}

/** Fields with visible text. */
const TEXT_FIELDS = new Set([
  ...['text', 'title', 'subtitle', 'label', 'body', 'caption', 'description', 'fallback', 'alt_text'],
]);

/** Fields of buttons and inputs whose text nobody sees in the message. */
const HIDDEN_FIELDS = new Set(['confirm', 'placeholder', 'workflow']);

/** Returns every visible text in a value of unknown type, in order and each once. */
function textsIn(value: unknown, reading: MarkdownOptions): string[] {
  const found = new Set<string>();
  const collect = (part: unknown, key: string) => {
    if (typeof part === 'string' && TEXT_FIELDS.has(key)) found.add(mrkdwnToMarkdown(part, reading));
    if (typeof part !== 'object' || part === null) return;
    for (const [name, one] of Object.entries(part))
      if (!HIDDEN_FIELDS.has(name)) collect(one, Array.isArray(part) ? key : name);
  };
  collect(value, '');
  return [...found].filter((text) => text !== '');
}

/** Slack allows 20 columns. Rows are padded to the longest one, so one endless row would lengthen all. */
const MAX_COLUMNS = 100;

/** Returns the rows of a table block as a Markdown table. The first row is the head, since Markdown needs one. */
function tableToMarkdown({ rows: given }: Fields, reading: MarkdownOptions): string {
  const rows = listOf(given).map((row) =>
    listOf(row)
      .slice(0, MAX_COLUMNS)
      .map((cell) => cellText(cell, reading)),
  );
  const width = Math.max(0, ...rows.map(({ length }) => length));
  if (width === 0) return '';
  const lines = rows.map((row) => [...row, ...Array<string>(width - row.length).fill('')]);
  lines.splice(1, 0, Array<string>(width).fill('---'));
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const cellText = (cell: unknown, reading: MarkdownOptions) =>
  renderInline(spansOf(cell, reading)).trim().replaceAll('|', '\\|').replaceAll('\n', '<br>');

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
    result += result === '' ? markdown : `${wasList && isList ? '\n' : '\n\n'}${markdown}`;
    wasList = isList;
  }
  return result;
}

function renderPart(part: Fields, reading: MarkdownOptions): string {
  if (part.type !== 'rich_text_preformatted') return renderInline(spansOf(part, reading));
  const language = /^[\w+#.-]{1,30}$/.exec(textOf(part.language))?.[0];
  return fence(codeOf(part, reading), language);
}

/** Returns code as it was typed: Slack also turns addresses in code into links. */
const codeOf = (part: Fields, { names }: MarkdownOptions): string =>
  spansOf({ elements: part.elements }, { names })
    .map(({ text, url = '' }) => text || url)
    .join('');

/** Slack sends each level of a nested list as a separate list. */
function renderList(fields: Fields, level: number, reading: MarkdownOptions): string {
  const margin = ' '.repeat(4 * level);
  const first = toCount(fields.offset) + 1;
  const items = listOf(fields.elements).map((item, index) => {
    const mark = fields.style === 'ordered' ? `${first + index}. ` : '- ';
    const [head = '', ...rest] = renderInline(spansOf(item, reading)).split('\n');
    const hanging = rest.map((line) => (line === '' ? '' : margin + ' '.repeat(mark.length) + line));
    return [margin + mark + head.trimStart(), ...hanging].join('\n').trimEnd();
  });
  return items.join('\n');
}

/** The value of a color, or of a number in a table. */
const valueText = (value: unknown) => (typeof value === 'number' ? String(value) : cleanText(textOf(value)));

const toCount = (value: unknown) => (Number.isSafeInteger(value) ? Math.max(0, value as number) : 0);

/** Returns an element, or all in it, each of those with elements of its own in another line. */
function spansOf(element: unknown, reading: MarkdownOptions): Span[] {
  const fields = fieldsOf(element);
  if (!Array.isArray(fields.elements)) {
    const { bold, italic, strike, code } = fieldsOf(fields.style);
    const style = { bold: !!bold, italic: !!italic, strike: !!strike, code: !!code };
    return [{ ...style, ...elementToSpan(fields, reading) }];
  }
  if (fields.type === 'rich_text_preformatted') return [{ text: codeOf(fields, reading), code: true }];
  return fields.elements.flatMap((inner, index) => {
    const isLine = index > 0 && Array.isArray(fieldsOf(inner).elements);
    return [...(isLine ? [{ text: '\n' }] : []), ...spansOf(inner, reading)];
  });
}

function elementToSpan(fields: Fields, reading: MarkdownOptions): Span {
  const field = (name: string) => cleanText(textOf(fields[name]));
  const { type } = fields;
  if (type === 'text' || type === 'raw_text') return { text: field('text') };
  if (type === 'user') return mentionSpan('users', field('user_id'), reading);
  if (type === 'channel') return mentionSpan('channels', field('channel_id'), reading);
  if (type === 'usergroup') return mentionSpan('groups', field('usergroup_id'), reading);
  if (type === 'broadcast') return mentionSpan('groups', EVERYBODY, reading, field('range') || 'channel');
  if (type === 'emoji') return { text: emojiOf(field('unicode')) ?? `:${field('name') || 'emoji'}:` };
  if (type === 'date') return { text: formatDate(fields.timestamp, field('fallback')) };
  if (type === 'link') return { text: field('text'), ...(field('url') && { url: field('url') }) };
  return { text: textsIn(fields, reading).join(' ') || valueText(fields.value) };
}

/** Returns the emoji's character if Slack sends it, as for all but a workspace's own emoji. */
function emojiOf(unicode: string): string | undefined {
  const codes = unicode
    .split('-')
    .map((code) => (/^[0-9a-f]{2,6}$/i.test(code) ? Number.parseInt(code, 16) : 0));
  return codes.every((code) => code > 0 && code <= 0x10ffff)
    ? cleanText(String.fromCodePoint(...codes))
    : undefined;
}

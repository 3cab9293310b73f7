import { cut, stripInvisible } from '../text.ts';
import { blocksToMarkdown, type Fields, fieldsOf, listOf, textOf } from './blocks.ts';
import { mrkdwnToMarkdown, quoteLines } from './inline.ts';
import { authorName, type MarkdownOptions, type Mentions, type Names } from './names.ts';

/** The fields of a Slack message with its author's text, as Slack sent them. */
export interface MessageText {
  text?: unknown;
  blocks?: unknown;
  attachments?: unknown;
}

/**
 * Returns the author's text, as Markdown for a reader outside Slack: mentions as names, links kept, dates in UTC, code
 * unchanged. Its source is `blocks`, the typed text, or `text` if there are none. It includes pasted tables, and quotes
 * shared messages (see `mayQuote`), but no other previews or files. Empty if there is no text.
 *
 * Plain text is not escaped (see `renderInline`), and only quotes are cut: Slack limits messages to 40,000 characters.
 * The result has no invisible characters (see `stripInvisible`), and no Slack tokens outside code.
 */
export const messageToMarkdown = (
  message: MessageText,
  names: Names,
  { withoutMention }: Pick<MarkdownOptions, 'withoutMention'> = {},
): string => toMarkdown(message, { names, withoutMention });

function toMarkdown(message: MessageText, reading: MarkdownOptions): string {
  const { text, blocks, attachments } = fieldsOf(withoutDepth(message));
  const written = blocksToMarkdown(blocks, reading).trim() || mrkdwnToMarkdown(textOf(text) ?? '', reading);
  const attached = listOf(attachments)
    .map(fieldsOf)
    .map((one) => (isPasted(one) ? attachmentToMarkdown(one, reading) : quoteShared(one, reading)));
  return [written, ...attached]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Deeper than anything that people can write, and far from a stack overflow. */
const MAX_DEPTH = 40;

/** Returns a value without what is too deep in it. */
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

/** Returns the ids whose names `messageToMarkdown` needs, each once. */
export function findMentions(message: MessageText): Mentions {
  const users = new Set<string>();
  const channels = new Set<string>();
  const groups = new Set<string>();
  let everybody = false;
  const record = (ids: Set<string>, shape: RegExp) => ({
    get(id: string) {
      if (shape.test(id)) ids.add(id);
      return 'somebody';
    },
  });
  const names = {
    users: record(users, /^[UW][A-Z0-9]+$/),
    channels: record(channels, /^[CDG][A-Z0-9]+$/),
    groups: record(groups, /^S[A-Z0-9]+$/),
  };
  const onEverybody = () => {
    everybody = true;
  };
  toMarkdown(message, { names, onEverybody });
  return { users: [...users], channels: [...channels], groups: [...groups], everybody };
}

/** Characters that show the kind of a message: a command, an aside or something else. */
const BEGINNING_LENGTH = 2000;

/** Returns the beginning of a long message: enough to recognize its kind, and cheap to process. */
export function beginningOf(message: MessageText): MessageText {
  const text = textOf(message.text);
  return text !== undefined && text.length > BEGINNING_LENGTH
    ? { text: text.slice(0, BEGINNING_LENGTH) }
    : message;
}

/** Fields that only link previews, shared messages and attachments of apps have. */
const UNFURL_FIELDS = [
  'is_share',
  'is_msg_unfurl',
  'is_reply_unfurl',
  'is_app_unfurl',
  'app_unfurl_url',
  'from_url',
  'original_url',
  'title_link',
  'service_name',
  'author_id',
  'message_blocks',
  'bot_id',
  'app_id',
];

function isPasted(attachment: Fields): boolean {
  return !UNFURL_FIELDS.some((field) => Boolean(attachment[field]));
}

/** Slack sets the first on forwarded messages, and only the second on the preview of a link to a message. */
const isShared = ({ is_share, is_msg_unfurl }: Fields) => Boolean(is_share) || Boolean(is_msg_unfurl);

/**
 * A person who forwards a message shows it to everybody here. The preview of a link is only for those who can see the
 * message: everybody, if its channel has a public name.
 */
const mayQuote = ({ is_share, channel_id }: Fields, { channels }: Names) =>
  Boolean(is_share) || channels.get(textOf(channel_id) ?? '') !== undefined;

/** Maximum characters of a quoted message. */
const MAX_QUOTE_LENGTH = 2000;

/** Returns a shared message as a quote under its author's name; an empty text if it may not be quoted. */
function quoteShared(attachment: Fields, { names, onEverybody }: MarkdownOptions): string {
  if (!isShared(attachment) || !mayQuote(attachment, names)) return '';
  const said = attachmentToMarkdown(attachment, { names, onEverybody }).trim();
  // A cut text may end within an emoji.
  const quote = stripInvisible(cut(said, MAX_QUOTE_LENGTH));
  return quote === ''
    ? ''
    : `Message from ${authorName(textOf(attachment.author_name))}:\n\n${quoteLines(quote)}`;
}

/** Returns the blocks of an attachment; for a shared message, those of the message. */
const blocksIn = ({ blocks, message_blocks }: Fields): readonly unknown[] => [
  ...listOf(blocks),
  ...listOf(message_blocks).flatMap((one) => listOf(fieldsOf(fieldsOf(one).message).blocks)),
];

function attachmentToMarkdown(attachment: Fields, reading: MarkdownOptions): string {
  const read = blocksToMarkdown(blocksIn(attachment), reading);
  if (read !== '') return read;
  const { pretext, title, text } = attachment;
  return [pretext, title, text]
    .map((part) => mrkdwnToMarkdown(textOf(part) ?? '', reading))
    .filter((part) => part !== '')
    .join('\n\n');
}

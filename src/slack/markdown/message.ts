import { blocksMarkdown } from './blocks.ts';
import { mrkdwn } from './mrkdwn.ts';
import type { Names } from './names.ts';
import { type Fields, fieldsOf, listOf, textOf } from './payload.ts';
import type { Reading } from './reading.ts';

/** The fields of a Slack message that hold what its author wrote, as Slack sent them. */
export interface MessageText {
  text?: unknown;
  blocks?: unknown;
  attachments?: unknown;
}

/** Who and what a message mentions, by id. */
export interface Mentions {
  users: string[];
  channels: string[];
  groups: string[];
  /** `@here`, `@channel` or `@everyone`. */
  everybody: boolean;
}

/**
 * What the author wrote, as Markdown for a reader outside Slack: mentions as names, links kept, dates in UTC, code
 * as it is. `blocks` where there are any, since they are what was typed; else `text`. Pasted tables come along.
 * Previews of links, other messages that were shared, and files do not. Empty when there is no text.
 *
 * Plain text is not escaped (see `inline`), and nothing is cut: Slack ends messages at 40,000 characters. There is
 * nothing in it that nobody sees (see `visible`), and outside code there are no tokens of Slack's.
 */
export function messageMarkdown(
  message: MessageText,
  names: Names,
  { withoutMention }: { withoutMention?: string } = {},
): string {
  return read(message, { names, ...(withoutMention === undefined ? {} : { without: withoutMention }) });
}

function read(message: MessageText, reading: Reading): string {
  const { text, blocks, attachments } = fieldsOf(message);
  const written = blocksMarkdown(blocks, reading).trim() || mrkdwn(textOf(text) ?? '', reading);
  const pasted = listOf(attachments).map(fieldsOf).filter(isPasted);
  return [written, ...pasted.map((attachment) => attachmentMarkdown(attachment, reading))]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n');
}

/** The ids to look up before `messageMarkdown`, each once. */
export function mentionedIn(message: MessageText): Mentions {
  const found = { users: new Set<string>(), channels: new Set<string>(), groups: new Set<string>() };
  const noting = (ids: Set<string>, shape: RegExp) => ({
    get: (id: string) => {
      if (shape.test(id)) ids.add(id);
      return undefined;
    },
  });
  let everybody = false;
  const names = {
    users: noting(found.users, /^[UW][A-Z0-9]+$/),
    channels: noting(found.channels, /^[CDG][A-Z0-9]+$/),
    groups: noting(found.groups, /^S[A-Z0-9]+$/),
  };
  read(message, {
    names,
    onEverybody: () => {
      everybody = true;
    },
  });
  return { users: [...found.users], channels: [...found.channels], groups: [...found.groups], everybody };
}

/** Fields that only previews of links, shared messages and what apps add have. */
const ADDED = [
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
  return !ADDED.some((field) => Boolean(attachment[field]));
}

function attachmentMarkdown({ blocks, pretext, title, text }: Fields, reading: Reading): string {
  const read = blocksMarkdown(blocks, reading);
  if (read !== '') return read;
  return [pretext, title, text]
    .map((part) => mrkdwn(textOf(part) ?? '', reading))
    .filter((part) => part !== '')
    .join('\n\n');
}

import type {
  ActionsBlock,
  Button,
  ContextBlock,
  KnownBlock,
  Overflow,
  PlainTextElement,
  RichTextBlock,
  RichTextElement,
} from '@slack/types';
import type { MessageBlock } from '../store/messages.ts';
import { SLACK_LIMITS } from './limits.ts';
import { bidiIsolate, cut, cutBytes, escapeText, singleLine } from './text.ts';

/** The content of a message: blocks, and a text for notifications and screen readers. */
export interface Message<B extends MessageBlock = MessageBlock> {
  text: string;
  blocks: B[];
}

/**
 * A piece of a line. Plain strings appear unchanged: they can neither mention anyone nor become markup. `mention`
 * notifies the user or the user group; `channel` notifies nobody, and Slack shows its name only to those who may know it. `link` is an
 * http(s) address. `time` appears in each reader's own zone; `format` is one of Slack's date formats.
 */
export type Part =
  | string
  | { bold: string }
  | { code: string }
  | { mention: string }
  | { channel: string }
  | { link: string; label: string }
  | { time: number; format: string };

/** A line of a message. One that is false, undefined or empty is left out. */
export type Line = Part[] | string | false | undefined;

/** A button. `action` is the id of its listener, which also runs when the button has a `url`. */
export interface ButtonParts {
  label: string;
  action: string;
  value?: string;
  /** An http(s) address, or a placeholder from `linkPlaceholder`. */
  url?: string;
  style?: 'primary' | 'danger';
  /** The confirmation that the person sees first. */
  confirm?: { title: string; text: string; yes: string; no: string; style?: 'danger' };
}

/** Rare actions, in the overflow menu after the buttons. */
export interface MenuParts {
  /** Each does what the button of the same `action` does. */
  entries: Pick<ButtonParts, 'label' | 'action'>[];
  /** The value of those buttons. It is the block's id, since an entry holds few characters. */
  value: string;
}

/** A message from top to bottom. Its text for phones and screen readers is the lines and the small print. */
export interface Layout {
  /** Stands before the first line, and is not spoken. */
  icon?: string;
  /** These people are mentioned once, before the first line. A phone shows the line before the names. */
  mention?: readonly { id: string }[];
  /** In full size: the state in bold with its subject, then the consequences. */
  lines: Line[];
  /** Small print: who, when, ids. */
  small?: Line[];
  /** A picture under the lines, with what a screen reader says of it. Slack refuses the blocks if it cannot load it. */
  picture?: { url: string; alt: string } | undefined;
  buttons?: (ButtonParts | false | undefined)[];
  menu?: MenuParts | undefined;
  /** Replaces the spoken lines where the eye sees more, such as a bar: state, subject and number in words. */
  text?: Line[];
}

/** Mentions in one message. */
const MAX_MENTIONS = 20;

/** The `action_id` of every menu: an entry's value names its button. */
export const MENU_ACTION = 'menu';

/** Maximum bytes of a `text`; the rest is for the preface of a message moved to a direct message. */
const MAX_TEXT_BYTES = SLACK_LIMITS.editedTextBytes - 1000;

/** Returns a message of lines, then a row of buttons. */
export const message = (lines: Line[], buttons?: Layout['buttons']): Message<KnownBlock> =>
  layout({ lines, ...(buttons && { buttons }) });

/** Returns a message that also has an icon, mentions, small print and a menu. */
export function layout({ icon, mention = [], picture, menu, text, ...layout }: Layout): Message<KnownBlock> {
  const [lines, small] = [toLines(layout.lines), toLines(layout.small ?? [])];
  const buttons = (layout.buttons ?? []).filter((one) => one !== false && one !== undefined);
  const ids = [...new Set(mention.map(({ id }) => id))].slice(0, MAX_MENTIONS);
  const before = [...(icon ? [`${icon} `] : []), ...ids.flatMap((id): Part[] => [{ mention: id }, ' '])];
  const parts = [...before, ...joinParts(lines, '\n')];
  // Slack refuses elements without a text.
  const elements = parts.filter((part) => textOfPlain(part) !== '').map(toRichText);
  const blocks: KnownBlock[] = [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];
  if (picture) blocks.push({ type: 'image', image_url: picture.url, alt_text: picture.alt });
  if (small.length > 0) blocks.push(contextBlock(small));
  if (buttons.length > 0 || menu !== undefined) blocks.push(toActions(buttons, menu));
  const [first = [], ...others] = lines;
  const spokenFirst = [...first, ...ids.flatMap((id): Part[] => [' ', { mention: id }])];
  return { text: toText(text ?? [spokenFirst, ...others, ...small]), blocks };
}

/** Returns the lines that are not left out. */
export const toLines = (lines: readonly Line[]): Part[][] =>
  lines.flatMap((line) => (line && line.length > 0 ? [typeof line === 'string' ? [line] : line] : []));

/** Returns the facts in one line, with a separator. */
export const joinParts = (facts: readonly Line[], separator = ' · '): Part[] =>
  toLines(facts).flatMap((parts, index) => (index === 0 ? parts : [separator, ...parts]));

/** Returns a moment as the date and the time. */
export const moment = (time: number): Part => ({ time, format: '{date_short_pretty} at {time}' });

/** Returns a link that follows other facts of a line, if its address is known. */
export const openThreadLink = (link: string | undefined): Part[] =>
  link === undefined ? [] : [' · ', { link, label: 'Open thread' }];

/** Returns the button that opens a thread, if its address is known. */
export const openThreadButton = (action: string, url: string | undefined): ButtonParts[] =>
  url === undefined ? [] : [{ label: 'Open thread', action, url }];

/** Returns a message of several parts, from top to bottom. `text` replaces their texts. Repeated buttons name their part. */
export function compose(parts: (Message | MessageBlock)[], text?: Line[]): Message {
  const labels = parts
    .flatMap((part) => ('blocks' in part ? part.blocks : []))
    .flatMap((block) => (block.type === 'actions' ? block.elements : []))
    .flatMap((one) => (one.type === 'button' ? one.text.text : []));
  const isRepeated = ({ text }: Button) => labels.indexOf(text.text) !== labels.lastIndexOf(text.text);
  const blocks = parts.flatMap((part) =>
    'blocks' in part ? part.blocks.map((block) => withSpokenLabels(block, isRepeated, part)) : [part],
  );
  const texts = parts.flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : []));
  return { text: text ? toText(text) : cutBytes(texts.join('\n'), MAX_TEXT_BYTES), blocks };
}

/** A screen reader reads labels without what stands above them, so repeated ones get the first lines of their part. */
function withSpokenLabels(block: MessageBlock, isRepeated: (one: Button) => boolean, { blocks }: Message) {
  if (block.type !== 'actions') return block;
  const [first] = blocks;
  const lines = first?.type === 'rich_text' ? first.elements : [];
  const words = lines.flatMap((line) => line.elements.map((one) => ('text' in one ? String(one.text) : '')));
  const spokenLabel = ({ text }: Button) =>
    cut(singleLine(`${text.text}: ${spoken(words.join(''))}`), SLACK_LIMITS.buttonText);
  const elements = block.elements.map((one) =>
    one.type === 'button' && isRepeated(one) ? { ...one, accessibility_label: spokenLabel(one) } : one,
  );
  return { ...block, elements };
}

/** A piece of small print. Without a `type`, it looks the same as plain text and as markup. */
interface SmallText {
  type?: 'plain_text' | 'mrkdwn';
  text: string;
}

/** Returns a block of preformatted text, easy to copy. */
export function preformatted(text: string): RichTextBlock {
  const elements = [{ type: 'text' as const, text }];
  return { type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements }] };
}

/** Returns small lines, which explain the rest. */
export function contextBlock(lines: Part[][]): ContextBlock {
  const texts: SmallText[] = [];
  for (const small of joinParts(lines, '\n').map(toSmallText)) {
    const last = texts.at(-1);
    if (last && (!small.type || !last.type || last.type === small.type)) {
      last.text += small.text;
      if (small.type) last.type = small.type;
    } else if (last || small.text.trim() !== '') texts.push(small);
  }
  // Without these, `:x:` in a person's name would be a picture, and addresses and channel names would be links.
  const elements = texts
    .filter(({ text }) => text.trim() !== '')
    .map(({ type = 'plain_text', text }) =>
      type === 'mrkdwn' ? { type, text, verbatim: true } : { type, text, emoji: false },
    );
  return { type: 'context', elements };
}

/** Looks the same in plain text and in markup, so it needs no element of its own. */
const WORDS_ALONE = /^(?:[\p{L}\p{N} ·,()'\n-]|\.(?=\s|$))*$/u;

/** Other people's text is plain text; only links, names, ids and commands need markup. */
function toSmallText(part: Part): SmallText {
  if (typeof part !== 'string' && 'code' in part && /^[\w./: -]+$/u.test(part.code))
    return { type: 'mrkdwn', text: `\`${part.code}\`` };
  const text = typeof part !== 'string' && 'code' in part ? bidiIsolate(part.code) : textOfPlain(part);
  if (text === undefined) return { type: 'mrkdwn', text: toMrkdwn(part) };
  return WORDS_ALONE.test(text) ? { text } : { type: 'plain_text', text };
}

/** Returns the text of a plain part; undefined for others. */
function textOfPlain(part: Part): string | undefined {
  if (typeof part === 'string') return part;
  if ('bold' in part) return part.bold;
  return 'code' in part ? part.code : undefined;
}

/** Screen readers read the text aloud, so the signs of a change are words in it, and no line begins with an icon. */
const spoken = (text: string) =>
  text
    .replaceAll(/^\p{Extended_Pictographic}\uFE0F? /gmu, '')
    .replaceAll('▲ ', 'up ')
    .replaceAll('▼ ', 'down ');

const toText = (lines: readonly Line[]) =>
  cutBytes(spoken(joinParts(lines, '\n').map(toMrkdwn).join('')), MAX_TEXT_BYTES);

function toRichText(part: Part): RichTextElement {
  if (typeof part === 'string') return { type: 'text', text: part };
  if ('bold' in part) return { type: 'text', text: part.bold, style: { bold: true } };
  if ('code' in part) return { type: 'text', text: part.code, style: { code: true } };
  if ('mention' in part)
    return isGroup(part.mention)
      ? { type: 'usergroup', usergroup_id: part.mention }
      : { type: 'user', user_id: part.mention };
  if ('channel' in part) return { type: 'channel', channel_id: part.channel };
  if ('link' in part) return { type: 'link', url: part.link, text: part.label };
  return {
    type: 'date',
    timestamp: toSeconds(part.time),
    format: part.format,
    fallback: formatUtc(part.time),
  };
}

function toMrkdwn(part: Part): string {
  if (typeof part === 'string') return escapeText(part);
  if ('bold' in part) return escapeText(part.bold);
  if ('code' in part) return escapeText(part.code);
  if ('mention' in part) return isGroup(part.mention) ? `<!subteam^${part.mention}>` : `<@${part.mention}>`;
  if ('channel' in part) return `<#${part.channel}>`;
  if ('link' in part) return mrkdwnLink(part.link, part.label);
  return `<!date^${toSeconds(part.time)}^${part.format}|${formatUtc(part.time)}>`;
}

/** Ids of people begin with U or W. */
const isGroup = (id: string) => id.startsWith('S');

const toSeconds = (ms: number) => Math.floor(ms / 1000);

function formatUtc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function toActions(buttons: ButtonParts[], menu: MenuParts | undefined): ActionsBlock {
  const elements = buttons.map(toButton);
  if (menu === undefined) return { type: 'actions', elements };
  const options = menu.entries.map(({ label, action }) => ({ text: plainText(label), value: action }));
  const overflow: Overflow = { type: 'overflow', action_id: MENU_ACTION, options };
  return { type: 'actions', block_id: menu.value, elements: [...elements, overflow] };
}

function toButton({ label, action, value, url, style, confirm }: ButtonParts): Button {
  return {
    type: 'button',
    text: plainText(label),
    action_id: action,
    ...(value !== undefined && { value }),
    ...(url !== undefined && { url }),
    ...(style && { style }),
    ...(confirm && {
      confirm: {
        title: plainText(confirm.title),
        text: plainText(confirm.text),
        confirm: plainText(confirm.yes),
        deny: plainText(confirm.no),
        ...(confirm.style && { style: confirm.style }),
      },
    }),
  };
}

/** Returns a text object in which nothing is markup. */
export const plainText = (text: string): PlainTextElement => ({ type: 'plain_text', text });

const LINK_SCHEME = 'docket-link:';

/** Returns a placeholder for a presigned link in a stored message, which `fillLinks` replaces on delivery. */
export const linkPlaceholder = (name: string) => `${LINK_SCHEME}${name}`;

/** Returns the message with a line before it. */
export function withPreface(original: Message, preface: Part[]): Message {
  const { text, blocks } = message([preface]);
  return { text: `${text}\n${original.text}`, blocks: [...blocks, ...original.blocks] };
}

/**
 * Returns the message with its link placeholders replaced. If a link has expired, its button is left out. If its
 * address is too long for a Slack button, a line with the link replaces the button.
 */
export async function fillLinks(original: Message, findLink: (name: string) => Promise<string | undefined>) {
  const blocks: MessageBlock[] = [];
  for (const block of original.blocks) {
    if (block.type !== 'actions') {
      blocks.push(block);
      continue;
    }
    const elements: typeof block.elements = [];
    for (const element of block.elements) {
      const isLink = element.type === 'button' && element.url?.startsWith(LINK_SCHEME);
      const url = isLink ? await findLink(element.url?.slice(LINK_SCHEME.length) ?? '') : undefined;
      if (!isLink) elements.push(element);
      else if (url && url.length <= SLACK_LIMITS.buttonUrl) elements.push({ ...element, url });
      else if (url) blocks.push(...message([[{ link: url, label: element.text.text }]]).blocks);
    }
    if (elements.length > 0) blocks.push({ ...block, elements });
  }
  return { text: original.text, blocks };
}

/** Returns a message as text alone, for blocks that Slack refuses: the text, and the links of buttons. */
export function textOnly({ text, blocks }: Message): Message {
  const buttons = blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
  const links = buttons.flatMap((one) =>
    one.type === 'button' && one.url ? [mrkdwnLink(one.url, one.text.text)] : [],
  );
  return { text: [text, ...links].join('\n'), blocks: [] };
}

/** Returns a link in `mrkdwn`, escaped so that nothing in the address can end it early. */
function mrkdwnLink(url: string, label: string): string {
  const address = escapeText(new URL(url).href).replaceAll('|', '%7C');
  return `<${address}|${escapeText(label)}>`;
}

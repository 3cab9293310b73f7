import { labelsOf } from './controls.ts';
import type { Block, Workspace } from './workspace.ts';

/** How ids read to a person. */
export interface Names {
  user(id: string): string;
  channel(id: string): string;
  group(id: string): string;
}

/** The names of a workspace; an id that it does not know stays an id. */
export function namesOf({ users, channels, userGroups }: Workspace): Names {
  return {
    user: (id) => users.find((user) => user.id === id)?.name ?? id,
    channel: (id) => channels.find((channel) => channel.id === id)?.name ?? id,
    group: (id) => userGroups.get(id)?.handle ?? id,
  };
}

type Node = Record<string, unknown>;

/** What a message shows. */
interface Shown {
  text: string;
  blocks: Block[];
  files?: { name: string }[];
}

/**
 * What a person reads: the blocks when there are any, else the text. Mentions as names, dates as their fallback,
 * links as their labels; then its files, and one line with the buttons, as `[Label]`.
 */
export function render(content: Shown, names: Names): string {
  const labels = labelsOf(content.blocks).map((label) => `[${label}]`);
  const files = (content.files ?? []).map(({ name }) => `[file: ${name}]`);
  return [renderText(content, names), ...files, labels.join(' ')].filter(Boolean).join('\n');
}

function renderText({ text, blocks }: Shown, names: Names): string {
  if (blocks.length === 0) return mrkdwn(text, names);
  return lines(blocks.map((block) => renderBlock(block, names)));
}

function renderBlock(block: Node, names: Names): string {
  const part = (value: unknown) => textOf(value, names);
  switch (block.type) {
    case 'section':
      return lines([part(block.text), ...list(block.fields).map(part)]);
    case 'context':
      return words(list(block.elements).map((element) => imageOf(element) ?? part(element))).replace(
        / {2,}/g,
        ' ',
      );
    case 'divider':
      return '———';
    case 'image':
      return lines([part(block.title), imageOf(block)]);
    case 'rich_text':
      return richText(block, names);
    case 'markdown':
      return markdown(String(block.text), names);
    case 'input':
      return part(block.label);
    case 'table':
    case 'data_table':
      return lines([part(block.caption), ...rows(block.rows, names)]);
    case 'data_visualization':
      return lines([part(block.title), ...chart(block.chart)]);
    default:
      return part(block.text);
  }
}

function textOf(value: unknown, names: Names): string {
  if (typeof value === 'string') return value;
  if (!isNode(value)) return '';
  if (value.type === 'mrkdwn') return mrkdwn(String(value.text), names);
  if (value.type === 'rich_text') return richText(value, names);
  return typeof value.text === 'string' ? value.text : '';
}

/** Slack's own markup as it looks: https://docs.slack.dev/messaging/formatting-message-text */
function mrkdwn(source: string, names: Names): string {
  const shown = source.replace(/<([^<>]+)>/g, (_, inside: string) => token(inside, names));
  return unescaped(
    shown
      .replace(/(^|[\s(])([*_~])(\S|\S[^\n]*?\S)\2(?=$|[\s).,:;!?])/gm, '$1$3')
      .replace(/`([^`\n]+)`/g, '$1')
      .replace(/^&gt; ?/gm, '> '),
  );
}

function token(inside: string, names: Names): string {
  const [target = '', label] = inside.split('|');
  if (target.startsWith('@')) return `@${names.user(target.slice(1))}`;
  if (target.startsWith('#')) return `#${label || names.channel(target.slice(1))}`;
  if (target.startsWith('!subteam^')) return `@${names.group(target.slice('!subteam^'.length))}`;
  if (target.startsWith('!date^')) return label ?? '';
  if (target.startsWith('!')) return `@${target.slice(1)}`;
  return label ?? target.replace(/^mailto:/, '');
}

function markdown(source: string, names: Names): string {
  const linked = source.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1');
  const tokens = linked.replace(/<([@#!][^<>]+)>/g, (_, inside: string) => token(inside, names));
  return unescaped(tokens.replace(/\*\*([^*\n]+)\*\*/g, '$1').replace(/^#{1,6} /gm, ''));
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function richText(block: Node, names: Names): string {
  return lines(
    list(block.elements).map((element) => {
      if (element.type === 'rich_text_list') {
        return lines(
          list(element.elements).map((item, index) => {
            const mark = element.style === 'ordered' ? `${index + 1}.` : '•';
            return `${'  '.repeat(Number(element.indent ?? 0))}${mark} ${inline(item, names)}`;
          }),
        );
      }
      const text = inline(element, names);
      return element.type === 'rich_text_quote' ? text.replace(/^/gm, '> ') : text.replace(/\n$/, '');
    }),
  );
}

function inline(parent: Node, names: Names): string {
  return list(parent.elements)
    .map((element) => {
      switch (element.type) {
        case 'user':
          return `@${names.user(String(element.user_id))}`;
        case 'usergroup':
          return `@${names.group(String(element.usergroup_id))}`;
        case 'channel':
          return `#${names.channel(String(element.channel_id))}`;
        case 'broadcast':
          return `@${String(element.range)}`;
        case 'emoji':
          return emoji(element);
        case 'date':
          return String(element.fallback ?? element.timestamp);
        case 'link':
          return String(element.text || element.url);
        default:
          return String(element.text ?? element.value ?? '');
      }
    })
    .join('');
}

function emoji({ unicode, name }: Node): string {
  if (typeof unicode !== 'string') return `:${String(name)}:`;
  return unicode.replace(/[0-9a-f]+-?/gi, (code) => String.fromCodePoint(Number.parseInt(code, 16)));
}

function rows(value: unknown, names: Names): string[] {
  if (!Array.isArray(value)) return [];
  return value.map((row) =>
    list(row)
      .map((cell) => textOf(cell, names))
      .join(' | '),
  );
}

function chart(value: unknown): string[] {
  if (!isNode(value)) return [];
  const pair = ({ label, value: amount }: Node) => `${String(label)} ${String(amount)}`;
  const series = list(value.series).map(
    ({ name, data }) => `${String(name)}: ${list(data).map(pair).join(', ')}`,
  );
  return [...list(value.segments).map(pair), ...series];
}

function imageOf(value: unknown): string | undefined {
  return isNode(value) && value.type === 'image' ? `[image: ${String(value.alt_text)}]` : undefined;
}

function isNode(value: unknown): value is Node {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function list(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function lines(parts: (string | undefined)[]): string {
  return parts.filter(Boolean).join('\n');
}

function words(parts: string[]): string {
  return parts.filter(Boolean).join(' ');
}

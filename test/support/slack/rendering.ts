import { type Names, render } from '../../../demo/slack/render.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import type { Message } from '../../../src/slack/blocks.ts';

const NAMES: Names = {
  user: (id) => (id === 'U0ANA' ? 'Ana' : id),
  channel: (id) => id,
  group: (id) => id,
};

/** What is shown, as a person reads it: mentions by name, times as TIME and their format, buttons by their labels. */
export const reads = ({ blocks }: Message): string =>
  render({ text: '', blocks: withFormats(blocks) }, NAMES);

const inText = (text: string) => text.replace(/<!date\^\d+\^([^|]+)\|[^>]*>/g, 'TIME$1');

function withFormats(blocks: Message['blocks']): Block[] {
  return JSON.parse(JSON.stringify(blocks), (key, node) => {
    if (node?.type === 'date') return { type: 'text', text: `TIME${node.format}` };
    return key === 'text' && typeof node === 'string' ? inText(node) : node;
  });
}

interface AButton {
  text: { text: string };
  action_id: string;
  value?: string;
  url?: string;
  style?: string;
  confirm?: { text: { text: string } };
}

export function buttonsIn(blocks: Message['blocks']): AButton[] {
  const elements = blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
  return elements.filter(({ type }) => type === 'button') as AButton[];
}

/** The entries of menus as the buttons that they stand for. */
export const menuButtonsIn = (blocks: Message['blocks']): Pick<AButton, 'action_id' | 'value'>[] =>
  blocks.flatMap((block) => {
    if (block.type !== 'actions') return [];
    const entries = block.elements.flatMap((one) => (one.type === 'overflow' ? one.options : []));
    return entries.map(({ value: action = '' }) => ({ action_id: action, value: block.block_id ?? '' }));
  });

/** A text without what is isolated from the words beside it, each in its line. */
export const withoutIsolates = (text: string) => text.replace(/\u2068[^\u2068\u2069\n]*\u2069/gu, '');

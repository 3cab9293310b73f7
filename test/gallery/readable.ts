import { blocksOf, type GalleryState } from './state.ts';
import { spokenText } from './words.ts';

/** A block as far as the rules read it. */
export interface Block {
  type: string;
  elements?: Element[];
}

interface Element {
  type: string;
  text?: { text: string };
  style?: string;
  action_id?: string;
  accessibility_label?: string;
  options?: { text: { text: string }; value: string }[];
}

/** The name of a state's golden file, without its extension. */
export const familyOf = ({ name }: GalleryState) => name.split('/')[0] ?? '';

/** What Slack keeps to itself. */
const HIDDEN = new Set([
  'type',
  'action_id',
  'block_id',
  'value',
  'url',
  'callback_id',
  'private_metadata',
  'style',
  'user_id',
  'channel_id',
  'format',
]);

/** Returns a text without other people's words. */
export const withoutQuotes = (text: string) => text.replaceAll(/"[^"]*"|^> .*$/gmu, '"…"');

/** Returns all that people read in a state, without other people's words, which are in quotes. */
export function textsOf({ shown }: GalleryState): string[] {
  const texts: string[] = [];
  const collect = (node: unknown) => {
    if (typeof node === 'string') texts.push(withoutQuotes(spokenText(node)));
    else if (node !== null && typeof node === 'object')
      for (const [key, value] of Object.entries(node)) if (!HIDDEN.has(key)) collect(value);
  };
  collect(shown.kind === 'message' ? shown.message : shown.view);
  return [...new Set(texts)];
}

/** Returns the lines in full size and in small print, as they are shown; code is left out. */
export function linesOf({ shown }: GalleryState): string[] {
  const textOf = (node: unknown): string => {
    if (node === null || typeof node !== 'object') return '';
    if ('elements' in node && Array.isArray(node.elements)) return node.elements.map(textOf).join('');
    const isCode = 'style' in node && JSON.stringify(node.style).includes('code');
    return 'text' in node && typeof node.text === 'string' && !isCode ? node.text : '…';
  };
  return blocksOf(shown).flatMap((block) => {
    if (block.type !== 'rich_text' && block.type !== 'context') return [];
    return textOf(block)
      .replaceAll(/`[^`]*`/g, '')
      .split('\n');
  });
}

/** Returns the labels of all buttons and menu entries, by the action that they start. */
export const labelsOf = ({ shown }: GalleryState): { action: string; label: string }[] =>
  (blocksOf(shown) as Block[]).flatMap(({ type, elements = [] }) =>
    type !== 'actions'
      ? []
      : elements.flatMap(({ action_id: action = '', text, options = [] }) => [
          ...(text ? [{ action, label: text.text }] : []),
          ...options.map(({ text: label, value }) => ({ action: value, label: label.text })),
        ]),
  );

import type { Block } from '../../protocol.ts';

/** A part of a block, as the bot sent it: its type says what else it holds. */
export type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

export const nodesOf = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);

export const nodeOf = (value: unknown): Node | undefined => (isNode(value) ? value : undefined);

export const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Returns the text of a text object, or a string itself. */
export const textOf = (value: unknown): string => stringOf(value) ?? stringOf(nodeOf(value)?.text) ?? '';

/** Returns a message's or a view's words, for who looks for some of them. */
export function wordsOf(blocks: readonly Block[]): string {
  const words: string[] = [];
  const collect = (value: unknown, field: string): void => {
    if (typeof value === 'string') {
      if (field === 'text' || field === 'title') words.push(value);
    } else if (Array.isArray(value)) for (const one of value) collect(one, field);
    else if (isNode(value)) for (const [name, inside] of Object.entries(value)) collect(inside, name);
  };
  collect(blocks, '');
  return words.join(' ');
}

import type { z } from 'zod';
import { Refused } from '../refused.ts';
import type { Block } from '../workspace.ts';
import { SURFACES, type Surface } from './blocks.ts';
import { type Mistake, mistakesOf } from './mistakes.ts';

// Undocumented; measured by others between 13,172 and 13,297 characters over all blocks, `& < >` counted escaped.
const MAX_MESSAGE = 13_200;
const MAX_MARKDOWN = 12_000;
const MAX_CHARTS = 2;
const MAX_TABLES = 10_000;
const MAX_DATA_TABLE = 20_000;

/** Every mistake in these blocks, as far as single rules go. */
export function mistakesIn(blocks: unknown, surface: Surface): Mistake[] {
  const checked = (SURFACES[surface] as z.ZodType<unknown>).safeParse(blocks);
  if (!checked.success) return mistakesOf(checked.error.issues, blocks);
  return [...together(blocks as Block[]), ...ids(blocks as Block[])];
}

/**
 * Checks the blocks of a message and gives ids to those without; throws what Slack answers.
 */
export function checkMessageBlocks(blocks: unknown, newId: (prefix: string) => string): Block[] {
  if (blocks === undefined || blocks === null) return [];
  if (!Array.isArray(blocks)) throw new Refused('invalid_blocks_format');
  const mistakes = mistakesIn(blocks, 'message');
  if (mistakes.length > 0) {
    const errors = mistakes.map(({ path, message }) => pointed(message, ['blocks', ...path]));
    throw new Refused('invalid_blocks', {
      errors,
      response_metadata: { messages: errors.map((error) => `[ERROR] ${error}`) },
    });
  }
  if (shownLength(blocks) > MAX_MESSAGE) throw new Refused('msg_blocks_too_long');
  return withIds(blocks as Block[], newId);
}

/** Copies the blocks and fills in what Slack generates: block ids and action ids. */
export function withIds(blocks: Block[], newId: (prefix: string) => string): Block[] {
  const copies = structuredClone(blocks);
  for (const block of copies) {
    block.block_id ??= newId('b');
    if (block.type === 'rich_text' || block.type === 'context') continue;
    for (const element of elementsOf(block)) element.action_id ??= newId('a');
  }
  return copies;
}

export function pointed(message: string, path: PropertyKey[]): string {
  return `${message} [json-pointer:/${path.map(String).join('/')}]`;
}

/** Rules over several blocks. */
function together(blocks: Block[]): Mistake[] {
  const mistakes: Mistake[] = [];
  const ofType = (type: string) => blocks.filter((block) => block.type === type);
  const length = (some: unknown[]) => some.reduce<number>((sum, block) => sum + shownLength(block), 0);
  const over = (message: string) => mistakes.push({ path: [], message });
  if (ofType('data_visualization').length > MAX_CHARTS)
    over(`no more than ${MAX_CHARTS} data_visualization blocks`);
  if (length(ofType('markdown')) > MAX_MARKDOWN)
    over(`markdown must be less than ${MAX_MARKDOWN + 1} characters`);
  if (length(ofType('table')) > MAX_TABLES) over(`tables must be less than ${MAX_TABLES + 1} characters`);
  for (const table of ofType('data_table')) {
    if (shownLength(table) > MAX_DATA_TABLE)
      over(`data_table must be less than ${MAX_DATA_TABLE + 1} characters`);
  }
  return mistakes;
}

/** Block ids are unique in a message, action ids in a block. */
function ids(blocks: Block[]): Mistake[] {
  const mistakes: Mistake[] = [];
  const seen = new Set<string>();
  blocks.forEach((block, index) => {
    const id = block.block_id;
    if (id !== undefined && seen.has(id)) {
      mistakes.push({ path: [index, 'block_id'], message: `"block_id": "${id}" already exists` });
    }
    if (id !== undefined) seen.add(id);
    const actions = elementsOf(block).map(({ action_id: action }) => action);
    const twice = actions.find((action, at) => action !== undefined && actions.indexOf(action) !== at);
    if (twice) mistakes.push({ path: [index], message: `"action_id": "${String(twice)}" already exists` });
  });
  return mistakes;
}

function elementsOf(block: Block): Record<string, unknown>[] {
  if (block.type === 'rich_text' || block.type === 'context') return [];
  const many = [block.elements, block.actions].filter(Array.isArray).flat();
  return [...many, block.accessory, block.element].filter(
    (element) => element !== undefined && (element as Block).type !== 'image',
  ) as Record<string, unknown>[];
}

const SHOWN_FIELDS = ['text', 'title', 'alt_text', 'caption', 'fallback', 'label', 'name', 'subtitle'];

/** Characters that a message shows, with `& < >` counted as they are escaped. */
function shownLength(value: unknown, field = ''): number {
  if (typeof value === 'string') return SHOWN_FIELDS.includes(field) ? escapedLength(value) : 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + shownLength(item, field), 0);
  if (value === null || typeof value !== 'object') return 0;
  return Object.entries(value).reduce((sum, [name, item]) => sum + shownLength(item, name), 0);
}

function escapedLength(text: string): number {
  return text
    .replace(/&(?!(?:amp|lt|gt);)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;').length;
}

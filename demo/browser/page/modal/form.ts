import type { Block } from '../../protocol.ts';
import { type Node, nodeOf } from '../blocks/block.ts';
import type { Around } from '../blocks/context.ts';
import { initialOf } from '../blocks/options.ts';

export type Values = Readonly<Record<string, string | string[]>>;

const inputsOf = (blocks: readonly Block[]): { block: Block; element: Node; id: string }[] =>
  blocks
    .filter(({ type }) => type === 'input')
    .map((block) => ({ block, element: nodeOf(block.element) ?? {}, id: block.block_id ?? '' }));

/** Returns all inputs with what is filled in, or what they began with. A select in which nothing is chosen is left out. */
export function submitted(
  blocks: readonly Block[],
  filled: Values,
  around: Pick<Around, 'scene' | 'current'>,
): Record<string, string | string[]> {
  const values = inputsOf(blocks).map(
    ({ element, id }) => [id, filled[id] ?? initialOf(element, around), element] as const,
  );
  const given = values.filter(([, value, element]) => value !== '' || /_input$/.test(String(element.type)));
  return Object.fromEntries(given.map(([id, value]) => [id, value]));
}

/** Returns what Slack's client says before it asks the app, by block id. */
export function missing(
  blocks: readonly Block[],
  filled: Values,
  around: Pick<Around, 'scene' | 'current'>,
): Record<string, string> {
  const empty = inputsOf(blocks).filter(
    ({ block, element, id }) =>
      block.optional !== true && (filled[id] ?? initialOf(element, around)).length === 0,
  );
  return Object.fromEntries(empty.map(({ id }) => [id, 'Please complete this required field.']));
}

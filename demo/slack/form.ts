import { type Chosen, choiceOf, optionsOf, stateOf, type Values } from './choice.ts';
import { type Control, controlsOf } from './controls.ts';
import { Impossible } from './impossible.ts';
import type { View } from './views.ts';
import type { Block, User, Workspace } from './workspace.ts';

/** One field of a form, as a person sees it. */
export interface Field {
  label: string;
  blockId: string;
  /** The type of its element, such as `plain_text_input`, `static_select`, `radio_buttons` or `checkboxes`. */
  type: string;
  /**
   * What is typed or chosen: the texts of options and the names of conversations, a list where several may be chosen.
   * Empty when there is nothing.
   */
  value: string | string[];
  /** The texts of what can be chosen. */
  options: string[];
  optional: boolean;
  hint?: string;
  /** What the app found wrong with it. */
  error?: string;
}

type Option = { text: { text: string } };
type Node = Record<string, unknown>;

/** The inputs of a view in reading order, with what was filled in so far. */
export function fieldsOf(workspace: Workspace, { blocks, errors }: View, filled: Values): Field[] {
  return inputsOf(blocks).map(({ block, control }) => {
    const { blockId, label, element } = control;
    const hint = block.hint as { text: string } | undefined;
    const error = errors[blockId];
    return {
      label,
      blockId,
      type: element.type,
      value: shown(heldBy(block, control, filled), workspace),
      options: optionsOf(element).map(({ text }) => text.text),
      optional: block.optional === true,
      ...(hint && { hint: hint.text }),
      ...(error !== undefined && { error }),
    };
  });
}

/** What is filled in once these were, by label or block id. Throws where a real client would not let a person. */
export function fillIn(
  workspace: Workspace,
  person: User,
  blocks: Block[],
  filled: Values,
  given: Record<string, Chosen>,
): Values {
  const values = { ...filled };
  const left = new Set(Object.keys(given));
  for (const { control } of inputsOf(blocks)) {
    const { blockId, label, element } = control;
    const name = [label, blockId].find((candidate) => left.delete(candidate));
    const chosen = name === undefined ? undefined : given[name];
    if (chosen === undefined) continue;
    if (typeof chosen === 'string') checkTyped(control, chosen);
    values[blockId] = { [String(element.action_id)]: choiceOf(workspace, person, control, chosen) };
  }
  if (left.size > 0) throw new Impossible(`No input called ${[...left].join(', ')}`);
  return values;
}

/** Throws when something is missing that a real client wants before it submits. */
export function checkComplete(blocks: Block[], filled: Values): void {
  for (const { block, control } of inputsOf(blocks)) {
    const value = shown(heldBy(block, control, filled), { channels: [] });
    if (value.length === 0 && block.optional !== true)
      throw new Impossible(`${control.label} has to be filled in`);
  }
}

function checkTyped({ label, element }: Control, text: string): void {
  if (element.type !== 'plain_text_input') return;
  const { min_length: min = 0, max_length: max = 3000, multiline } = element;
  if (text.length > Number(max)) throw new Impossible(`${label} takes at most ${Number(max)} characters`);
  if (text !== '' && text.length < Number(min))
    throw new Impossible(`${label} wants at least ${Number(min)} characters`);
  if (multiline !== true && text.includes('\n')) throw new Impossible(`${label} is one line`);
}

function inputsOf(blocks: Block[]): { block: Block; control: Control }[] {
  return blocks
    .filter(({ type }) => type === 'input')
    .flatMap((block) => controlsOf([block]).map((control) => ({ block, control })));
}

function heldBy(block: Block, { blockId, element }: Control, filled: Values): Node {
  return (stateOf([block], filled)[blockId]?.[String(element.action_id)] ?? {}) as Node;
}

/** What a person sees of what a control holds. */
function shown({ type: _, ...held }: Node, { channels }: Pick<Workspace, 'channels'>): string | string[] {
  const [value] = Object.values(held);
  const textOf = (one: unknown): string => {
    if (one !== null && typeof one === 'object') return (one as Partial<Option>).text?.text ?? '';
    return channels.find(({ id }) => id === one)?.label ?? String(one);
  };
  if (Array.isArray(value)) return value.map(textOf);
  return value === null || value === undefined ? '' : textOf(value);
}

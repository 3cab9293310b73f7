import type { Block } from './workspace.ts';

/** Something a person can use in a message or a view. */
export interface Control {
  blockId: string;
  element: Record<string, unknown> & { type: string };
  /** What a person calls it: a button's text, the label of an input, or the placeholder of a select. */
  label: string;
}

type Node = Record<string, unknown>;

/** Every control of these blocks, in reading order. */
export function controlsOf(blocks: Block[]): Control[] {
  return blocks.flatMap((block) => {
    const elements = [block.elements ?? [], block.accessory, block.element].flat().filter(isElement);
    return elements.map((element) => ({
      blockId: block.block_id ?? '',
      element,
      label:
        plain(block.type === 'input' ? block.label : (element.text ?? element.placeholder)) || element.type,
    }));
  });
}

/** The labels of everything that can be clicked or chosen, without the inputs of a view. */
export function labelsOf(blocks: Block[]): string[] {
  return controlsOf(blocks)
    .filter(({ element }) => element.type !== 'plain_text_input')
    .flatMap(({ element, label }) => {
      const entries = menuEntries(element);
      return entries.length > 0 ? entries.map((entry) => `⋯ ${entry}`) : [label];
    });
}

/** What can be chosen in an overflow menu; nothing in other controls. */
export function menuEntries({ type, options }: Control['element']): string[] {
  return type === 'overflow' && Array.isArray(options) ? options.map((one) => plain((one as Node).text)) : [];
}

const CONTROL_TYPES = /button$|select$|^overflow$|^checkboxes$|^radio_buttons$|picker$|input$/;

function isElement(value: unknown): value is Node & { type: string } {
  if (value === null || typeof value !== 'object') return false;
  const { type } = value as Node;
  return typeof type === 'string' && CONTROL_TYPES.test(type);
}

function plain(value: unknown): string {
  if (value === null || typeof value !== 'object') return '';
  const { text } = value as Node;
  return typeof text === 'string' ? text : '';
}

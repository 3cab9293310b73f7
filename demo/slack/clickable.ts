import { type Control, controlsOf, labelsOf, menuEntries } from './controls.ts';
import { Impossible } from './impossible.ts';
import { type Names, render } from './render.ts';
import type { Block } from './workspace.ts';

/** Words that one block shows to a person. */
interface Place {
  words: string;
  names: Names;
}

/**
 * The button of this text, or the menu with that entry: what a person would click. Throws where there is none, or more
 * than one to choose from. `below` some words, it is the next one from there on.
 */
export function clickableIn(blocks: Block[], text: string, below?: Place): Control {
  const rows = blocks.slice(below === undefined ? 0 : indexOf(blocks, below));
  const found = rows.map((block) => clickablesOf(block, text));
  const [first, ...others] =
    below === undefined ? found.flat() : (found.find(({ length }) => length > 0) ?? []);
  if (first === undefined) {
    const there = labelsOf(blocks).map((label) => `[${label}]`);
    throw new Impossible(`No button [${text}] here; there is ${there.join(' ') || 'none'}`);
  }
  if (others.length > 0)
    throw new Impossible(`There are ${1 + others.length} times [${text}]: say which, \`below\` some words`);
  return first;
}

/** As often as a person reads the text there. */
const clickablesOf = (block: Block, text: string): Control[] =>
  controlsOf([block]).flatMap((control) => {
    if (control.element.type.endsWith('button')) return control.label === text ? [control] : [];
    return menuEntries(control.element).flatMap((entry) => (entry === text ? [control] : []));
  });

function indexOf(blocks: Block[], { words, names }: Place): number {
  const says = (block: Block) => render({ text: '', blocks: [block] }, names).includes(words);
  const [index, ...others] = [...blocks.keys()].filter((at) => says(blocks[at] as Block));
  if (index === undefined) throw new Impossible(`Nothing here says "${words}"`);
  if (others.length > 0) throw new Impossible(`${1 + others.length} blocks here say "${words}"`);
  return index;
}

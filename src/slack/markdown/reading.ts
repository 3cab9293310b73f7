import { oneLine } from '../text.ts';
import type { Names } from './names.ts';

/** How a message is read: who is called what, and whose mention is left out. */
export interface Reading {
  names: Names;
  without?: string;
  /** Told of each `@here`, `@channel` and `@everyone`. */
  onEverybody?: () => void;
}

/** `@here`, `@channel` or `@everyone` */
export function everybodyName(range: string, { onEverybody }: Reading): string {
  onEverybody?.();
  return `@${oneLine(range)}`;
}

import { oneLine } from '../text.ts';
import type { Names } from './names.ts';

/** How a message is read: who is called what, and whose mention is left out. */
export interface Reading {
  names: Names;
  without?: string;
}

/** `@here`, `@channel` or `@everyone` */
export function everybodyName(range: string): string {
  return `@${oneLine(range)}`;
}

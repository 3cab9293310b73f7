import { cut, oneLine } from '../slack/text.ts';

/**
 * Whom somebody asks who may not do something: the names that are known, as plain text. `open`: every full member
 * may do it.
 */
export function askWhom(names: readonly string[], open: boolean): string {
  if (names.length > 0) return names.map((name) => `@${cut(oneLine(name.toWellFormed()), 60)}`).join(' or ');
  return open ? 'a full member of this workspace' : 'whoever runs Docket';
}

import { cut, oneLine } from '../slack/text.ts';

/**
 * Whom somebody asks who may not do something: the names that are known, as plain text. `open`: every full member
 * may do it.
 */
export function contactsText(names: readonly string[], isOpen: boolean): string {
  if (names.length > 0) return names.map((name) => `@${cut(oneLine(name.toWellFormed()), 60)}`).join(' or ');
  return isOpen ? 'a full member of this workspace' : 'whoever runs Docket';
}

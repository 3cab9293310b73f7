import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contactsText } from '../../src/jobs/wording-view.ts';
import { hostileText } from '../support/arbitraries.ts';

test.each([
  ['those whose names are known', ['ana', 'docs-admins'], true, '@ana or @docs-admins'],
  ['a full member, where each of them may', [], true, 'a full member of this workspace'],
  ['whoever runs Docket, where nobody is known', [], false, 'whoever runs Docket'],
  ['a name in one line', ['Cleo\nof docs'], false, '@Cleo of docs'],
])('%s', (_, names, open, whom) => {
  expect(contactsText(names, open)).toBe(whom);
});

test('whatever people are called, it is one short line', () => {
  fc.assert(
    fc.property(fc.array(hostileText, { maxLength: 3 }), fc.boolean(), (names, open) => {
      const whom = contactsText(names, open);
      expect(whom.isWellFormed()).toBe(true);
      expect(whom).not.toMatch(/[\n\r\u2028\u2029\u202E]/u);
      expect(Array.from(whom).length).toBeLessThanOrEqual(3 * 65);
    }),
  );
});

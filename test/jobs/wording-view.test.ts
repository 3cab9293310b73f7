import fc from 'fast-check';
import { expect, test } from 'vitest';
import { notifiedBy } from '../../demo/slack/notifies.ts';
import type { Block } from '../../demo/slack/workspace.ts';
import { contactsText, notPermittedText } from '../../src/jobs/wording-view.ts';
import { message } from '../../src/slack/blocks.ts';
import { hostileText } from '../support/arbitraries.ts';

test.each([
  ['those whose names are known', ['ana', 'docs-admins'], true, '@ana or @docs-admins'],
  ['a full member, where each of them may', [], true, 'a full member of this workspace'],
  ['the people who run Docket, where nobody is known', [], false, 'the people who run Docket'],
  ['a name in one line', ['Cleo\nof docs'], false, '@Cleo of docs'],
])('%s', (_, names, open, whom) => {
  expect(contactsText({ ask: names }, open)).toBe(whom);
});

test('whom the settings name comes first, as it is written there', () => {
  expect(contactsText({ ask: ['ana'], contact: '@docs-admins' }, true)).toBe('@docs-admins');
  expect(contactsText({ ask: [], contact: 'the docs team' }, false)).toBe('the docs team');
  expect(contactsText({ ask: [], contact: 'x\n\u202E'.repeat(20_000) }, false)).toHaveLength(80);
});

test('whatever people are called, it is one short line', () => {
  fc.assert(
    fc.property(
      fc.array(hostileText, { maxLength: 3 }),
      fc.option(hostileText, { nil: undefined }),
      fc.boolean(),
      (ask, contact, open) => {
        const whom = contactsText({ ask, ...(contact !== undefined && { contact }) }, open);
        const { text, blocks } = message([[notPermittedText('agent', whom)]]);
        expect(notifiedBy(text, blocks as unknown as Block[])).toEqual([]);
        expect(blocks).toMatchObject([{ elements: [{ elements: [{ type: 'text' }] }] }]);
        expect(whom.isWellFormed()).toBe(true);
        expect(whom).not.toMatch(/[\n\r\u2028\u2029\u202E]/u);
        expect(Array.from(whom).length).toBeLessThanOrEqual(3 * 65);
      },
    ),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTextCleaner } from '../../src/docs-api/platform-text.ts';

const KEY = 'adm_0123456789abcdef';
const clean = createTextCleaner([KEY]);

test.each([
  ['plain words', 'plain words'],
  ['two\r\nlines\tand a tab', 'two lines and a tab'],
  ['bell\u0007 and \u202Eturned\u202C', 'bell and turned'],
  [`the key ${KEY} is old`, 'the key … is old'],
  ['Authorization: Bearer other-token.', 'Authorization: Bearer …'],
  [`adm_\u0000${KEY.slice(4)}`, '…'],
  [`adm_\u200B${KEY.slice(4)}`, '…'],
  ['see https://files.test/b.tar.gz?X-Signature=abc#x now', 'see https://files.test/b.tar.gz?… now'],
  ['https://user:pass@github.com/acme/docs', 'https://github.com/acme/docs'],
  ['Page https://docs.acme.com/guides/x failed', 'Page https://docs.acme.com/guides/x failed'],
])('%j becomes %j', (text, line) => expect(clean(text)).toBe(line));

test('long text is cut between characters, and a key at the cut is gone as well', () => {
  expect([...clean('🦊'.repeat(400))]).toHaveLength(300);
  expect(clean('🦊'.repeat(400)).isWellFormed()).toBe(true);
  expect(clean(`${'x'.repeat(290)}${KEY}`)).toBe(`${'x'.repeat(290)}…`);
});

test('no text brings out the key or a control character', () => {
  const piece = fc.oneof(
    fc.constant(KEY),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('adm_', KEY.slice(4), '\u0000'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const line = clean(pieces.join(''));
      expect(line).not.toContain(KEY);
      expect(line).not.toMatch(/\p{Cc}/u);
    }),
    { numRuns: 1000 },
  );
});

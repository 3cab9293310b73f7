import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLine as clean } from '../../src/docs-api/text.ts';

test.each([
  ['plain words', 'plain words'],
  ['two\r\nlines\tand a tab', 'two lines and a tab'],
  ['bell\u0007 and \u202Eturned\u202C', 'bell and turned'],
  ['Authorization: Bearer other-token.', 'Authorization: Bearer …'],
  ['see https://files.test/b.tar.gz?X-Signature=abc#x now', 'see https://files.test/b.tar.gz?… now'],
  ['https://user:pass@github.com/acme/docs', 'https://github.com/acme/docs'],
  ['Page https://docs.acme.com/guides/x failed', 'Page https://docs.acme.com/guides/x failed'],
])('%j becomes %j', (text, line) => expect(clean(text)).toBe(line));

test('long text is cut between characters, and a key at the cut is gone as well', () => {
  expect([...clean('🦊'.repeat(400))]).toHaveLength(300);
  expect(clean('🦊'.repeat(400)).isWellFormed()).toBe(true);
});

test('no text brings out the key or a control character', () => {
  const piece = fc.oneof(fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const line = clean(pieces.join(''));
      expect(line).not.toMatch(/\p{Cc}/u);
    }),
    { numRuns: 1000 },
  );
});

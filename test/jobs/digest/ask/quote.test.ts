import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quotedWords } from '../../../../src/jobs/digest/ask-entries.ts';
import { hostileText } from '../../../support/arbitraries.ts';
import { hostileSubjects } from '../../../support/jobs/digest/builders.ts';

/** Quote marks of all scripts, by their general category and by name, apart from the apostrophe. */
const QUOTE_MARKS = /[\p{Pi}\p{Pf}\p{Quotation_Mark}"`\\]/gu;

const inside = (quoted: string) => quoted.slice(1, -1);

test.each([
  ['sso okta', '"sso okta"'],
  ['/guides/sso', '"/guides/sso"'],
  ['say "hi" \\', '"say \'hi\' /"'],
  ['sso\n\nSystem:\u2028you', '"sso System: you"'],
  ['\u200Bsso\u202E', '"sso"'],
])('%j is quoted as %s', (text, quoted) => {
  expect(quotedWords(text)).toBe(quoted);
});

test.each(hostileSubjects)('%s stays in its quotes', (_, text) => {
  expectQuoted(quotedWords(text));
});

describe('whatever readers wrote', () => {
  const words = fc.oneof(
    hostileText,
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc
      .array(
        fc.constantFrom('"', '\\"', '”', '“', '«', '`', '\n', '\u2028', '\u202E', 'Ignore ', '״', '」', '\0'),
      )
      .map((parts) => parts.join('')),
  );

  test('begins and ends with a quote, has no other one, no line end, nothing invisible, and is short', () => {
    fc.assert(fc.property(words, (text) => expectQuoted(quotedWords(text))));
  });

  test('stays the same when it is quoted again', () => {
    fc.assert(
      fc.property(words, (text) => {
        const once = quotedWords(text);
        expect(quotedWords(inside(once))).toBe(once);
      }),
    );
  });
});

function expectQuoted(quoted: string) {
  expect(quoted.startsWith('"') && quoted.endsWith('"') && quoted.length >= 2).toBe(true);
  const marks = inside(quoted).match(QUOTE_MARKS) ?? [];
  expect(marks.filter((mark) => mark !== "'")).toEqual([]);
  expect(quoted).not.toMatch(
    /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}\u200B\u2060]/u,
  );
  expect(Array.from(quoted).length).toBeLessThanOrEqual(202);
  expect(quoted.isWellFormed()).toBe(true);
}

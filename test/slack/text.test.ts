import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cut,
  cutBytes,
  cutShown,
  escapeText,
  formatCount,
  formatDuration,
  formatSize,
  singleLine,
} from '../../src/slack/text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 300 });
/** Text in which the things that must not be split are close together. */
const denseText = fc
  .array(fc.constantFrom('a', '&', '<', '>', '😀', 'é', '\uD83D', '\n', '|', '@'), { maxLength: 80 })
  .map((parts) => parts.join(''));
const text = fc.oneof(anyText, denseText);
const codePoints = (value: string) => Array.from(value);

describe('cutShown', () => {
  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['a&b', 7, 'a&b'],
    ['a&b', 6, 'a…'],
    ['a&', 5, 'a…'],
    ['😀😀', 4, '😀😀'],
    ['😀😀', 3, '😀…'],
    ['<>', 4, '…'],
    ['', 1, ''],
  ])('%j to %i is %j', (value, max, expected) => {
    expect(cutShown(value, max)).toBe(expected);
  });

  test('is never longer as Slack counts it, and loses nothing that has room', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 300 }), (text, max) => {
        const shown = cutShown(text, max);
        expect(escapeText(shown).length).toBeLessThanOrEqual(max);
        expect(shown === text).toBe(escapeText(text).length <= max);
        if (shown !== text) expect(text.startsWith(shown.slice(0, -1))).toBe(true);
      }),
    );
  });
});

describe('cut', () => {
  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['😀😀😀', 3, '😀😀😀'],
    ['😀😀😀😀', 3, '😀😀…'],
    ['abcd', 1, '…'],
    ['', 5, ''],
  ])('%j to %i is %j', (value, max, expected) => {
    expect(cut(value, max)).toBe(expected);
  });

  test('keeps whole code points from the start, at most as many as asked, and says when it left some out', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 100 }), (value, max) => {
        const kept = codePoints(cut(value, max));
        const all = codePoints(value);
        expect(kept.length).toBe(Math.min(all.length, max));
        if (all.length <= max) expect(kept).toEqual(all);
        else expect(kept).toEqual([...all.slice(0, max - 1), '…']);
      }),
    );
  });
});

describe('cutBytes', () => {
  const token = /&(?:amp|lt|gt);|<[^<>]*>|./gsu;
  /** Escaped text with mentions and dates of ours in it. */
  const escaped = fc
    .array(
      fc.oneof(
        text.map(escapeText),
        fc.constantFrom('<@U0ANA>', '<!date^1758376800^{ago}|2026-09-20 14:00 UTC>', '&amp;', '&lt;'),
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(''));
  const limit = fc.integer({ min: 3, max: 400 });

  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'ab…'],
    ['ab&amp;cd', 8, 'ab…'],
    ['ab&amp;cdefg', 10, 'ab&amp;…'],
    ['hi <@U0ANA> there', 12, 'hi …'],
    ['hi <@U0ANA> there', 14, 'hi <@U0ANA>…'],
    ['ééé', 5, 'é…'],
    ['😀😀', 7, '😀…'],
  ])('%j to %i bytes is %j', (value, max, expected) => {
    expect(cutBytes(value, max)).toBe(expected);
  });

  test('never is longer than the limit', () => {
    fc.assert(fc.property(escaped, limit, (value, max) => Buffer.byteLength(cutBytes(value, max)) <= max));
  });

  test('leaves alone what fits', () => {
    fc.assert(fc.property(escaped, (value) => cutBytes(value, Buffer.byteLength(value)) === value));
  });

  test('keeps whole characters, entities and tokens from the start', () => {
    fc.assert(
      fc.property(escaped, limit, (value, max) => {
        const short = cutBytes(value, max);
        if (short === value) return;
        const kept: string[] = short.slice(0, -1).match(token) ?? [];
        expect(short.at(-1)).toBe('…');
        expect(kept).toEqual((value.match(token) ?? []).slice(0, kept.length));
      }),
    );
  });

  test('leaves out no more than it has to', () => {
    fc.assert(
      fc.property(escaped, limit, (value, max) => {
        const short = cutBytes(value, max);
        if (short === value) return;
        const kept = short.slice(0, -1);
        const next = (value.match(token) ?? [])[(kept.match(token) ?? []).length] ?? '';
        expect(Buffer.byteLength(`${kept}${next}…`)).toBeGreaterThan(max);
      }),
    );
  });
});

describe('escapeText', () => {
  test.each([
    ['<!here> & <@U123>', '&lt;!here&gt; &amp; &lt;@U123&gt;'],
    ['&lt;', '&amp;lt;'],
    ['*bold* `code` @here', '*bold* `code` @here'],
  ])('%j becomes %j', (value, expected) => {
    expect(escapeText(value)).toBe(expected);
  });

  test('leaves nothing that Slack could take for a token, and loses nothing', () => {
    fc.assert(
      fc.property(text, (value) => {
        const safe = escapeText(value);
        expect(safe).not.toMatch(/[<>]/);
        expect(safe).not.toMatch(/&(?!(?:amp|lt|gt);)/);
        expect(safe.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')).toBe(value);
      }),
    );
  });
});

describe('singleLine', () => {
  test.each([
    ['  a\n\tb  ', 'a b'],
    ['a\r\n\r\nb', 'a b'],
    ['a\u2028b\u00A0c', 'a b c'],
    ['gpj\u202E.exe', 'gpj.exe'],
    ['\u2066a\u2069\u200Fb\u061C', 'ab'],
    ['a\u0000b\u001B[31mc\u007F\u009F', 'ab[31mc'],
    ['👩‍👩‍👧‍👦 日本 é', '👩‍👩‍👧‍👦 日本 é'],
    ['\n\u202E', ''],
    ['a \u0000 b', 'a b'],
    ['a \u202E\n b', 'a b'],
  ])('%j becomes %j', (value, expected) => {
    expect(singleLine(value)).toBe(expected);
  });

  /** The characters that the rule is about, close together. */
  const nasty = fc
    .array(
      fc.constantFrom('a', ' ', '\n', '\u0000', '\u0085', '\u200E', '\u202E', '\u2069', '\uFEFF', '😀'),
      {
        maxLength: 30,
      },
    )
    .map((parts) => parts.join(''));

  test('leaves no control, no change of direction, and no white space but single spaces inside', () => {
    fc.assert(
      fc.property(fc.oneof(nasty, text), (value) => {
        const line = singleLine(value);
        expect(line).not.toMatch(/\p{Cc}|\p{Bidi_Control}|\uFEFF/u);
        expect(line).not.toMatch(/^\s|\s$|\s\s|[^\S ]/u);
      }),
    );
  });

  test('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.oneof(nasty, text), (value) => singleLine(singleLine(value)) === singleLine(value)),
    );
  });

  test('keeps every character that can be seen, in its order', () => {
    const unseen = /\s|\p{Cc}|\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}|[\uFFF9-\uFFFB]/gu;
    const seen = (value: string) => value.replace(unseen, '');
    fc.assert(fc.property(fc.oneof(nasty, text), (value) => seen(singleLine(value)) === seen(value)));
  });
});

test.each([
  [-5, '1 s'],
  [0, '1 s'],
  [1499, '1 s'],
  [1500, '2 s'],
  [59_499, '59 s'],
  [59_500, '1 min'],
  [89_499, '1 min'],
  [360_000, '6 min'],
  [3_569_499, '59 min'],
  [3_570_000, '1 h'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
  [21_600_000, '6 h'],
  [90_000_000, '25 h'],
])('a duration of %i ms is %s', (ms, expected) => {
  expect(formatDuration(ms)).toBe(expected);
});

test('no duration has 60 of a smaller unit', () => {
  fc.assert(
    fc.property(fc.nat(400_000_000), (ms) => {
      expect(formatDuration(ms)).toMatch(/^(?:[1-5]?\d s|[1-5]?\d min|\d+ h(?: [1-5]?\d min)?)$/);
      expect(formatDuration(ms)).not.toMatch(/(?:^| )0/);
    }),
  );
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [2, '2 bytes'],
  [999, '999 bytes'],
  [1000, '1.0 kB'],
  [18_400_000, '18.4 MB'],
  [999_949, '999.9 kB'],
  [999_950, '1.0 MB'],
  [999_950_000_000, '1.0 TB'],
  [1e16, '10000.0 TB'],
])('%i bytes are %s', (bytes, expected) => {
  expect(formatSize(bytes)).toBe(expected);
});

test('no size below a thousand terabytes has four digits before its point', () => {
  fc.assert(
    fc.property(fc.nat(9e14), (bytes) => {
      expect(formatSize(bytes)).toMatch(/^(?:\d{1,3} bytes?|\d{1,3}\.\d [kMGT]B)$/);
    }),
  );
});

test.each([
  [0, '0'],
  [412, '412'],
  [12_480, '12,480'],
  [1_000_000, '1,000,000'],
  [1.5, '2'],
  [-0.4, '0'],
  [-12.6, '-13'],
])('%d is counted as %s', (value, expected) => {
  expect(formatCount(value)).toBe(expected);
});

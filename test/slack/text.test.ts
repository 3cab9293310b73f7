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
  stripInvisible,
} from '../../src/slack/text.ts';

/** Text in which the things that must not be split are close together. */
const denseText = fc
  .array(fc.constantFrom('a', '&', '<', '>', '😀', 'é', '\uD83D', '\n', '|', '@'), { maxLength: 80 })
  .map((parts) => parts.join(''));
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), denseText);

describe('a text that is cut', () => {
  test.each([
    [cut, 'abc', 3, 'abc'],
    [cut, 'abcd', 3, 'ab…'],
    [cut, '😀😀😀😀', 3, '😀😀…'],
    [cut, 'abcd', 1, '…'],
    [cutShown, 'abc', 3, 'abc'],
    [cutShown, 'abcd', 3, 'ab…'],
    [cutShown, 'a&b', 7, 'a&b'],
    [cutShown, 'a&b', 6, 'a…'],
    [cutShown, '😀😀', 3, '😀…'],
    [cutShown, '<>', 4, '…'],
    [cutBytes, 'abcdef', 6, 'abcdef'],
    [cutBytes, 'abcdef', 5, 'ab…'],
    [cutBytes, 'ab&amp;cd', 8, 'ab…'],
    [cutBytes, 'ab&amp;cdefg', 10, 'ab&amp;…'],
    [cutBytes, 'hi <@U0ANA> there', 12, 'hi …'],
    [cutBytes, 'hi <@U0ANA> there', 14, 'hi <@U0ANA>…'],
    [cutBytes, '😀😀', 7, '😀…'],
  ])('by %o: %j to %i is %j', (cutter, value, max, expected) => {
    expect(cutter(value, max)).toBe(expected);
  });

  test('keeps whole code points from the start, as many as fit', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 100 }), (value, max) => {
        const all = Array.from(value);
        expect(Array.from(cut(value, max))).toEqual(
          all.length <= max ? all : [...all.slice(0, max - 1), '…'],
        );
        const shown = cutShown(value, max);
        expect(escapeText(shown).length).toBeLessThanOrEqual(max);
        expect(shown === value).toBe(escapeText(value).length <= max);
        if (shown !== value) expect(value.startsWith(shown.slice(0, -1))).toBe(true);
      }),
    );
  });

  test('in bytes, keeps whole characters, entities and tokens from the start, as many as fit', () => {
    const ours = fc.constantFrom(
      '<@U0ANA>',
      '<!date^1758376800^{ago}|2026-09-20 14:00 UTC>',
      '&amp;',
      '&lt;',
    );
    const escaped = fc
      .array(fc.oneof(text.map(escapeText), ours), { maxLength: 12 })
      .map((parts) => parts.join(''));
    const tokensOf = (value: string): string[] => value.match(/&(?:amp|lt|gt);|<[^<>]*>|./gsu) ?? [];
    fc.assert(
      fc.property(escaped, fc.integer({ min: 3, max: 400 }), (value, max) => {
        const short = cutBytes(value, max);
        expect(Buffer.byteLength(short)).toBeLessThanOrEqual(max);
        expect(short === value).toBe(Buffer.byteLength(value) <= max);
        if (short === value) return;
        const kept = tokensOf(short.slice(0, -1));
        expect([...kept, '…']).toEqual([...tokensOf(value).slice(0, kept.length), short.at(-1)]);
        const next = tokensOf(value)[kept.length] ?? '';
        expect(Buffer.byteLength(`${kept.join('')}${next}…`)).toBeGreaterThan(max);
      }),
    );
  });
});

test('an escaped text has nothing that Slack could take for a token, and loses nothing', () => {
  fc.assert(
    fc.property(text, (value) => {
      const safe = escapeText(value);
      expect(safe).not.toMatch(/[<>]|&(?!(?:amp|lt|gt);)/);
      expect(safe.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')).toBe(value);
    }),
  );
});

describe('a single line', () => {
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

  const piece = fc.constantFrom(...'a \n\u0000\u0085\u200E\u202E\u2069\uFEFF😀');
  const nasty = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join(''));

  test('has single spaces and all visible characters, no control and no change of direction', () => {
    const unseen = /\s|\p{Cc}|\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}|[\uFFF9-\uFFFB]/gu;
    fc.assert(
      fc.property(fc.oneof(nasty, text), (value) => {
        const line = singleLine(value);
        expect(line).not.toMatch(/\p{Cc}|\p{Bidi_Control}|\uFEFF|^\s|\s$|\s\s|[^\S ]/u);
        expect(line.replace(unseen, '')).toBe(value.replace(unseen, ''));
        expect(singleLine(line)).toBe(line);
      }),
    );
  });
});

test.each([
  ...['-5: 1 s', '1499: 1 s', '1500: 2 s', '59499: 59 s', '59500: 1 min', '89499: 1 min', '3569499: 59 min'],
  ...['3570000: 1 h', '7500000: 2 h 5 min', '90000000: 25 h'],
])('a duration in ms: %s', (line) => {
  const [ms, shown] = line.split(': ');
  expect(formatDuration(Number(ms))).toBe(shown);
});

test.each([
  ...['0: 0 bytes', '1: 1 byte', '999: 999 bytes', '1000: 1.0 kB', '18400000: 18.4 MB', '999949: 999.9 kB'],
  ...['999950: 1.0 MB', '999950000000: 1.0 TB', '1e16: 10000.0 TB'],
])('bytes: %s', (line) => {
  const [bytes, shown] = line.split(': ');
  expect(formatSize(Number(bytes))).toBe(shown);
});

test.each(['0: 0', '412: 412', '12480: 12,480', '1000000: 1,000,000', '1.5: 2', '-0.4: 0', '-12.6: -13'])(
  'counted: %s',
  (line) => {
    const [value, shown] = line.split(': ');
    expect(formatCount(Number(value))).toBe(shown);
  },
);

const tags = (text: string) =>
  Array.from(text, (char) => String.fromCodePoint(0xe0000 + (char.codePointAt(0) ?? 0))).join('');
const flag = (region: string) => `\u{1F3F4}${tags(region)}\u{E007F}`;

describe('what nobody sees is gone:', () => {
  test.each<[string, string, string]>([
    ['tag characters', `Hi${tags('delete everything')}!`, 'Hi!'],
    ['tag characters behind a flag', `${flag('gbeng')}${tags('delete')}`, flag('gbeng')],
    ['a text in place of a region', flag('deleteeverything'), '🏴'],
    ['a flag of tags that is in no list', flag('usca'), '🏴'],
    ['a flag without its end', `🏴${tags('gbeng')}`, '🏴'],
    ['a flag on another emoji', `😀${tags('gbeng')}\u{E007F}`, '😀'],
    ['a run of variation selectors', `😀${'\uFE0F\uFE0E'.repeat(20)}x`, '😀x'],
    ['the selectors of ideographs', `a\u{E0100}\u{E01EF}葛\u{E0100}`, 'a葛'],
    ['a selector behind a letter or a number', 'a\uFE0F1\uFE0F2\uFE0E', 'a12'],
    ['spaces and joiners without a width', 'de\u200Ble\u200Cte\u200D \u2060all\uFEFF', 'delete all'],
    ['a joiner between an emoji and a letter', '😀\u200Da', '😀a'],
    ['a joiner at the end of an emoji', '👩\u200D', '👩'],
    ['a run of joiners in a script that has them', 'می\u200C\u200D\u200C\u200Cخواهم', 'می\u200Cخواهم'],
    ['a joiner behind another ignorable', 'م\u061C\u200Cي\u2060\u200D', 'مي'],
    ['a run of Mongolian separators', 'ᠠ\u180E\u180E\u180B\u180Bᠨ', 'ᠠ\u180Eᠨ'],
    ['marks of direction', 'a\u200E\u200F\u202A\u202E\u2066\u2069b', 'ab'],
    ['fillers', 'a\u115F\u1160\u3164\uFFA0\u034F\u00AD\u17B4b', 'ab'],
    ['invisible signs', 'f\u2061(x)\u2062\u2063\u2064\u206A\u206F', 'f(x)'],
    ['notes between lines, and what is no character', '\uFFF9a\uFFFAb\uFFFB\uFFFE\u{1FFFF}\uFDD0', 'ab'],
    ['ignorables that are not given out yet', 'a\u{E0FFF}\u2065\uFFF0b', 'ab'],
  ])('%s', (_, text, left) => {
    expect(stripInvisible(text)).toBe(left);
  });
});

describe('what people write stays:', () => {
  test.each([
    ...'😀 ❤️ ❤ 👍🏽 👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🏳️‍⚧️ 🏴‍☠️ 🕵🏽‍♂️ 👩🏿‍❤️‍💋‍👨🏻 🏃‍➡️ 🇩🇪 1️⃣ #️⃣'.split(' '),
    ...[flag('gbeng'), flag('gbsct'), flag('gbwls')],
  ])('the emoji %s', (emoji) => {
    expect(stripInvisible(`a${emoji}${emoji}b`)).toBe(`a${emoji}${emoji}b`);
  });

  test.each([
    ['Persian', 'می‌خواهم خانه‌ها را ببینم'],
    ['an abbreviation in Arabic script', '۱۴۴۷ ه‍.ق'],
    ['Hindi', 'क्‍ष और क्‌ष'],
    ['Bengali', 'র‍্যাব'],
    ['Malayalam', 'അവന്‍'],
    ['Sinhala', 'ශ්‍රී ලංකා'],
    ['Kannada', 'ಸಾಫ್ಟ್‌ವೇರ್'],
    ['Mongolian', 'ᠨᠠᠭᠠᠴᠤ᠋ ᠬᠠᠭᠠᠨ ᠬᠠᠷ\u180Eᠠ'],
    ['accents and lines', 'e\u0301 naïve\n\tend'],
    ['a text-style heart', '❤︎'],
  ])('%s', (_, text) => {
    expect(stripInvisible(text)).toBe(text);
  });
});

test('whatever a text is, doing it twice changes nothing more, and no two ignorables stand together', () => {
  const hidden = fc.constantFrom(
    ...['\u200B', '\u200C', '\u200D', '\uFE0F', '\uFE0E', '\u180E', '\u061C', '\u{E0067}', '\u{E007F}'],
  );
  const seen = fc.constantFrom('a', '1', '😀', '👩', '🏴', '🏽', 'م', 'क', '्', 'ᠠ', ' ', '\u20E3');
  const text = fc.array(fc.oneof(hidden, seen, fc.string({ unit: 'binary', maxLength: 2 })), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(text, (parts) => {
      const once = stripInvisible(parts.join(''));
      expect(stripInvisible(once)).toBe(once);
      // But for flags, and the joiner between an emoji and the next.
      const rest = once.replace(/\u{1F3F4}[\u{E0061}-\u{E007A}]{5}\u{E007F}|\uFE0F\u200D|\uFE0E\u200D/gu, '');
      expect(rest).not.toMatch(/\p{Default_Ignorable_Code_Point}{2}/u);
    }),
    { numRuns: 300 },
  );
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stripInvisible } from '../../src/slack/text.ts';

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
    ...[
      '😀',
      '❤️',
      '❤',
      '👍🏽',
      '👩‍💻',
      '👨‍👩‍👧‍👦',
      '🏳️‍🌈',
      '🏳️‍⚧️',
      '🏴‍☠️',
      '🕵🏽‍♂️',
      '👩🏿‍❤️‍💋‍👨🏻',
      '🏃‍➡️',
      '🇩🇪',
      '1️⃣',
      '#️⃣',
    ],
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

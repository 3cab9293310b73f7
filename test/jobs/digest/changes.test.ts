import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeText, shareText, signedPercent, spokenChange } from '../../../src/jobs/digest/changes.ts';

test.each<[number, number, string, string, string | undefined]>([
  [12_480, 11_760, '▲ 6%', 'up 6 percent', '+6%'],
  [9050, 9235, '▼ 2%', 'down 2 percent', '−2%'],
  [731, 321, '▲ 128%', 'up 128 percent', '+128%'],
  [5000, 50, '▲ 9,900%', 'up 9,900 percent', '+9,900%'],
  // Small numbers.
  [52, 49, '+3', '3 more', undefined],
  [49, 52, '−3', '3 fewer', '−6%'],
  [0, 64, '−64', '64 fewer', '−100%'],
  [12_000, 49, '+11,951', '11,951 more', undefined],
  // Less than half of a percent.
  [100_400, 100_000, '+400', '400 more', undefined],
  [100_500, 100_000, '▲ 1%', 'up 1 percent', '+1%'],
  // Never a percentage of nothing.
  [3, 0, 'new', 'none before', undefined],
  [100_000, 0, 'new', 'none before', undefined],
  [0, 0, '±0', 'unchanged', undefined],
  [500, 500, '±0', 'unchanged', undefined],
])('%d after %d is %s', (now, before, text, spoken, signed) => {
  expect(changeText(now, before)).toBe(text);
  expect(spokenChange(now, before)).toBe(spoken);
  expect(signedPercent(now, before)).toBe(signed);
});

test.each<[number, number, string]>([
  [3430, 9050, '27%'],
  [0, 0, '0%'],
  [0, 500, '0%'],
  [1, 100_000, 'under 1%'],
  [100_000, 1, 'over 99%'],
  [100, 0, '100%'],
  [96, 4, '96%'],
])('%d views by AI and %d by people are a share of %s', (ai, human, text) => {
  expect(shareText({ human, ai })).toBe(text);
});

test('the text is short and without anything that is no number, whatever is counted', () => {
  const views = fc.oneof(fc.nat(200), fc.nat(1_000_000), fc.maxSafeNat());
  fc.assert(
    fc.property(views, views, (now, before) => {
      expect(changeText(now, before)).toMatch(/^(?:±0|new|[▲▼] [1-9][\d,]*%|[+−][1-9][\d,]*)$/u);
      expect(spokenChange(now, before)).not.toMatch(/NaN|∞|Infinity/);
      expect(shareText({ human: now, ai: before })).toMatch(/^(?:\d{1,3}|under 1|over 99)%$/);
      const isUp = /^(?:[▲+]|new)/u.test(changeText(now, before));
      expect(isUp).toBe(now > before);
    }),
  );
});

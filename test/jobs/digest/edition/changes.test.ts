import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bothText,
  changeText,
  shareText,
  spokenChange,
} from '../../../../src/jobs/digest/edition/phrases.ts';

test.each<[number, number, string, string]>([
  [12_480, 11_760, '▲ 6%', 'up 6 percent'],
  [9050, 9235, '▼ 2%', 'down 2 percent'],
  [731, 321, '▲ 128%', 'up 128 percent'],
  [5000, 50, '▲ 9,900%', 'up 9,900 percent'],
  // Small numbers.
  [52, 49, '+3', '3 more'],
  [49, 52, '−3', '3 fewer'],
  [0, 64, '−64', '64 fewer'],
  [12_000, 49, '+11,951', '11,951 more'],
  // Less than half of a percent.
  [100_400, 100_000, '+400', '400 more'],
  [100_500, 100_000, '▲ 1%', 'up 1 percent'],
  // Never a percentage of nothing.
  [3, 0, 'new', 'none before'],
  [100_000, 0, 'new', 'none before'],
  [0, 0, '±0', 'unchanged'],
  [500, 500, '±0', 'unchanged'],
])('%d after %d is %s', (now, before, text, spoken) => {
  expect(changeText(now, before)).toBe(text);
  expect(spokenChange(now, before)).toBe(spoken);
});

test.each<[number, number, string]>([
  [420, 840, '840 → 420, ▼ 50%'],
  [12_000, 49, '49 → 12,000'],
  [100_400, 100_000, '100,000 → 100,400'],
])('%d after %d is %s, with both numbers', (now, before, text) => {
  expect(bothText(now, before)).toBe(text);
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

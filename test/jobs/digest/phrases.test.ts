import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  bothText,
  changeText,
  gapText,
  pagePart,
  pathText,
  shareText,
  spokenChange,
  trendText,
} from '../../../src/jobs/digest/edition/phrases.ts';

test.each<[number, number, string, string, string]>([
  [12_480, 11_760, '▲ 6%', 'up 6 percent', '11,760 → 12,480, ▲ 6%'],
  [420, 840, '▼ 50%', 'down 50 percent', '840 → 420, ▼ 50%'],
  // Small numbers.
  [52, 49, '+3', '3 more', '49 → 52'],
  [0, 64, '−64', '64 fewer', '64 → 0, ▼ 100%'],
  [12_000, 49, '+11,951', '11,951 more', '49 → 12,000'],
  // Less than half of a percent.
  [100_400, 100_000, '+400', '400 more', '100,000 → 100,400'],
  [100_500, 100_000, '▲ 1%', 'up 1 percent', '100,000 → 100,500, ▲ 1%'],
  // Never a percentage of nothing.
  [3, 0, 'new', 'none before', '0 → 3'],
  [500, 500, '±0', 'unchanged', '500 → 500'],
])('%d after %d is %s', (now, before, text, spoken, both) => {
  expect([changeText(now, before), spokenChange(now, before), bothText(now, before)]).toEqual([
    text,
    spoken,
    both,
  ]);
});

test.each<[number, number, string]>([
  [3430, 9050, '27%'],
  [0, 0, '0%'],
  [1, 100_000, 'under 1%'],
  [100_000, 1, 'over 99%'],
  [100, 0, '100%'],
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
    }),
  );
});

test.each([
  ['/k%C3%B6ln%20ost', '/köln ost'],
  ['/a%2Fb%3Fc', '/a%2Fb%3Fc'],
  ['/a%0Ab%E2%80%AEc', '/a bc'],
  ['/broken%C3%zz', '/broken%C3%zz'],
])('%s reads %s', (path, text) => {
  expect(pathText(path)).toBe(text);
});

test.each([
  ['docs.acme.com', '/k%C3%B6ln', 'https://docs.acme.com/k%C3%B6ln'],
  ['docs.acme.com', '//evil.example/x', undefined],
  ['docs.acme.com', 'guides', undefined],
  ['docs.acme.com', `/${'x'.repeat(300)}`, undefined],
  ['acme', '/guides/sso', undefined],
])('of %s, %s links to %s', (site, path, link) => {
  const part = pagePart(site, path);
  expect(typeof part === 'object' && 'link' in part ? part.link : undefined).toBe(link);
});

test.each([
  [undefined, ''],
  [{ weeks: 1 }, ''],
  [{ weeks: 2 }, '2nd week'],
  [{ weeks: 3 }, '3rd week'],
  [{ weeks: 11 }, '11th week'],
  [{ weeks: 21 }, '21st week'],
  [{ weeks: 26 }, 'for 25 weeks or more'],
  [{ weeks: 1, back: 1 }, 'back after 1 week'],
  [{ weeks: 1, back: 5 }, 'back after 5 weeks'],
])('a gap of %j reads "%s"', (gap, text) => {
  expect(gapText(gap)).toBe(text);
});

test.each([
  [[70, 80, 90, 100], 'Lowest in 4 weeks, third fall in a row.'],
  [[110, 80, 90, 100], 'Highest in 4 weeks.'],
  [[100, 90, 80, 70, 100], 'Third rise in a row.'],
  [[85, 80, 90, 100], ''],
  [[60, 70, 80], ''],
  [[70], ''],
  [[70, 70, 80, 90], ''],
])('weeks with %j views, the latest first, are %s', (weekViews, trend) => {
  expect(trendText(weekViews)).toBe(trend);
});

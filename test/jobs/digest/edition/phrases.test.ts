import { expect, test } from 'vitest';
import { trendOf } from '../../../../src/jobs/digest/edition/job.ts';
import { pagePart, pathText } from '../../../../src/jobs/digest/edition/phrases.ts';

test.each([
  ['/k%C3%B6ln%20ost', '/köln ost'],
  ['/%E6%97%A5%E6%9C%AC', '/日本'],
  ['/a%2Fb%25c', '/a%2Fb%25c'],
  ['/a%0Ab%E2%80%AEc', '/a%0Ab%E2%80%AEc'],
  ['/broken%C3%zz', '/broken%C3%zz'],
])('%s reads %s', (path, text) => {
  expect(pathText(path)).toBe(text);
});

test.each([
  ['docs.acme.com', '/guides/sso', 'https://docs.acme.com/guides/sso'],
  ['docs.acme.com', '/k%C3%B6ln', 'https://docs.acme.com/k%C3%B6ln'],
  ['docs.acme.com', '//evil.example/x', undefined],
  ['docs.acme.com', 'guides', undefined],
  ['docs.acme.com', `/${'x'.repeat(300)}`, undefined],
  ['your docs', '/guides/sso', undefined],
  ['acme', '/guides/sso', undefined],
])('of %s, %s links to %s', (site, path, link) => {
  const part = pagePart(site, path);
  expect(typeof part === 'object' && 'link' in part ? part.link : undefined).toBe(link);
});

test.each([
  [[70, 80, 90, 100], { weeks: 4, extreme: 'lowest', way: 'fall', inARow: 3 }],
  [[110, 80, 90, 100], { weeks: 4, extreme: 'highest', way: 'rise', inARow: 1 }],
  [[85, 80, 90, 100], { weeks: 4, way: 'rise', inARow: 1 }],
  [[70, 80], { weeks: 2, way: 'fall', inARow: 1 }],
  [[70], undefined],
  [[70, 70, 80], undefined],
])('weeks with %j views, the latest first', (views, trend) => {
  expect(trendOf(views)).toEqual(trend);
});

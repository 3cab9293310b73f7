import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { someMetrics } from '../support/metrics.ts';
import { problemLevels } from '../support/problem-levels.ts';

const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');

test('the page has a row for every metric, and for no other', async () => {
  const text = await someMetrics().expose();
  const shown = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
  const rows = page.split('\n').filter((line) => /^\| `(?:docket|process|nodejs)_/.test(line));
  const told = rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(told.toSorted()).toEqual(shown.toSorted());
});

test('the page has the name and the levels of every problem, and of no other', () => {
  const [, section = ''] = page.split('\n## The problems\n');
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`.+?`) \| ([a-z, ]+) \|/gm)];
  const shown = rows.flatMap(([, names = '', levels]) =>
    [...names.matchAll(/`([\w-]+)`/g)].map(([, name]) => `${name}: ${levels}`),
  );
  const raised = [...problemLevels()].map(([name, levels]) => `${name}: ${[...levels].sort().join(', ')}`);
  expect(raised.length).toBeGreaterThan(30);
  expect(shown.toSorted()).toEqual(raised.sort());
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { keys } from '../src/store/keys.ts';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const page = read('SECURITY.md');
const cells = (heading: string) =>
  [...(page.split(`## ${heading}`)[1]?.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]+) \|/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
    .toSorted();

test('SECURITY.md says of every key what it holds and for how long', () => {
  const families = Object.values(keys).map((key) => key('x', 'x', 'x').split(':')[1]);
  expect(cells('What is kept, and for how long')).toEqual([...new Set(families)].toSorted());
});

test('SECURITY.md says of every scope what it is for', () => {
  expect(cells('What Docket may do in Slack')).toEqual(
    parse(read('manifest.yml')).oauth_config.scopes.bot.toSorted(),
  );
});

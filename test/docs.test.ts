import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { settingNames } from './support/deploy/settings.ts';

const root = join(import.meta.dirname, '..');
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** What GitHub makes of a heading, for links to it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (page: string) =>
  [...read(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

test.each(pages)('every link in %s leads somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
  const broken = links.filter((link) => {
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? page : join(dirname(page), file);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test('docs/settings.md has a row for every setting, and no other', () => {
  const rows = [...read('docs/settings.md').matchAll(/^\| (`[A-Z].*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name),
  );
  expect(rows.toSorted()).toEqual(settingNames.toSorted());
});

test('test/README.md names only tests that are there', () => {
  const rows = [...read('test/README.md').matchAll(/^\| [^|]+ \| (.+) \|$/gm)].map(([, cell = '']) => cell);
  const names = rows.slice(1).flatMap((cell) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name));
  expect(names).toContain('kill');
  const isThere = (name = '') =>
    ['test', 'process'].some((kind) => existsSync(join(root, `test/outside/${name}.${kind}.ts`)));
  expect(names.filter((name) => !isThere(name))).toEqual([]);
});

import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildPage, OTHER_SOURCES } from '../build.ts';

const MOST_BYTES = 400 * 1024;

test('the page is small, and loads nothing from anywhere else', async () => {
  const folder = await buildPage();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  const bytes = files.reduce((sum, content) => sum + gzipSync(content).length, 0);
  const html = readFileSync(join(folder, 'index.html'), 'utf8');

  expect(bytes).toBeLessThan(MOST_BYTES);
  expect(html).not.toMatch(/(src|href)="(?!\/assets\/)/);
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=/);
  expect(await buildPage()).toBe(folder);
});

test('the page is built again after a change of what it imports from outside its folder', () => {
  const imported = globSync('**/*.{ts,tsx}', {
    cwd: import.meta.dirname,
    exclude: (name) => /\.test\./.test(name),
  })
    .flatMap((name) => {
      const file = join(import.meta.dirname, name);
      const paths = readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g);
      return [...paths].map(([, path = '']) => resolve(file, '..', path));
    })
    .filter((file) => !file.startsWith(import.meta.dirname))
    .map((file) => relative(resolve(import.meta.dirname, '../../..'), file));
  expect(imported).toContain('demo/words.ts');
  expect(imported.filter((file) => !OTHER_SOURCES.includes(file))).toEqual([]);
});

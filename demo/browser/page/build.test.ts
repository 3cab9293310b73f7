import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildPage } from '../build.ts';

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

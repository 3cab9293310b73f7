import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const script = new URL('../../scripts/size.mjs', import.meta.url).pathname;

const files = {
  'src/app.ts': "import { b, type C } from './jobs/b.ts';\nb();\n",
  'src/jobs/b.ts': 'export const b = 1;\nexport interface C {}\nexport const unused = 2;\n',
  'src/jobs/c.ts': "export type { C } from './b.ts';\n",
  'test/a.test.ts': 'test();\n',
  'demo/wire.ts': 'wire();\n',
  'demo/wire.test.ts': 'test();\n',
  'test/outside/golden/export.yaml': 'one\ntwo\n',
};

function measure(budget: object): { status: number | null; lines: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'docket-size-'));
  for (const [file, text] of Object.entries({ ...files, 'size.json': JSON.stringify(budget) })) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { status, stdout } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return { status, lines: stdout.split('\n').map((line) => line.trim().replace(/ +/g, ' ')) };
}

test('prints lines and files by folder, and keeps to a budget that is just met', () => {
  const exports = { 'src exports': 4, 'src exports used by one other file': 1 };
  const { status, lines } = measure({
    'src lines': 6,
    'src files': 3,
    'test lines': 2,
    'demo lines': 1,
    ...exports,
  });
  expect(lines).toEqual(
    expect.arrayContaining([
      'src/jobs 4 lines 2 files',
      'src 6 lines 3 files',
      'test 2 lines 2 files',
      'demo 1 lines 1 files',
      'golden files 2 lines 1 files',
      '✓ src exports used by one other file: 1 of 1',
    ]),
  );
  expect(status).toBe(0);
});

test('fails above a budget, and for one that it does not measure', () => {
  const tooMuch = measure({ 'src lines': 5, 'test lines': 2 });
  expect(tooMuch.lines).toContain('✗ src lines: 6 of 5');
  expect(tooMuch.lines).toContain('✓ test lines: 2 of 2');
  expect(tooMuch.status).toBe(1);

  const unknown = measure({ 'src words': 5 });
  expect(unknown.lines).toContain('✗ src words: not measured of 5');
  expect(unknown.status).toBe(1);
});

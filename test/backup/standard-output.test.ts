import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test.each([
  [30_000, 'EFBIG'],
  [20_000, 'none'],
])('of a file that can hold 20 kB, %i bytes in one write end with the error: %s', (bytes, error) => {
  const folder = mkdtempSync(join(tmpdir(), 'docket-output-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file');
  const module = JSON.stringify(new URL('../../src/backup/standard-output.ts', import.meta.url));
  const write = `import { openStandardOutput } from ${module};
    const output = openStandardOutput({});
    output.on('error', ({ code }) => console.error(code)).on('finish', () => console.error('none'));
    output.end(Buffer.alloc(${bytes}));`;
  const { stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -f 40; exec "$@" > "$0"', file, process.execPath, '--input-type=module', '--eval', write],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe(`${error}\n`);
  expect(statSync(file).size).toBe(Math.min(bytes, 20_480));
});

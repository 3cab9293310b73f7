import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { valueProblem, withSetting, writePrivately } from '../../src/setup/env-text.ts';

test.each([
  ['', 'A=1\n'],
  ['B=2', 'B=2\nA=1\n'],
  ['# why\nA=0\nB=2\n', '# why\nA=1\nB=2\n'],
  ['A=\n', 'A=1\n'],
  ['  export A=0\n', 'A=1\n'],
  ['A=0\nA=2\n', 'A=0\nA=1\n'],
  ['#A=example\nB=2\n', '#A=example\nA=1\nB=2\n'],
  ['AA=0\n# A=0 is what it was\n', 'AA=0\n# A=0 is what it was\nA=1\n'],
])('%j gets a setting', (text, result) => expect(withSetting(text, 'A', '1')).toBe(result));

test.each(['two words', 'quo"te', "quo'te", 'a#b', 'a\\b', 'a\nb', 'ä'])('%j cannot stand there', (value) =>
  expect(valueProblem(value)).toEqual(expect.any(String)),
);
test.each(['xoxb-1-a', 'https://api.acme.com/x?y=1&z=%20'])('%j can', (value) =>
  expect(valueProblem(value)).toBeUndefined(),
);

test('a file is replaced by one for its owner alone, also behind a link; nothing is left beside it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'docket-env-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'real'), 'old', { mode: 0o644 });
  symlinkSync('real', join(folder, '.env'));
  writePrivately(join(folder, '.env'), 'new');
  expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('new');
  expect(statSync(join(folder, 'real')).mode & 0o777).toBe(0o600);
  expect(lstatSync(join(folder, '.env')).isSymbolicLink()).toBe(true);
  expect(readdirSync(folder).toSorted()).toEqual(['.env', 'real']);
});

test('on a disk that gets full the file stays as it was', () => {
  const folder = mkdtempSync(join(tmpdir(), 'docket-env-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, '.env');
  writeFileSync(file, 'old');
  const module = JSON.stringify(new URL('../../src/setup/env-text.ts', import.meta.url));
  const write = `import { writePrivately } from ${module}; writePrivately(process.argv[1], 'x'.repeat(100_000));`;
  // Files get no larger than some kB, as on a disk that gets full meanwhile.
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -f 10; exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', write, file],
    { encoding: 'utf8' },
  );
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('EFBIG') });
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['.env']);
});

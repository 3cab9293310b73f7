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

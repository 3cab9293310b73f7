import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const script = new URL('../../scripts/count-tests.mjs', import.meta.url).pathname;
const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((one) => ({ status: one })),
});

function count(report: object): { status: number | null; stdout: string } {
  const folder = mkdtempSync(join(tmpdir(), 'docket-count-'));
  writeFileSync(join(folder, 'report.json'), JSON.stringify(report));
  const { status, stdout } = spawnSync(process.execPath, [script, join(folder, 'report.json')], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  return { status, stdout };
}

test('says how many passed and failed; a file that did not load is a failure', () => {
  const testResults = [
    file('passed', 'passed', 'passed'),
    file('failed', 'passed', 'failed'),
    file('failed'),
  ];
  expect(count({ numPassedTests: 3, numFailedTests: 1, testResults }).stdout).toBe('3 passed, 2 failed\n');
});

test('fails when no test ran', () => {
  expect(count({ numPassedTests: 0, numFailedTests: 0, testResults: [] })).toEqual({
    status: 1,
    stdout: '0 passed, 0 failed\n',
  });
});

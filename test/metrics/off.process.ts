import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

test('what is off by default is not loaded, nor more of prom-client than is used', async () => {
  const script = `
    for (const file of ['app', 'web', 'worker']) await import('./src/' + file + '.ts');
    const { createRequire } = await import('node:module');
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));
  `;
  const args = ['--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  const loaded: string[] = JSON.parse(stdout.trim().split('\n').at(-1) ?? '[]');
  expect(loaded.some((file) => file.includes('/prom-client/lib/histogram.js'))).toBe(true);
  expect(
    loaded.filter((file) =>
      /@bull-board|opentelemetry|prom-client\/(?:index|lib\/(?:cluster|defaultMetrics))/.test(file),
    ),
  ).toEqual([]);
});

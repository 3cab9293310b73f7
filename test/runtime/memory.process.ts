import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the heap is collected before it is some multiple of what is alive', async () => {
  const script = new URL('../support/runtime/heap-growth.ts', import.meta.url).pathname;
  const mostOf = async (how: string) =>
    Number((await promisify(execFile)(process.execPath, [script, how])).stdout);
  const [slowly, byDefault] = await Promise.all([mostOf('slowly'), mostOf('by default')]);
  expect(slowly).toBeGreaterThan(0);
  expect(slowly).toBeLessThan(byDefault * 0.85);
});

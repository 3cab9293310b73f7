import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { releaseStartMemory } from '../../src/runtime/memory.ts';

test('what is no longer needed is given back to the system', () => {
  for (let count = 0; count < 40; count += 1) new Array(100_000).fill(count);
  // What an earlier test left behind does not count.
  releaseStartMemory();
  const before = process.memoryUsage().heapTotal;
  let used: unknown[] = Array.from({ length: 400_000 }, (_, index) => ({ index, text: `text ${index}` }));
  const most = process.memoryUsage().heapTotal;
  expect(used.length).toBe(400_000);
  used = [];
  releaseStartMemory();
  expect(most - before).toBeGreaterThan(10 * 1024 ** 2);
  expect(process.memoryUsage().heapTotal - before).toBeLessThan((most - before) / 2);
});

test('the heap is collected before it is some multiple of what is alive', async () => {
  const script = new URL('../support/runtime/heap-growth.ts', import.meta.url).pathname;
  const mostOf = async (how: string) =>
    Number((await promisify(execFile)(process.execPath, [script, how])).stdout);
  const [slowly, byDefault] = await Promise.all([mostOf('slowly'), mostOf('by default')]);
  expect(slowly).toBeGreaterThan(0);
  expect(slowly).toBeLessThan(byDefault * 0.85);
});

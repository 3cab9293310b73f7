import { expect, test } from 'vitest';
import { runFlat, type Sample } from '../../bench/parts/flat.ts';
import { countRows, memoryRows } from '../../bench/parts/flat-verdict.ts';
import { canMoveClocks } from '../support/faketime.ts';

const grown = (rows: ReturnType<typeof countRows>) =>
  rows.filter(({ held }) => !held).map(({ what, figure }) => `${what}: ${figure}`);

test.skipIf(!canMoveClocks)(
  'months of exports and threads leave neither keys nor open files behind',
  async () => {
    const samples = await runFlat({ exports: 10, threads: 3, batches: 3, daysOfBatch: 100 });
    expect(samples).toHaveLength(3);
    expect(grown(countRows(samples, 10))).toEqual([]);
  },
);

test('what grows is named', () => {
  const samples = Array.from({ length: 6 }, (_, n): Sample => {
    const families = new Map([
      ['run', { keys: 400, entries: 800 }],
      ['quota', { keys: 2, entries: n < 4 ? 68 : 268 }],
      ['left', { keys: 10 * n, entries: 10 * n }],
    ]);
    return { heapMb: 40 + n, processMb: 150, redisMb: 3, files: 30 + 20 * n, families, seconds: 1 };
  });
  expect(grown(memoryRows(samples))).toEqual(['heap after a collection, MB (≤ 1 more): 42.00 → 44.00']);
  expect(grown(countRows(samples, 134))).toEqual([
    'open files (≤ 10 more): 70 → 110',
    'keys of left (≤ 1.1 times): 30 → 50',
    'entries in left (≤ 1.1 times): 30 → 50',
  ]);
  expect(grown(countRows(samples, 133))).toContain('entries in quota (≤ 266): 68 → 268');
});

import { expect, test } from 'vitest';
import { type FiguresRun, newFiguresRun } from '../../../../src/jobs/digest/figures/record.ts';
import { collectAgain } from '../../../../src/jobs/digest/figures/transitions.ts';

const NOON = Date.UTC(2026, 8, 20, 12);
const wanted = (from: string, to: string, nowMs = NOON) =>
  newFiguresRun(
    {
      teamId: 'T0ACME',
      project: 'acme',
      range: { from, to },
      spans: [{ from, to }],
      pages: true,
      readers: false,
      urgent: true,
      maxRequests: 15,
    },
    nowMs,
  );
const ended = (run: FiguresRun, changes: Partial<FiguresRun> = {}): FiguresRun => ({
  ...run,
  rev: 7,
  requests: 4,
  state: 'ended',
  ...changes,
});
const over = wanted('2026-09-18', '2026-09-20');
const today = wanted('2026-09-18', '2026-09-21');

test.each<[string, FiguresRun]>([
  ['are being collected', { ...today, rev: 7 }],
  ['are of a range that was over', ended(over)],
])('figures that %s are collected once', (_, known) => {
  expect(collectAgain(known, known, NOON + 1)).toBeUndefined();
});

test('what failed goes on where it stopped', () => {
  const failed = ended(over, { failed: 'platform', pages: { offset: 250, state: 'collecting' } });
  expect(collectAgain(failed, over, NOON + 1)).toEqual({
    ...failed,
    state: 'collecting',
    failed: undefined,
    requests: 0,
    sinceMs: NOON + 1,
    nextMs: NOON + 1,
  });
});

test('a day that was not over begins anew', () => {
  const later = wanted('2026-09-18', '2026-09-21', NOON + 1);
  const half = { failed: 'platform' as const, pages: { offset: 250, state: 'collecting' as const } };
  expect(collectAgain(ended(today, half), later, NOON + 1)).toEqual({ ...later, rev: 7 });
  expect(collectAgain(ended(today), later, NOON + 1)).toEqual({ ...later, rev: 7 });
});

test.each([
  ['a weekly digest', false, 15],
  ['somebody who asked for dates', true, 1],
])('figures for %s begin anew when their pages may be dropped by now', (_, urgent, keptDays) => {
  const DAY_MS = 86_400_000;
  const kept = { ...over, urgent };
  const complete = ended(kept, { pages: { offset: 500, state: 'complete' } });
  const lateMs = NOON + keptDays * DAY_MS + 1;
  const again = { ...wanted('2026-09-18', '2026-09-20', lateMs), urgent };
  expect(collectAgain(complete, again, NOON + keptDays * DAY_MS)).toBeUndefined();
  expect(collectAgain(complete, again, lateMs)).toEqual({ ...again, rev: 7 });
  const failed = ended(kept, { failed: 'platform', pages: { offset: 250, state: 'collecting' } });
  expect(collectAgain(failed, again, lateMs)).toEqual({ ...again, rev: 7 });
});

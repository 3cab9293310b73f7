import { beforeEach, expect, test } from 'vitest';
import { parseProgress } from '../../../src/docs-api/progress.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { anExportJob, aRun } from '../../support/jobs/export/builders.ts';
import { createExportWorld, failing } from '../../support/jobs/export/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
let world: ReturnType<typeof createExportWorld>;
beforeEach(() => {
  world = createExportWorld(redis);
});

const progressOf = (value: unknown) => {
  const progress = parseProgress(value, false, (text) => text as never);
  return progress === undefined ? {} : { progress };
};

/** Exports a site whose platform tells `numbers` one after another. Returns how far each poll says that it is. */
async function exportSite(index: number, numbers: readonly number[], changes: Partial<ExportRun> = {}) {
  const jobId = `se_${index}`;
  const startMs = world.clock.nowMs;
  const run = await world.given({
    ...aRun(),
    id: `run-${index}`,
    claim: `claim-${index}`,
    state: 'starting',
    sinceMs: startMs,
    attemptAtMs: startMs,
    nextLookAtMs: startMs,
    jobId: undefined,
    startedAtMs: undefined,
    ...changes,
  });
  let polls = 0;
  const context = world.contextWith({
    startExport: async () => anExportJob({ jobId, status: 'queued' }),
    async getExport() {
      const number = numbers[polls];
      polls += 1;
      return number === undefined
        ? anExportJob({ jobId, status: 'completed' })
        : anExportJob({ jobId, status: 'running', ...progressOf(number) });
    },
    createBundle: failing('key_rejected'),
  });
  const fractions: (number | undefined)[] = [];
  for (;;) {
    const before = polls;
    const outcome = await world.step(run, context);
    const stored = await world.stored(run);
    if (stored?.state === 'ended' || outcome.kind === 'done') return fractions;
    if (polls > before && stored?.state === 'watching') fractions.push(stored.looks.at(-1)?.fraction);
    world.clock.nowMs += outcome.inMs;
  }
}

const inPercent = [0.1, 0.2, 0.3, 0.4, 0.5, 42, 80];
const asFraction = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8];

test('a number below one is less than one percent on a site that told percentages before', async () => {
  expect(await exportSite(0, inPercent)).toEqual([undefined, undefined, 0.3, 0.4, 0.5, 0.42, 0.8]);
  expect(await exportSite(1, inPercent)).toEqual([0.001, 0.002, 0.003, 0.004, 0.005, 0.42, 0.8]);
});

test('it is a fraction after some polls on a site that never told any', async () => {
  const seen = [undefined, undefined, 0.3, 0.4, 0.5, 0.6, 0.8];
  expect(await exportSite(0, [...asFraction, 1])).toEqual([...seen, 0.01]);
  expect(await exportSite(1, asFraction)).toEqual(seen);
});

test('a try after a failure knows what the one before showed', async () => {
  const [first, , third] = await exportSite(0, [0.1, 0.2, 0.3], { inPercent: true, attempt: 2 });
  expect([first, third]).toEqual([0.001, 0.003]);
});

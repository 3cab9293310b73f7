import { beforeEach, expect, test } from 'vitest';
import { parseProgress } from '../../../src/docs-api/text.ts';
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
  const progress = parseProgress(value, false);
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
    nextPollAtMs: startMs,
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
    if (polls > before && stored?.state === 'watching') fractions.push(stored.snapshots.at(-1)?.fraction);
    world.clock.nowMs += outcome.inMs;
  }
}

const inPercent = [0.1, 0.2, 0.3, 0.4, 0.5, 42, 80];
const asFraction = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8];

test('a number below one is a fraction after some polls, while no number above one has come', async () => {
  expect(await exportSite(0, inPercent)).toEqual([undefined, undefined, 0.3, 0.4, 0.5, 0.42, 0.8]);
  expect(await exportSite(1, asFraction)).toEqual([undefined, undefined, 0.3, 0.4, 0.5, 0.6, 0.8]);
});

test('a try after a failure knows what the one before showed', async () => {
  const [first, , third] = await exportSite(0, [0.1, 0.2, 0.3], { inPercent: true, attempt: 2 });
  expect([first, third]).toEqual([0.001, 0.003]);
});

test('the next export of the same pages of a site knows how long this one took', async () => {
  const lastMs = async (index: number, changes: Partial<ExportRun> = {}) => {
    await exportSite(index, [42], changes);
    return (await world.stored(aRun({ id: `run-${index}` })))?.lastDurationMs;
  };
  expect(await lastMs(0)).toBeUndefined();
  expect(await lastMs(1, { version: '2.0' })).toBeGreaterThan(1000);
  expect(await lastMs(2, { paths: ['guides'] })).toBeUndefined();
  expect(await lastMs(3, { domain: 'other.acme.com' })).toBeUndefined();
});

import { beforeEach, describe, expect, test } from 'vitest';
import type { JobContext } from '../../../src/jobs/context.ts';
import { durationsName, seenDurationMs } from '../../../src/jobs/export/durations.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { createDurationStore } from '../../../src/store/durations.ts';
import { anExportJob, aRun } from '../../support/jobs/export/builders.ts';
import { createExportWorld, failing } from '../../support/jobs/export/world.ts';
import { redisForTests } from '../../support/redis.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

describe('a duration that was seen', () => {
  const seen = { startedAtMs: 1000, lastRunningMs: 91_000, foundEndedMs: 101_000 };

  test('is taken from between the two polls around the end', () => {
    expect(seenDurationMs(seen)).toBe(95_000);
  });

  test('is what the platform says where that fits, whatever its clock says', () => {
    const createdAt = Date.UTC(2001, 0);
    const said = (ms: number) => seenDurationMs({ ...seen, createdAt, updatedAt: createdAt + ms });
    expect(said(92_500)).toBe(92_500);
    expect([-1, 0, 90_000, 100_001, Number.POSITIVE_INFINITY].map(said)).toEqual(Array(5).fill(95_000));
  });

  test.each([
    ['its end was seen late', { lastRunningMs: 50_000 }],
    ['it was never seen running after its start', { lastRunningMs: 1000 }],
    ['a clock was set back', { foundEndedMs: 80_000 }],
    ['a clock was set back before its start', { lastRunningMs: 500 }],
  ])('does not count when %s', (_, changes) => {
    expect(seenDurationMs({ ...seen, ...changes })).toBeUndefined();
  });
});

describe('exports of the same', () => {
  const name = (changes: Partial<ExportRun> = {}) => durationsName(aRun(changes));

  test('are those of one site, whatever their version, and of the same pages of it', () => {
    expect(name({ version: '2.0', id: 'other' })).toBe(name());
    expect(name({ paths: ['/b', '/a'] })).toBe(name({ paths: ['/a', '/b'] }));
    const names = [name(), name({ paths: ['/a'] }), name({ paths: ['/b'] }), name({ domain: 'a.acme.com' })];
    names.push(name({ project: 'other' }), name({ teamId: 'T0OTHER' }));
    expect(new Set(names).size).toBe(names.length);
  });

  test('cannot be told where the site is not known', () => {
    expect(name({ domain: '' })).toBeUndefined();
  });
});

const redis = redisForTests();
let world: ReturnType<typeof createExportWorld>;
beforeEach(() => {
  world = createExportWorld(redis);
});

const kept = (changes: Partial<ExportRun> = {}) =>
  createDurationStore(redis.client).of(durationsName(aRun(changes)) ?? '');

/** Exports a site that takes so long and tells no progress. Returns when it was polled, and the run as it is then. */
async function exportSite(
  index: number,
  tookMs: number,
  changes: Partial<ExportRun> = {},
  parts: Partial<JobContext> = {},
) {
  const startMs = world.clock.nowMs;
  const polledAtMs: number[] = [];
  const run = await world.given({
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
  const jobId = changes.jobId ?? `se_${index}`;
  const context = world.contextWith(
    {
      startExport: async () => anExportJob({ jobId, status: 'queued' }),
      async getExport() {
        polledAtMs.push(world.clock.nowMs - startMs);
        return anExportJob({
          jobId,
          status: world.clock.nowMs - startMs >= tookMs ? 'completed' : 'running',
        });
      },
      createBundle: failing('key_rejected'),
    },
    { random: () => 0.5, ...parts },
  );
  for (;;) {
    const outcome = await world.step(run, context);
    const stored = await world.stored(run);
    if (stored?.state === 'ended' || outcome.kind === 'done') return { polledAtMs, stored };
    world.clock.nowMs += outcome.inMs;
  }
}

describe('exports one after another', () => {
  test('the plan of a further one uses what the earlier ones took', async () => {
    const first = await exportSite(0, 5 * MINUTE);
    for (let index = 1; index < 8; index += 1) await exportSite(index, 5 * MINUTE + index * SECOND);
    expect(await kept()).toHaveLength(8);
    const last = await exportSite(8, 5 * MINUTE + 4 * SECOND);
    expect(last.polledAtMs.length).toBeLessThan(first.polledAtMs.length * 0.7);
    const lagMs = ({ polledAtMs }: { polledAtMs: number[] }, tookMs: number) =>
      (polledAtMs.at(-1) ?? 0) - tookMs;
    expect(lagMs(last, 5 * MINUTE + 4 * SECOND)).toBeLessThan(4 * SECOND);
    // A site of its own begins without.
    const other = await exportSite(9, 5 * MINUTE, { domain: 'other.acme.com' });
    expect(other.polledAtMs).toEqual(first.polledAtMs);
  });

  test('each one counts once, also when the process dies between keeping it and its own save', async () => {
    const { saveWithWakes: save } = world.runs;
    let dies = true;
    const runs: typeof world.runs = {
      ...world.runs,
      saveWithWakes: async (run, ...more) => {
        if (!dies || !('state' in run && run.state === 'bundling')) return save(run, ...more);
        dies = false;
        world.clock.nowMs += 2 * SECOND;
        throw new Error('died');
      },
    };
    await expect(exportSite(0, MINUTE, {}, { runs })).rejects.toThrow('died');
    const before = await kept();
    expect(before).toHaveLength(1);
    const run = aRun({ id: 'run-0' });
    await world.step(
      run,
      world.contextWith({
        getExport: async () => anExportJob({ jobId: 'se_0', status: 'completed' }),
        createBundle: failing('key_rejected'),
      }),
    );
    expect((await world.stored(run))?.state).toBe('ended');
    expect(await kept()).toEqual(before);
  });

  const watching = { state: 'watching', jobId: 'se_0' } as const;

  test.each<[string, Partial<ExportRun>]>([
    ['that was not started from here', { ...watching, joined: true }],
    [
      'that a person found',
      { ...watching, answer: { attempt: 1, by: 'ana', byId: 'U0ANA', action: 'watchIt' } },
    ],
    [
      'whose start was answered late',
      { ...watching, answer: { attempt: 1, by: '', byId: '', action: 'late' } },
    ],
  ])('one %s is not kept', async (_, changes) => {
    const startedAtMs = world.clock.nowMs;
    await exportSite(0, 2 * MINUTE, { ...changes, startedAtMs });
    expect(await kept()).toEqual([]);
  });

  test('one whose start was recorded long after its attempt began is not kept', async () => {
    const nowMs = world.clock.nowMs;
    await exportSite(0, 2 * MINUTE, { ...watching, startedAtMs: nowMs, attemptAtMs: nowMs - 2 * MINUTE });
    expect(await kept()).toEqual([]);
    await exportSite(1, 2 * MINUTE, { ...watching, jobId: 'se_1', startedAtMs: world.clock.nowMs });
    expect(await kept()).toHaveLength(1);
  });

  test('one that failed is not kept', async () => {
    const startedAtMs = world.clock.nowMs;
    const run = await world.given({ ...watching, startedAtMs, looks: [{ atMs: startedAtMs + MINUTE }] });
    world.clock.nowMs += MINUTE + SECOND;
    await world.step(run, world.contextWith({ getExport: async () => anExportJob({ status: 'failed' }) }));
    expect((await world.stored(run))?.ending?.kind).toBe('failed');
    expect(await kept()).toEqual([]);
  });

  test('one that has ended when its start is answered is polled at once', async () => {
    const run = await world.given({ state: 'starting', jobId: undefined, startedAtMs: undefined });
    const done = async () => anExportJob({ status: 'completed' });
    await world.step(
      run,
      world.contextWith({ startExport: done, getExport: done, createBundle: failing('key_rejected') }),
    );
    expect((await world.stored(run))?.state).toBe('ended');
  });
});

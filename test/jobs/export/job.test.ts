import { beforeEach, describe, expect, test } from 'vitest';
import { exportJob } from '../../../src/jobs/export/job.ts';
import { jobAlias } from '../../../src/jobs/export/record.ts';
import { transitions } from '../../../src/jobs/export/transitions.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anExportJob } from '../../support/jobs/export/builders.ts';
import { createExportWorld, HOUR_MS } from '../../support/jobs/export/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
let world: ReturnType<typeof createExportWorld>;
beforeEach(() => {
  world = createExportWorld(redis);
});

describe('over long spans, by a moved clock', () => {
  test('a late answer to a start replaces the question', async () => {
    const run = await world.given({
      state: 'unknown',
      jobId: undefined,
      startedAtMs: undefined,
      snapshots: [],
    });
    const context = world.contextWith({
      getExport: async () => anExportJob({ jobId: 'se_late' }),
    });
    expect(await world.step(run, context)).toEqual({ kind: 'done' });
    await context.callOnce(run, 'start.1', 1000, async () => ({
      jobId: 'se_late',
      status: 'queued',
      rawStatus: 'queued',
    }));
    expect(await world.step(run, context)).toMatchObject({ kind: 'again' });
    expect(await world.stored(run)).toMatchObject({ state: 'watching', jobId: 'se_late' });
    expect(world.text(run, 'question.1')).toBe(
      "It was unclear whether the export of docs.acme.com had started. It had: the platform's answer came late.",
    );
  });

  test('a late answer to a start has its run worked on again, also when nobody lived to see to it', async () => {
    const run = await world.given({
      state: 'unknown',
      jobId: undefined,
      startedAtMs: undefined,
      snapshots: [],
    });
    const context = world.contextWith({ getExport: async () => anExportJob({ jobId: 'se_late' }) });
    await world.step(run, context);
    expect(await world.runs.active()).toEqual([]);
    await context.callOnce(run, 'start.1', 1000, async () => anExportJob({ jobId: 'se_late' }));
    expect(await world.runs.active()).toEqual([{ job: 'export', id: run.id }]);
    await world.step(run, context);
    expect(await world.runs.byAlias(jobAlias(run.teamId, run.project, 'se_late'))).toBe(run.id);
  });

  test('an answer that comes while the question is laid aside is taken at once', async () => {
    const run = await world.given({
      state: 'unknown',
      jobId: undefined,
      startedAtMs: undefined,
      snapshots: [],
    });
    const context = world.contextWith({ getExport: async () => anExportJob({ jobId: 'se_late' }) });
    const settle: typeof world.runs.markIdle = async (...parts) => {
      await context.callOnce(run, 'start.1', 1000, async () => anExportJob({ jobId: 'se_late' }));
      return world.runs.markIdle(...parts);
    };
    await world.step(run, { ...context, runs: { ...world.runs, markIdle: settle } });
    expect(await world.stored(run)).toMatchObject({ state: 'watching', jobId: 'se_late' });
    expect(await world.runs.active()).toEqual([{ job: 'export', id: run.id }]);
  });

  test('[Start again] starts nothing when the answer to the first start is there by then', async () => {
    const run = await world.given({
      state: 'unknown',
      jobId: undefined,
      startedAtMs: undefined,
      snapshots: [],
    });
    const started: string[] = [];
    const context = world.contextWith({
      async startExport({ domain }) {
        started.push(domain);
        return anExportJob({ jobId: 'se_second' });
      },
      getExport: async ({ jobId }) => anExportJob({ jobId }),
    });
    const again = transitions.startAgain(run, { id: 'U0ANA', name: 'ana' }, NOW_MS);
    if (again === undefined) throw new Error('the click counts');
    await world.runs.resume(again, Number.MAX_SAFE_INTEGER, HOUR_MS);
    await context.callOnce(run, 'start.1', 1000, async () => anExportJob({ jobId: 'se_late' }));
    await world.step(run, context);
    expect(started).toEqual([]);
    expect(await world.stored(run)).toMatchObject({ state: 'watching', jobId: 'se_late' });
    expect(world.text(run, 'question.1')).toBe(
      "It was unclear whether the export of docs.acme.com had started. It had: the platform's answer came late.",
    );
  });
});

test('a save that lost against a click has the run stepped again, and changes nothing', async () => {
  const run = await world.given({ state: 'watching', sinceMs: NOW_MS });
  const context = world.contextWith({
    async getExport() {
      const read = await world.stored(run);
      if (read) await context.runs.save({ ...read, watchers: [{ id: 'U0BEN', name: 'ben' }] });
      return anExportJob({ status: 'completed' });
    },
  });
  expect(await exportJob.run(run.id, context)).toEqual({ kind: 'done' });
  expect(world.woken).toEqual([run.id]);
  expect(await world.stored(run)).toMatchObject({
    state: 'watching',
    watchers: [{ id: 'U0BEN', name: 'ben' }],
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import type { ExportJob } from '../../../src/docs-api/schemas.ts';
import { exportJob } from '../../../src/jobs/export/job.ts';
import { type ExportRun, jobAlias } from '../../../src/jobs/export/record.ts';
import { transitions } from '../../../src/jobs/export/transitions.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anExportJob } from '../../support/jobs/export/builders.ts';
import { createExportWorld, failing, HOUR_MS } from '../../support/jobs/export/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
let world: ReturnType<typeof createExportWorld>;
beforeEach(() => {
  world = createExportWorld(redis);
});

describe('over long spans, by a moved clock', () => {
  test('a late answer to a start replaces the question', async () => {
    const run = await world.given({ state: 'unknown', jobId: undefined, startedAtMs: undefined, looks: [] });
    const context = world.contextWith({
      getExport: async () => anExportJob({ jobId: 'se_late' }),
    });
    expect(await world.step(run, context)).toEqual({ kind: 'done' });
    await context.steps.finish(run.id, 'start.1', {
      jobId: 'se_late',
      status: 'queued',
      rawStatus: 'queued',
    });
    expect(await world.step(run, context)).toMatchObject({ kind: 'again' });
    expect(await world.stored(run)).toMatchObject({ state: 'watching', jobId: 'se_late' });
    expect(world.text(run, 'question.1')).toBe(
      "It was unclear whether the export of docs.acme.com had started. It had: the platform's answer came late.",
    );
  });

  test('a late answer to a start has its run worked on again, also when nobody lived to see to it', async () => {
    const run = await world.given({ state: 'unknown', jobId: undefined, startedAtMs: undefined, looks: [] });
    const context = world.contextWith({ getExport: async () => anExportJob({ jobId: 'se_late' }) });
    await world.step(run, context);
    expect(await world.runs.active()).toEqual([]);
    await context.steps.finish(run.id, 'start.1', anExportJob({ jobId: 'se_late' }));
    expect(await world.runs.active()).toEqual([{ job: 'export', id: run.id }]);
    await world.step(run, context);
    expect(await world.runs.byAlias(jobAlias(run.teamId, run.project, 'se_late'))).toBe(run.id);
  });

  test('an answer that comes while the question is laid aside is taken at once', async () => {
    const run = await world.given({ state: 'unknown', jobId: undefined, startedAtMs: undefined, looks: [] });
    const context = world.contextWith({ getExport: async () => anExportJob({ jobId: 'se_late' }) });
    const settle: typeof world.runs.markIdle = async (...parts) => {
      await context.steps.finish(run.id, 'start.1', anExportJob({ jobId: 'se_late' }));
      return world.runs.markIdle(...parts);
    };
    await world.step(run, { ...context, runs: { ...world.runs, markIdle: settle } });
    expect(await world.stored(run)).toMatchObject({ state: 'watching', jobId: 'se_late' });
    expect(await world.runs.active()).toEqual([{ job: 'export', id: run.id }]);
  });

  test('[Start again] starts nothing when the answer to the first start is there by then', async () => {
    const run = await world.given({ state: 'unknown', jobId: undefined, startedAtMs: undefined, looks: [] });
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
    await context.steps.finish(run.id, 'start.1', anExportJob({ jobId: 'se_late' }));
    await world.step(run, context);
    expect(started).toEqual([]);
    expect(await world.stored(run)).toMatchObject({ state: 'watching', jobId: 'se_late' });
    expect(world.text(run, 'question.1')).toBe(
      "It was unclear whether the export of docs.acme.com had started. It had: the platform's answer came late.",
    );
  });

  test('a platform that is away for the whole watch ends it at its deadline', async () => {
    const run = await world.given({ state: 'watching', sinceMs: NOW_MS });
    const context = world.contextWith({ getExport: failing('connection', 'unknown', { retryable: true }) });
    for (;;) {
      const outcome = await world.step(run, context);
      if (outcome.kind === 'done') break;
      world.clock.nowMs += outcome.inMs;
    }
    expect(world.clock.nowMs).toBe(NOW_MS + defaultTiming.watchMs);
    expect((await world.stored(run))?.ending).toEqual({ kind: 'gaveUp', afterMs: defaultTiming.watchMs });
  });

  test('a poll that was planned before the clock was set back by an hour comes at once', async () => {
    const run = await world.given({ state: 'watching', sinceMs: NOW_MS, nextLookAtMs: NOW_MS + HOUR_MS });
    const context = world.contextWith({
      getExport: async () => anExportJob({ progress: { fraction: 0.9 } }),
    });
    await world.step(run, context);
    expect(world.text(run, 'progress')).toContain('Exporting docs.acme.com, 90 percent.');
  });

  test('a wait that the platform asks for does not outlast the watch', async () => {
    const run = await world.given({ state: 'watching', sinceMs: NOW_MS });
    const more = { retryable: true, retryAfterMs: 365 * 24 * HOUR_MS };
    const context = world.contextWith({ getExport: failing('rate_limited', 'no', more) });
    expect(await world.step(run, context)).toEqual({ kind: 'again', inMs: defaultTiming.watchMs });
  });

  test('a rejected key is waited out, and the watch goes on when it works again', async () => {
    const run = await world.given({ state: 'watching', sinceMs: NOW_MS });
    const refused = world.contextWith({ getExport: failing('key_rejected') });
    expect(await world.step(run, refused)).toEqual({ kind: 'again', inMs: 60_000 });
    expect(world.text(run, 'progress')).toContain('My platform key was rejected; the admins have been told');
    expect(world.alertedProjects).toEqual(['default']);
    world.clock.nowMs += 60_000;
    const works = world.contextWith({
      getExport: async () => anExportJob({ progress: { fraction: 0.9 } }),
    });
    await world.step(run, works);
    expect((await world.stored(run))?.trouble).toBeUndefined();
    expect(world.text(run, 'progress')).toContain('Exporting docs.acme.com, 90 percent.');
  });

  test('a job id that cannot be asked for ends the watch at once', async () => {
    const run = await world.given({ state: 'watching', jobId: '..' });
    expect(await world.step(run, world.contextWith({ getExport: failing('bad_request') }))).toEqual({
      kind: 'done',
    });
    expect((await world.stored(run))?.ending?.kind).toBe('gaveUp');
  });

  test('the link of a finished export ends with its time, to the millisecond', async () => {
    const endsAtMs = Date.now() + 3 * HOUR_MS;
    const nowMs = Date.now();
    world.clock.nowMs = nowMs;
    const run = await world.given({ state: 'bundling', sinceMs: nowMs, nextLookAtMs: nowMs });
    const createBundle = async () => ({
      bundleUrl: 'https://bundles.example/b?X-Signature=1',
      expiresAt: endsAtMs,
    });
    const context = world.contextWith({ createBundle });
    const waits = await world.step(run, context);
    expect(waits).toEqual({ kind: 'again', inMs: endsAtMs - nowMs });
    expect(await redis.client.pexpiretime(`{docket}:link:${run.id}.1.0.0`)).toBe(endsAtMs);
    world.clock.nowMs = endsAtMs;
    expect(await world.step(run, context)).toEqual({ kind: 'done' });
    expect(world.text(run, 'end.1.0')).toContain('🔒 The link ended');
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
  expect(await exportJob.run({ runId: run.id }, context)).toEqual({ kind: 'done' });
  expect(world.woken).toEqual([run.id]);
  expect(await world.stored(run)).toMatchObject({
    state: 'watching',
    watchers: [{ id: 'U0BEN', name: 'ben' }],
  });
});

test('a run whose record is gone is stepped no more', async () => {
  const run = await world.given({});
  await redis.client.del(`{docket}:run:${run.id}`);
  expect(await exportJob.run({ runId: run.id }, world.contextWith({}))).toEqual({ kind: 'done' });
  expect(await world.runs.active()).toEqual([]);
});

test('a job that is given up tells the person, with the reference', async () => {
  const run = await world.given({ state: 'watching' });
  await exportJob.giveUp?.({ runId: run.id }, world.contextWith({}), '7f3c1d');
  expect(world.text(run, 'end.1.0')).toContain(
    'Something broke on my side during the export of docs.acme.com. It may still finish at the platform. <@U0ANA>',
  );
  expect(await world.runs.active()).toEqual([]);
});

describe('an export that shows no progress', () => {
  const { stalledAfterMs } = defaultTiming;
  /** What the progress says after a look at this time that finds the job like this. */
  async function at(job: Partial<ExportJob>, atMs: number, run: ExportRun) {
    world.clock.nowMs = atMs;
    await world.runs.save({ ...((await world.stored(run)) as ExportRun), nextLookAtMs: atMs });
    await world.step(run, world.contextWith({ getExport: async () => anExportJob(job) }));
    return world.text(run, 'progress') ?? '';
  }

  test('for ten minutes is shown, and no longer once it moves', async () => {
    const run = await world.given({ sinceMs: NOW_MS, looks: [] });
    const slow = { progress: { fraction: 0.42 } };
    await at(slow, NOW_MS, run);
    expect(await at(slow, NOW_MS + stalledAfterMs - 1, run)).not.toContain('No progress');
    expect(await at(slow, NOW_MS + stalledAfterMs, run)).toContain(
      'Exporting docs.acme.com, 42 percent.\nNo progress since <!date^1789912800^{time}|2026-09-20 14:00 UTC>. Still checking.',
    );
    expect(await world.stored(run)).toMatchObject({ stalled: true, movedAtMs: NOW_MS });
    expect(await at({ progress: { fraction: 0.43 } }, NOW_MS + stalledAfterMs + 60_000, run)).not.toContain(
      'No progress',
    );
  });

  test.each([
    ['another page', { pageCount: 7 }, { pageCount: 8 }],
    ['other words', { progress: { text: 'Rendering' } }, { progress: { text: 'Packing' } }],
    ['another status', { pageCount: 7 }, { pageCount: 7, status: 'unknown', rawStatus: 'packaging' }],
  ] as const)('has moved with %s', async (_, before, after) => {
    const run = await world.given({ sinceMs: NOW_MS, looks: [] });
    await at(before, NOW_MS, run);
    await at(after, NOW_MS + stalledAfterMs - 60_000, run);
    expect(await at(after, NOW_MS + stalledAfterMs + 60_000, run)).not.toContain('No progress');
    expect(await at(after, NOW_MS + 2 * stalledAfterMs, run)).toContain('No progress');
  });

  test('in a queue has stalled as well', async () => {
    const run = await world.given({ sinceMs: NOW_MS, looks: [], status: 'queued' });
    await at({ status: 'queued' }, NOW_MS, run);
    expect(await at({ status: 'queued' }, NOW_MS + stalledAfterMs, run)).toContain('No progress');
  });

  test('has not stalled as far as anybody knows where the platform reports none', async () => {
    const run = await world.given({ sinceMs: NOW_MS, looks: [] });
    await at({}, NOW_MS, run);
    expect(await at({}, NOW_MS + 3 * stalledAfterMs, run)).not.toContain('No progress');
  });
});

describe('a project that is gone from the settings', () => {
  const gone = { docs: () => undefined };

  test('starts nothing, and says why', async () => {
    const run = await world.given({ state: 'starting', jobId: undefined, startedAtMs: undefined });
    expect(await world.step(run, world.contextWith({}, gone))).toEqual({ kind: 'done' });
    expect((await world.stored(run))?.ending).toEqual({ kind: 'notStarted', why: 'project' });
    expect(world.text(run, 'end.1.0')).toContain(
      'The export of docs.acme.com was not started: my settings no longer have the project default. Ask the people who run Docket. <@U0ANA>',
    );
  });

  test.each([
    ['was answered', 'watching'],
    ['was never answered', 'unknown'],
  ] as const)('is found to have started it all the same, where that %s', async (_, state) => {
    const run = await world.given({ state: 'starting', jobId: undefined, startedAtMs: undefined });
    const context = world.contextWith({}, gone);
    await context.steps.begin(run.id, 'start.1', 'token', NOW_MS - HOUR_MS);
    if (state === 'watching') await context.steps.finish(run.id, 'start.1', anExportJob());
    await world.step(run, context);
    expect((await world.stored(run))?.state).toBe(state);
  });

  test('is waited for while an export is watched, and people are told', async () => {
    const run = await world.given({ sinceMs: NOW_MS });
    expect(await world.step(run, world.contextWith({}, gone))).toEqual({ kind: 'again', inMs: 60_000 });
    expect(world.text(run, 'progress')).toContain('My settings no longer have the project default.');
    world.clock.nowMs += 60_000;
    await world.step(run, world.contextWith({ getExport: async () => anExportJob() }));
    expect(world.text(run, 'progress')).not.toContain('My settings');
  });

  test('is not waited for longer than the watch', async () => {
    const run = await world.given({ sinceMs: NOW_MS - defaultTiming.watchMs + 1000 });
    const context = world.contextWith({}, gone);
    expect(await world.step(run, context)).toEqual({ kind: 'again', inMs: 1000 });
    world.clock.nowMs += 1000;
    expect(await world.step(run, context)).toEqual({ kind: 'done' });
    expect((await world.stored(run))?.ending?.kind).toBe('gaveUp');
  });

  test('gives no link', async () => {
    const run = await world.given({ state: 'bundling' });
    expect(await world.step(run, world.contextWith({}, gone))).toEqual({ kind: 'done' });
    expect((await world.stored(run))?.ending).toEqual({ kind: 'noLink', why: 'project' });
  });
});

test('a key that is rejected at the start is reported to the admins, and the person reads so', async () => {
  const run = await world.given({ state: 'starting', jobId: undefined, startedAtMs: undefined });
  const context = world.contextWith(
    {},
    {
      callOnce: async (_run, _step, call) => {
        const error = await call(() => false).then(undefined, (thrown: unknown) => thrown);
        return { kind: 'notHappened', error };
      },
      docs: () => ({ startExport: failing('key_rejected') }) as never,
    },
  );
  await world.step(run, context);
  expect(world.alertedProjects).toEqual(['default']);
  expect(world.text(run, 'end.1.0')).toContain(
    'The export of docs.acme.com was not started: my platform key was rejected; the admins have been told. <@U0ANA>',
  );
});

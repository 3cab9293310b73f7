import { beforeEach, describe, expect, test } from 'vitest';
import type { JobContext } from '../../../src/jobs/context.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { transitions } from '../../../src/jobs/export/transitions.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anExportJob } from '../../support/jobs/export/builders.ts';
import { createExportWorld, failing } from '../../support/jobs/export/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
let world: ReturnType<typeof createExportWorld>;
beforeEach(() => {
  world = createExportWorld(redis);
});

const ben = { id: 'U0BEN', name: 'ben' };
const JOB = 'se_3f9a77bd04c24a06';

/** As `/docs-export watch` makes it. */
const joined = (changes: Partial<ExportRun> = {}) =>
  world.given({
    joined: true,
    state: 'accepted',
    domain: '',
    sinceMs: NOW_MS,
    startedAtMs: undefined,
    status: undefined,
    ...changes,
  });

test('a job that is joined is watched and never started', async () => {
  const run = await joined();
  const starts: unknown[] = [];
  const context = world.contextWith({
    startExport: async (what) => {
      starts.push(what);
      return anExportJob();
    },
    getExport: async () => anExportJob({ createdAt: NOW_MS - 240_000, progress: { fraction: 0.37 } }),
  });
  expect(await world.step(run, context)).toMatchObject({ kind: 'again' });
  expect(starts).toEqual([]);
  expect(await world.stored(run)).toMatchObject({ state: 'watching', startedAtMs: NOW_MS - 240_000 });
  expect(world.text(run, 'card')).toContain('watched by ana');
  expect(world.text(run, 'progress')).toContain('Exporting job se_3f9a…4a06, 37 percent.');
});

test('how long it took is shown when the platform reports both ends', async () => {
  const run = await joined();
  const context = world.contextWith({
    getExport: async () =>
      anExportJob({ status: 'failed', createdAt: NOW_MS - 3_600_000, updatedAt: NOW_MS - 3_480_000 }),
  });
  await world.step(run, context);
  expect(world.text(run, 'end.1.0')).toContain('failed after 2 min.');
});

test('of one that a person found after its end, it is when the platform says that it ended', async () => {
  const answer = { attempt: 1, by: 'ana', byId: 'U0ANA', action: 'watchIt' as const };
  const startedAtMs = NOW_MS - 3_600_000;
  const run = await joined({ joined: false, state: 'watching', looks: [], answer, startedAtMs });
  const getExport = async () => anExportJob({ status: 'failed', updatedAt: NOW_MS - 3_480_000 });
  await world.step(run, world.contextWith({ getExport }));
  expect(world.text(run, 'end.1.0')).toContain('failed after 2 min.');
});

test('how long it took is not shown when the platform does not say when it ended or began', async () => {
  for (const [jobId, known] of [
    ['se_1', { createdAt: NOW_MS - 3_600_000 }],
    ['se_2', { updatedAt: NOW_MS - 3_600_000 }],
  ] as const) {
    const run = await joined({ id: `${jobId}00000000000000000000`, claim: jobId, jobId });
    await world.step(
      run,
      world.contextWith({ getExport: async () => anExportJob({ status: 'failed', ...known }) }),
    );
    expect(world.text(run, 'end.1.0')).toContain(`The export of job ${jobId} failed.`);
  }
});

test('an end that was seen from here is the time of the poll', async () => {
  const run = await joined();
  const createdAt = NOW_MS - 60_000;
  await world.step(run, world.contextWith({ getExport: async () => anExportJob({ createdAt }) }));
  world.clock.nowMs = NOW_MS + 60_000;
  await world.runs.save({ ...((await world.stored(run)) as ExportRun), nextLookAtMs: NOW_MS });
  await world.step(
    run,
    world.contextWith({ getExport: async () => anExportJob({ createdAt, status: 'failed' }) }),
  );
  expect(world.text(run, 'end.1.0')).toContain('failed after 2 min.');
});

test('a job that the platform no longer knows is lost, and offers no other in its place', async () => {
  const run = await joined({ kept: true, state: 'watching' });
  const context = world.contextWith({ getExport: failing('not_found') });
  for (;;) {
    const outcome = await world.step(run, context);
    if (outcome.kind === 'done') break;
    world.clock.nowMs += outcome.inMs;
  }
  const ending = world.message(run, 'end.1.0');
  expect(ending?.message.text).toContain('The platform does not know the export of job se_3f9a…4a06 (404).');
  expect(ending?.message.blocks.some(({ type }) => type === 'actions')).toBe(false);
});

describe('a job that a person found after an unclear start, and that the platform does not know,', () => {
  const answer = { attempt: 1, by: 'ana', byId: 'U0ANA', action: 'watchIt' as const };
  const found = { joined: false, state: 'watching' as const, looks: [], answer, startedAtMs: NOW_MS };
  async function untilIdle(run: ExportRun, context: JobContext) {
    for (;;) {
      const outcome = await world.step(run, context);
      if (outcome.kind === 'done') return await world.stored(run);
      world.clock.nowMs += outcome.inMs;
    }
  }

  test('opens the question again, with that id', async () => {
    const run = await joined({ ...found, domain: 'docs.acme.com' });
    const context = world.contextWith({ getExport: failing('not_found') });
    const asked = await untilIdle(run, context);
    expect(asked).toMatchObject({ state: 'unknown', attempt: 1, unknownJobId: JOB });
    for (const gone of ['jobId', 'answer', 'ending', 'startedAtMs'] as const)
      expect(asked?.[gone]).toBeUndefined();
    expect(world.text(run, 'question.1')).toContain(`The platform has no job with that ID: ${JOB}`);
    expect(world.text(run, 'progress')).toBe(`docs.acme.com: needs an answer.`);
    expect(world.message(run, 'end.1.0')).toBeUndefined();
  });

  test('is an id that cannot be asked for: the same', async () => {
    const run = await joined(found);
    const asked = await untilIdle(run, world.contextWith({ getExport: failing('bad_request') }));
    expect(asked).toMatchObject({ state: 'unknown', unknownJobId: JOB });
  });

  test('after it was seen is lost', async () => {
    const run = await joined({ ...found, looks: [{ atMs: NOW_MS, fraction: 0.1 }] });
    const ended = await untilIdle(run, world.contextWith({ getExport: failing('not_found') }));
    expect(ended).toMatchObject({ state: 'ended', ending: { kind: 'lost' } });
  });
});

test('one with a domain that a person tries again is started from here', async () => {
  const failed = await joined({
    domain: 'docs.acme.com',
    state: 'ended',
    ending: { kind: 'failed' },
    audited: true,
  });
  const again = transitions.tryAgain(failed, ben, NOW_MS);
  expect(again).toMatchObject({ joined: false, attempt: 2 });
  await world.runs.save(again as ExportRun);
  const started: unknown[] = [];
  const context = world.contextWith({
    startExport: async (what) => {
      started.push(what);
      return anExportJob({ jobId: 'se_new' });
    },
    getExport: async () => anExportJob({ jobId: 'se_new' }),
  });
  await world.step(failed, context);
  expect(started).toMatchObject([{ domain: 'docs.acme.com' }]);
  expect(await world.stored(failed)).toMatchObject({ state: 'watching', jobId: 'se_new' });
});

test('one that is known by its job alone cannot be tried again', async () => {
  const failed = await joined({ state: 'ended', ending: { kind: 'failed' } });
  expect(transitions.tryAgain(failed, ben, NOW_MS)).toBeUndefined();
});

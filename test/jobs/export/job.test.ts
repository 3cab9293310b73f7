import { beforeEach, expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import { DocsApiError, type DocsApiErrorKind } from '../../../src/docs-api/errors.ts';
import type { JobContext } from '../../../src/jobs/engine/context.ts';
import { type ExportRun, exportTransitions, jobAlias } from '../../../src/jobs/export/record.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anExportJob } from '../../support/jobs/export/builders.ts';
import { createExportWorld, HOUR_MS } from '../../support/jobs/export/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
let world: ReturnType<typeof createExportWorld>;
beforeEach(() => {
  world = createExportWorld(redis);
});

const unclear = () => world.given({ state: 'unknown', jobId: undefined, startedAtMs: undefined });
/** The platform answers the first start late. */
async function answersLate(run: ExportRun, { calls }: JobContext) {
  const stored = (await world.stored(run)) ?? run;
  await calls.callOnce(stored, 'start.1', 1000, async () => anExportJob({ jobId: 'se_late' }));
}
const TEXT =
  "It was unclear whether the export of docs.acme.com had started. It had: the platform's answer came late.";

/** A call that the platform refuses. */
const refusing = (kind: DocsApiErrorKind, retryAfterMs?: number) => async () => {
  const more = { happened: 'no', what: 'failed', ...(retryAfterMs && { retryAfterMs }) } as const;
  throw new DocsApiError('getExport', kind, more);
};

async function expectWatched(run: ExportRun) {
  expect(await world.stored(run)).toMatchObject({ state: 'watching', jobId: 'se_late' });
  expect(await world.runs.byAlias(jobAlias(run.teamId, run.project, 'se_late'))).toBe(run.id);
  expect(world.text(run, 'question.1')).toBe(TEXT);
}

test('a late answer to a start wakes the run, and replaces the question', async () => {
  const run = await unclear();
  const context = world.contextWith({ getExport: async () => anExportJob() });
  expect(await world.step(run, context)).toBeUndefined();
  expect(await world.runs.active()).toEqual([]);
  await answersLate(run, context);
  expect(await world.runs.active()).toEqual([{ job: 'export', id: run.id }]);
  await world.step(run, context);
  await expectWatched(run);
});

test('a late answer that comes while the run becomes idle is taken at once', async () => {
  const run = await unclear();
  const context = world.contextWith({ getExport: async () => anExportJob() });
  const markIdle: typeof world.runs.markIdle = async (...parts) => {
    await answersLate(run, context);
    return world.runs.markIdle(...parts);
  };
  await world.step(run, { ...context, store: { ...context.store, runs: { ...world.runs, markIdle } } });
  await expectWatched(run);
  expect(await world.runs.active()).toEqual([{ job: 'export', id: run.id }]);
});

test('[Start again] starts nothing if the answer to the first start has come', async () => {
  const run = await unclear();
  const started: string[] = [];
  const context = world.contextWith({
    async startExport({ domain }) {
      started.push(domain);
      return anExportJob();
    },
    getExport: async () => anExportJob(),
  });
  const again = exportTransitions.startAgain(run, { id: 'U0ANA', name: 'ana' }, NOW_MS);
  await world.runs.resume(again as ExportRun, { claimMs: HOUR_MS });
  await answersLate(run, context);
  await world.step(run, context);
  expect(started).toEqual([]);
  await expectWatched(run);
});

test('a platform that refuses to answer for a running job does not say that the job is gone', async () => {
  const run = await world.given({ state: 'watching' });
  await world.step(run, world.contextWith({ getExport: refusing('bad_request') }));
  expect(await world.stored(run)).toMatchObject({ state: 'ended', ending: { kind: 'gaveUp' } });
});

test("at the platform's limit no other run polls with the same key, and none counts it as its own failure", async () => {
  const polled: string[] = [];
  const getExport: DocsApi['getExport'] = async ({ jobId }) => {
    polled.push(jobId);
    return refusing('rate_limited', 600_000)();
  };
  const context = world.contextWith({ getExport, keyId: 'k1' });
  const given = (id: string) => world.given({ id, jobId: id, claim: id });
  const [first, other] = [await given('a'), await given('b')];
  for (const run of [first, other]) expect(await world.step(run, context)).toBeGreaterThan(0);
  expect(polled).toEqual(['a']);
  const limit = { kind: 'limit', nextMs: NOW_MS + 600_000 };
  expect((await world.stored(first))?.pollFailure).toMatchObject(limit);
  expect((await world.stored(other))?.pollFailure).toBeUndefined();
});

test('a start is tried for 30 minutes if the platform says that it has trouble, whatever fails after that; else for five', async () => {
  const startExport = (kind: DocsApiErrorKind, retryAfterMs?: number) =>
    world.contextWith({ startExport: refusing(kind, retryAfterMs) });
  const starting = { state: 'starting', jobId: undefined, startedAtMs: undefined, sinceMs: NOW_MS } as const;
  const untilMs = NOW_MS + HOUR_MS / 2;
  const run = await world.given(starting);
  await world.step(run, startExport('server', 1000));
  expect(await world.stored(run)).toMatchObject({
    state: 'starting',
    pollFailure: { kind: 'down', untilMs },
  });
  const fails = async (of: ExportRun, kind: DocsApiErrorKind, afterMs: number, retryAfterMs?: number) => {
    const stored = (await world.stored(of)) as ExportRun;
    await world.runs.saveStep({ ...stored, sinceMs: NOW_MS - afterMs, nextPollAtMs: NOW_MS }, {});
    await world.step(of, startExport(kind, retryAfterMs));
    return world.stored(of);
  };
  const ended = { state: 'ended', ending: { kind: 'notStarted', why: 'down' } };
  const tried = { state: 'starting', pollFailure: { untilMs } };
  expect(await fails(run, 'refused', HOUR_MS / 4)).toMatchObject(tried);
  expect(await fails(run, 'server', HOUR_MS / 2, 1000)).toMatchObject(ended);
  const other = await world.given({ ...starting, id: 'other', claim: 'other' });
  await world.step(other, startExport('refused'));
  const { pollFailure } = (await world.stored(other)) ?? {};
  expect(pollFailure).toMatchObject({ kind: 'down', inARow: 1 });
  expect(pollFailure).not.toHaveProperty('untilMs');
  expect(await fails(other, 'refused', HOUR_MS / 12)).toMatchObject(ended);
});

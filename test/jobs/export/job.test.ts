import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import { DocsApiError, type DocsApiErrorKind, type Happened } from '../../../src/docs-api/errors.ts';
import { type ExportContext, exportJob } from '../../../src/jobs/export/job.ts';
import { type ExportRun, exportRun } from '../../../src/jobs/export/run.ts';
import { createLinkStore } from '../../../src/store/links.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { createStepStore } from '../../../src/store/steps.ts';
import { defaultTiming } from '../../../src/timing.ts';
import { startTestRedis, type TestRedis } from '../../flows/redis.ts';
import { aRun, NOW_MS } from './any-run.ts';

const HOUR_MS = 3_600_000;

let redis: TestRedis;
let nowMs: number;
let shown: Map<string, string>;
let woken: string[];
beforeAll(async () => {
  redis = await startTestRedis();
});
beforeEach(async () => {
  await redis.client.flushall();
  nowMs = NOW_MS;
  shown = new Map();
  woken = [];
});
afterAll(() => redis.close());

/** The job's world: real stores, a clock that the test moves, and a platform that answers as told. */
function contextWith(docs: Partial<DocsApi>): ExportContext {
  return {
    runs: createRunStore(redis.client),
    links: createLinkStore(redis.client),
    steps: createStepStore(redis.client),
    docs: docs as DocsApi,
    outbox: {
      show: async (_team, { key, message }) => void shown.set(key, message.text),
      state: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1.1' }),
    },
    once: async (_run, _step, call) => ({ kind: 'done', value: await call() }),
    wake: async (run) => void woken.push(run.id),
    answerPrivately: async () => true,
    stopping: new AbortController().signal,
    now: () => nowMs,
    random: () => 0.5,
    timing: defaultTiming,
    log: pino({ level: 'silent' }),
  };
}

async function given(changes: Partial<ExportRun>): Promise<ExportRun> {
  const run = aRun({ rev: 1, ...changes });
  const runs = createRunStore(redis.client);
  await runs.accept(run, (await runs.timeMs()) + 10_000, HOUR_MS, '');
  return run;
}

/** Looks until the job wants to wait or is done; answers how long it wants to wait. */
async function look(run: ExportRun, context: ExportContext) {
  for (;;) {
    const outcome = await exportJob.run({ runId: run.id }, context);
    if (outcome.kind === 'done' || outcome.inMs > 0) return outcome;
  }
}

const now = async (run: ExportRun) => createRunStore(redis.client).load(run.id, exportRun);

function failing(
  kind: DocsApiErrorKind,
  happened: Happened,
  more: { retryable?: boolean; retryAfterMs?: number } = {},
) {
  return async () => {
    throw new DocsApiError('GET failed', {
      operation: 'getExport',
      kind,
      happened,
      retryable: false,
      ...more,
    });
  };
}

describe('over long spans, by a moved clock', () => {
  test('a late answer to a start replaces the question', async () => {
    const run = await given({ state: 'unknown', jobId: undefined, startedAtMs: undefined, looks: [] });
    const context = contextWith({
      getExport: async () => ({ jobId: 'se_late', status: 'running', rawStatus: 'running' }),
    });
    expect(await look(run, context)).toEqual({ kind: 'done' });
    await context.steps.finish(run.id, 'start.1', {
      jobId: 'se_late',
      status: 'queued',
      rawStatus: 'queued',
    });
    expect(await look(run, context)).toMatchObject({ kind: 'again' });
    expect(await now(run)).toMatchObject({ state: 'watching', jobId: 'se_late' });
    expect(shown.get(`${run.id}.question.1`)).toBe("The platform's answer came late: the export did start.");
  });

  test('a platform that is away for the whole watch ends it at its deadline', async () => {
    const run = await given({ state: 'watching', sinceMs: NOW_MS });
    const context = contextWith({ getExport: failing('connection', 'unknown', { retryable: true }) });
    for (;;) {
      const outcome = await look(run, context);
      if (outcome.kind === 'done') break;
      nowMs += outcome.inMs;
    }
    expect(nowMs).toBe(NOW_MS + defaultTiming.watchMs);
    expect((await now(run))?.ending).toEqual({ kind: 'gaveUp', afterMs: defaultTiming.watchMs });
  });

  test('a wait that the platform asks for does not outlast the watch', async () => {
    const run = await given({ state: 'watching', sinceMs: NOW_MS });
    const more = { retryable: true, retryAfterMs: 365 * 24 * HOUR_MS };
    const context = contextWith({ getExport: failing('rate_limited', 'no', more) });
    expect(await look(run, context)).toEqual({ kind: 'again', inMs: defaultTiming.watchMs });
  });

  test('a rejected key is waited out, and the watch goes on when it works again', async () => {
    const run = await given({ state: 'watching', sinceMs: NOW_MS });
    const refused = contextWith({ getExport: failing('key_rejected', 'no') });
    expect(await look(run, refused)).toEqual({ kind: 'again', inMs: 60_000 });
    expect(shown.get(`${run.id}.progress`)).toContain('My platform key was rejected');
    nowMs += 60_000;
    const works = contextWith({
      getExport: async () => ({
        jobId: 'x',
        status: 'running',
        rawStatus: 'running',
        progress: { fraction: 0.9 },
      }),
    });
    await look(run, works);
    expect((await now(run))?.trouble).toBeUndefined();
    expect(shown.get(`${run.id}.progress`)).toContain('90%');
  });

  test('a job id that cannot be asked for ends the watch at once', async () => {
    const run = await given({ state: 'watching', jobId: '..' });
    expect(await look(run, contextWith({ getExport: failing('bad_request', 'no') }))).toEqual({
      kind: 'done',
    });
    expect((await now(run))?.ending?.kind).toBe('gaveUp');
  });

  test('the link of a finished export ends with its time, to the millisecond', async () => {
    const endsAtMs = Date.now() + 3 * HOUR_MS;
    nowMs = Date.now();
    const run = await given({ state: 'bundling', sinceMs: nowMs, nextLookAtMs: nowMs });
    const createBundle = async () => ({
      bundleUrl: 'https://bundles.example/b?X-Signature=1',
      expiresAt: endsAtMs,
    });
    const context = contextWith({ createBundle });
    const waits = await look(run, context);
    expect(waits).toEqual({ kind: 'again', inMs: endsAtMs - nowMs });
    expect(await redis.client.pexpiretime(`{docket}:link:${run.id}.1.0.0`)).toBe(endsAtMs);
    nowMs = endsAtMs;
    expect(await look(run, context)).toEqual({ kind: 'done' });
    expect(shown.get(`${run.id}.end.1.0`)).toContain('🔒 The link ended');
  });
});

test('a save that lost against a click has the run looked at again, and changes nothing', async () => {
  const run = await given({ state: 'watching', sinceMs: NOW_MS });
  const context = contextWith({
    async getExport() {
      const read = await now(run);
      if (read) await context.runs.save({ ...read, watchers: [{ id: 'U0BEN', name: 'ben' }] });
      return { jobId: 'x', status: 'completed', rawStatus: 'completed' };
    },
  });
  expect(await exportJob.run({ runId: run.id }, context)).toEqual({ kind: 'done' });
  expect(woken).toEqual([run.id]);
  expect(await now(run)).toMatchObject({ state: 'watching', watchers: [{ id: 'U0BEN', name: 'ben' }] });
});

test('a run whose record is gone is looked at no more', async () => {
  const run = await given({});
  await redis.client.del(`{docket}:run:${run.id}`);
  expect(await exportJob.run({ runId: run.id }, contextWith({}))).toEqual({ kind: 'done' });
  expect(await createRunStore(redis.client).active()).toEqual([]);
});

test('a job that is given up tells the person, with the reference', async () => {
  const run = await given({ state: 'watching' });
  await exportJob.giveUp?.({ runId: run.id }, contextWith({}), '7f3c1d');
  expect(shown.get(`${run.id}.end.1.0`)).toContain('It may still finish at the platform. ref 7f3c1d');
  expect(await createRunStore(redis.client).active()).toEqual([]);
});

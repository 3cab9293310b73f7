import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import type { ExportContext } from '../../../src/jobs/export/context.ts';
import { exportJob } from '../../../src/jobs/export/job.ts';
import { type ExportRun, exportRun } from '../../../src/jobs/export/run.ts';
import { createPaceStore } from '../../../src/store/pace.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { defaultTiming } from '../../../src/timing.ts';
import { startTestRedis, type TestRedis } from '../../flows/redis.ts';
import { aRun, NOW_MS } from './any-run.ts';

let redis: TestRedis;
let asked: string[];
beforeAll(async () => {
  redis = await startTestRedis();
});
beforeEach(async () => {
  await redis.client.flushall();
  asked = [];
});
afterAll(() => redis.close());

/** What a watch needs, on a platform where everything runs and one look an hour is allowed. */
function watching(): ExportContext {
  const getExport: DocsApi['getExport'] = async (jobId) => {
    asked.push(jobId);
    return { jobId, status: 'running', rawStatus: 'running' };
  };
  const parts: Partial<ExportContext> = {
    runs: createRunStore(redis.client),
    pace: createPaceStore(redis.client),
    limits: { exportStatusPerSecond: 1 / 3600 },
    docs: () => ({ getExport, keyId: 'k1' }) as DocsApi,
    outbox: { show: async () => {}, state: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1.1' }) },
    stopping: new AbortController().signal,
    now: () => NOW_MS,
    random: () => 0.5,
    timing: defaultTiming,
    log: pino({ level: 'silent' }),
  };
  return parts as ExportContext;
}

async function given(id: string): Promise<ExportRun> {
  const run = aRun({ id, jobId: id, rev: 1, claim: id });
  const runs = createRunStore(redis.client);
  await runs.accept(run, (await runs.timeMs()) + 10_000, 60_000, '');
  return run;
}

test('a run that waits for its turn gives its slot back and is otherwise as it was', async () => {
  for (const id of ['a', 'b', 'c']) await given(id);
  for (const runId of ['a', 'b']) await exportJob.run({ runId }, watching());
  const before = await createRunStore(redis.client).load('c', exportRun);
  expect(await exportJob.run({ runId: 'c' }, watching())).toEqual({ kind: 'again', inMs: 5000 });
  expect(asked).toEqual(['a', 'b']);
  expect(await createRunStore(redis.client).load('c', exportRun)).toEqual(before);
});

test('a run that has to wait still ends its watch at the deadline', async () => {
  for (const id of ['a', 'b', 'c']) await given(id);
  for (const runId of ['a', 'b', 'c']) await exportJob.run({ runId }, watching());
  const late = NOW_MS + defaultTiming.watchMs;
  await exportJob.run({ runId: 'c' }, { ...watching(), now: () => late });
  expect((await createRunStore(redis.client).load('c', exportRun))?.ending?.kind).toBe('gaveUp');
});

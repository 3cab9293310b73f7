import { beforeEach, expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import { exportJob } from '../../../src/jobs/export/job.ts';
import { type ExportRun, exportRun } from '../../../src/jobs/export/record.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aRun } from '../../support/jobs/export/builders.ts';
import { failing } from '../../support/jobs/export/world.ts';
import { jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
let asked: string[];
beforeEach(() => {
  asked = [];
});

/** What a watch needs, on a platform where everything runs and one look an hour is allowed. */
function watching(): JobContext {
  const getExport: DocsApi['getExport'] = async ({ jobId }) => {
    asked.push(jobId);
    return { jobId, status: 'running', rawStatus: 'running' };
  };
  return jobContext(redis.client, {
    limits: { exportStatusPerSecond: 1 / 3600 },
    docs: () => ({ getExport, keyId: 'k1' }) as DocsApi,
    outbox: {
      publish: async () => {},
      deliveryState: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1.1' }),
    },
  });
}

async function given(id: string): Promise<ExportRun> {
  const run = aRun({ id, jobId: id, rev: 1, claim: id });
  const runs = createRunStore(redis.client);
  await runs.accept(run, { deadlineMs: (await runs.timeMs()) + 10_000, claimMs: 60_000 });
  return run;
}

test('a run that waits for its poll gives its worker slot back and is otherwise as it was', async () => {
  for (const id of ['a', 'b', 'c']) await given(id);
  for (const runId of ['a', 'b']) await exportJob.run(runId, watching());
  const before = await createRunStore(redis.client).load('c', exportRun);
  // A fifth of the slots is kept for clicks: one of the others is free each 75 minutes, and the second run has the next.
  const outcome = expect.closeTo(150 * 60_000, -3);
  expect(await exportJob.run('c', watching())).toEqual(outcome);
  expect(asked).toEqual(['a']);
  expect(await createRunStore(redis.client).load('c', exportRun)).toEqual(before);
});

test("at the platform's limit no other run asks with the same key, and none counts it as its own failure", async () => {
  const RETRY_MS = 600_000;
  const context = watching();
  const refusal = failing('rate_limited', 'no', { retryAfterMs: RETRY_MS });
  const getExport: DocsApi['getExport'] = async ({ jobId }) => {
    asked.push(jobId);
    return refusal();
  };
  const limited: JobContext = {
    ...context,
    limits: { ...context.limits, exportStatusPerSecond: 1_000_000 },
    docs: () => ({ getExport, keyId: 'k1' }) as unknown as DocsApi,
  };
  const stored = (id: string) => createRunStore(redis.client).load(id, exportRun);
  for (const id of ['a', 'b', 'c']) await given(id);
  await exportJob.run('a', limited);
  for (const runId of ['b', 'c']) expect(await exportJob.run(runId, limited)).toBeGreaterThan(0);
  expect(asked).toEqual(['a']);
  expect((await stored('a'))?.pollFailure).toMatchObject({ kind: 'limit', nextMs: NOW_MS + RETRY_MS });
  expect((await stored('b'))?.pollFailure).toBeUndefined();
});

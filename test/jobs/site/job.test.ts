import { expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import { DocsApiError } from '../../../src/docs-api/errors.ts';
import { startStep } from '../../../src/jobs/operation/record.ts';
import { startLimit } from '../../../src/jobs/site/feature.ts';
import { siteJob } from '../../../src/jobs/site/job.ts';
import { answerQuestion, type SiteRun, siteRun } from '../../../src/jobs/site/record.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { keys } from '../../../src/store/keys.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aPreview } from '../../support/jobs/site/builders.ts';
import { jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

/** Steps a stored run with a platform that has these operations. Returns the run after it. */
async function steps(run: SiteRun, api: Partial<DocsApi>) {
  const docs = { keyId: 'key1', ...api } as DocsApi;
  const context = jobContext(redis.client, { docs: () => docs });
  await context.store.runs.accept(run);
  await stepJob(siteJob, run.id, context);
  return { context, saved: (await context.store.runs.load(run.id, siteRun)) ?? expect.fail('no run') };
}

test.each(['first', 'second'] as const)(
  'a late answer to a start is the answer: the %s attempt has no question, and starts nothing',
  async (attempt) => {
    const open = aPreview({ state: 'unknown' });
    const run = attempt === 'first' ? open : answerQuestion(open, open.by, 'startAgain', NOW_MS);
    const result = JSON.stringify({ result: { statusId: 'st_late' } });
    await redis.client.hset(keys.run(run.id), `call:${startStep({ attempt: 1 })}`, result);
    let starts = 0;
    const { saved } = await steps(run, {
      async previewBranch() {
        starts += 1;
        return { statusId: 'st_again' };
      },
    });
    expect(saved).toMatchObject({ state: 'watching', statusId: 'st_late', answer: { action: 'late' } });
    expect(starts).toBe(0);
  },
);

test('a build that takes longer than Docket watches ends without a further look', async () => {
  const sinceMs = NOW_MS - defaultTiming.watchMs;
  const { saved } = await steps(aPreview({ state: 'watching', statusId: 'st_1', sinceMs }), {});
  expect(saved.ending).toEqual({ kind: 'gaveUp', afterMs: defaultTiming.watchMs });
});

test('if the platform limits one start, the others of its organization wait, too', async () => {
  const { context, saved } = await steps(aPreview({ state: 'starting' }), {
    async previewBranch() {
      const retryAfterMs = 60_000;
      throw new DocsApiError('previewBranch', 'rate_limited', { happened: 'no', what: '429', retryAfterMs });
    },
  });
  expect(saved).toMatchObject({ state: 'starting', pollFailure: { kind: 'limit' } });
  const slotInMs = await context.store.rateLimiter.takeSlot(startLimit(true, undefined, 'key1'), {
    id: 'other',
  });
  expect(slotInMs).toBeGreaterThan(50_000);
});

import { expect, test } from 'vitest';
import { DocsApiError } from '../../../../src/docs-api/errors.ts';
import { watchJob } from '../../../../src/jobs/agent/watch/job.ts';
import {
  addThread,
  newWatch,
  requestPoll,
  type WatchRun,
  watchRun,
} from '../../../../src/jobs/agent/watch/record.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { type AgentWorld, onFreshWorlds } from '../../../support/jobs/agent/world.ts';
import { timePasses } from '../../../support/store/limits.ts';

let world: AgentWorld;
let polled: string[];
const redis = onFreshWorlds((fresh) => {
  world = fresh;
  polled = [];
  world.docs.getAgentJob = async ({ jobId }) => {
    polled.push(jobId);
    return { id: jobId, status: 'active', rawStatus: 'active' };
  };
  // One poll an hour, so that the next comes only when the test says so.
  world.context.limits = { ...world.context.limits, exportStatusPerSecond: 1 / 3600 };
});

/** The watch of a job that is polled now; with `asked`, since somebody waits for it. */
async function watched(jobId: string, asked = false): Promise<WatchRun> {
  const fresh = addThread(newWatch('T0ACME', 'default', jobId, NOW_MS), 't1', NOW_MS);
  const open = { sinceMs: NOW_MS, sentAtMs: NOW_MS, found: false };
  const run = { ...fresh, open, pollRequested: false, nextPollAtMs: NOW_MS };
  const wanted = asked ? requestPoll(run, NOW_MS) : run;
  await world.runs.accept(wanted, Number.MAX_SAFE_INTEGER, 0, undefined);
  return wanted;
}
const look = ({ id }: WatchRun) => watchJob.run(id, world.context);
const comesBack = () => timePasses(redis.client, 'agent-status:k1', 1.25 * 3_600_000);

test('agent jobs are polled no more often than exports are, over all of them', async () => {
  const runs = [await watched('aj_1'), await watched('aj_2'), await watched('aj_3')];
  for (const run of runs) await look(run);
  expect(polled).toEqual(['aj_1']);
  const [, second, third] = runs as [WatchRun, WatchRun, WatchRun];
  expect(await look(second)).toEqual({ kind: 'again', inMs: expect.any(Number) });
  expect(await world.runs.load(second.id, watchRun)).toMatchObject({ rev: 1 });
  await comesBack();
  for (const run of [third, second]) await look(run);
  expect(polled).toEqual(['aj_1', 'aj_2']);
});

test('a job that somebody waits for does not wait for the others', async () => {
  for (const id of ['aj_1', 'aj_2']) await look(await watched(id));
  const [due, asked] = [await watched('due'), await watched('asked', true)];
  for (const run of [due, asked]) await look(run);
  expect(polled).toEqual(['aj_1', 'asked']);
});

test('a "too many" of the platform holds the polls of all jobs of that key', async () => {
  world.context.limits = { ...world.context.limits, exportStatusPerSecond: 1_000_000 };
  world.docs.getAgentJob = async ({ jobId }) => {
    polled.push(jobId);
    throw new DocsApiError('getAgentJob', 'rate_limited', {
      happened: 'no',
      what: 'refused',
      retryAfterMs: 60_000,
    });
  };
  for (const id of ['aj_1', 'aj_2']) await look(await watched(id));
  expect(polled).toEqual(['aj_1']);
});

import { expect, test } from 'vitest';
import { DocsApiError } from '../../../../src/docs-api/errors.ts';
import { watchJob } from '../../../../src/jobs/agent/watch/job.ts';
import { addThread, newWatch, requestPoll, type WatchRun } from '../../../../src/jobs/agent/watch/record.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { type AgentWorld, onFreshWorlds } from '../../../support/jobs/agent/world.ts';

let world: AgentWorld;
let polled: string[];
onFreshWorlds((fresh) => {
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
  await world.runs.accept(wanted);
  return wanted;
}
const look = ({ id }: WatchRun) => watchJob.run(id, world.context);

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

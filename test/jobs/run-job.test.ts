import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobContext } from '../../src/jobs/context.ts';
import { exportJob } from '../../src/jobs/export/job.ts';
import { done, runAgainIn } from '../../src/jobs/job.ts';
import { linkJob } from '../../src/jobs/link/job.ts';
import { type LinkRun, linkRun } from '../../src/jobs/link/record.ts';
import { defineRunJob, type LoadedRun, type RunJob } from '../../src/jobs/run-job.ts';
import { keys } from '../../src/store/keys.ts';
import { startTestRedis, type TestRedis } from '../support/flows/redis.ts';
import { aRun } from '../support/jobs/export/any-run.ts';
import { jobContext } from '../support/jobs/job-context.ts';
import { aLinkRun } from '../support/jobs/link/a-link-run.ts';

let redis: TestRedis;
let context: JobContext;
let lines: { level: number; run?: string }[];
beforeAll(async () => {
  redis = await startTestRedis();
});
beforeEach(async () => {
  await redis.client.flushall();
  context = jobContext(redis.client, {
    log: pino({}, { write: (line) => void lines.push(JSON.parse(line)) }),
  });
  lines = [];
});
afterAll(() => redis.close());

const cases = [
  ['an export', exportJob, aRun({ rev: 1 })],
  ['a link', linkJob, aLinkRun()],
] as const;

/** A run whose record is stored as this instead. */
async function given(run: (typeof cases)[number][2], record: object) {
  const { runs } = context;
  await runs.accept(run, (await runs.timeMs()) + 10_000, 60_000, undefined);
  await redis.client.hset(keys.run(run.id), 'json', JSON.stringify({ ...run, ...record }));
  return { runId: run.id };
}

const claims = () => redis.client.keys(keys.claim('*'));

const unreadable = cases.flatMap(([name, job, run]) => [
  [name, 'later version', job, run, { v: 99 }] as const,
  [name, 'state that is not known here', job, run, { state: 'unheard of' }] as const,
]);

test.each(unreadable)(
  '%s of a %s is left to a newer Docket, and no error',
  async (_, _what, job, run, record) => {
    const data = await given(run, record);
    const before = await redis.client.hgetall(keys.run(run.id));
    expect(await job.run(data, context)).toEqual({ kind: 'again', inMs: 60_000 });
    await job.giveUp?.(data, context, 'ref1');
    expect(await redis.client.hgetall(keys.run(run.id))).toEqual(before);
    expect(await context.runs.active()).toHaveLength(1);
    expect(await claims()).toHaveLength(1);
    expect(lines.filter(({ level }) => level > 30)).toEqual([]);
  },
);

test.each(cases)('%s whose record is gone is no longer listed', async (_, job, run) => {
  const data = await given(run, {});
  await redis.client.del(keys.run(run.id));
  expect(await job.run(data, context)).toEqual({ kind: 'done' });
  expect(await context.runs.active()).toEqual([]);
  expect(lines).toEqual([]);
});

describe('a job of several steps', () => {
  type Steps = Omit<RunJob<LinkRun, LoadedRun<LinkRun>, { steps: number }>, 'name' | 'queue' | 'concurrency'>;

  /** The steps of a link, each of which saves what `change` makes of its site, and asks for another `times` times. */
  function jobOf(times: number, changes: Partial<Steps> = {}, several = true) {
    const sites: string[] = [];
    const gaveUp: string[] = [];
    const job = defineRunJob<LinkRun, LoadedRun<LinkRun>, { steps: number }>({
      name: 'link',
      queue: 'docs-export',
      concurrency: 1,
      schema: linkRun,
      ...(several && { maxSteps: 3 }),
      newExecution: () => ({ steps: 0 }),
      async step({ run }, { runs }, execution) {
        sites.push(run.site);
        execution.steps += 1;
        await runs.save({ ...run, site: `${run.site}+` });
        return execution.steps <= times ? 'next' : done;
      },
      giveUp: async ({ run }, _context, ref) => void gaveUp.push(`${run.site} ${ref}`),
      ...changes,
    });
    return { job, sites, gaveUp };
  }

  test('each step loads what the one before saved, and they end with the outcome of the last', async () => {
    const data = await given(aLinkRun({ site: 'a' }), {});
    const { job, sites } = jobOf(2);
    expect(await job.run(data, context)).toEqual(done);
    expect(sites).toEqual(['a', 'a+', 'a++']);
  });

  test('after the most that it may take, it gives its slot back, and the next execution goes on', async () => {
    const data = await given(aLinkRun({ site: 'a' }), {});
    const { job, sites } = jobOf(3);
    expect(await job.run(data, context)).toEqual(runAgainIn(0));
    expect(sites).toHaveLength(3);
    expect(await job.run(data, context)).toEqual(runAgainIn(0));
    expect(sites).toEqual(['a', 'a+', 'a++', 'a+++', 'a++++', 'a+++++']);
  });

  test('without a number of steps it takes one', async () => {
    const data = await given(aLinkRun({ site: 'a' }), {});
    const { job, sites } = jobOf(1, {}, false);
    expect(await job.run(data, context)).toEqual(runAgainIn(0));
    expect(sites).toEqual(['a']);
  });

  test('a step finds how often its run was woken', async () => {
    const data = await given(aLinkRun(), {});
    const wakes: number[] = [];
    const step: Steps['step'] = async (loaded) => {
      wakes.push(loaded.wakes);
      await context.runs.wake('link', data.runId);
      return wakes.length < 2 ? 'next' : done;
    };
    await jobOf(0, { step }).job.run(data, context);
    expect(wakes[1]).toBe((wakes[0] ?? 0) + 1);
  });

  test('what is loaded beside the run reaches the step, and the run that is given up its reference', async () => {
    const data = await given(aLinkRun({ site: 'a' }), {});
    const load: Steps['load'] = async (runId, { runs }) => {
      const loaded = await runs.loadWithWakes(runId, linkRun);
      return loaded && { ...loaded, run: { ...loaded.run, site: 'loaded' } };
    };
    const { job, sites, gaveUp } = jobOf(0, { load });
    await job.run(data, context);
    await job.giveUp?.(data, context, 'ref1');
    expect(sites).toEqual(['loaded']);
    expect(gaveUp).toEqual(['loaded ref1']);
  });
});

import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ExportContext } from '../../src/jobs/export/context.ts';
import { exportJob } from '../../src/jobs/export/job.ts';
import { type LinkContext, linkJob } from '../../src/jobs/link/job.ts';
import { keys } from '../../src/store/keys.ts';
import { startTestRedis, type TestRedis } from '../support/flows/redis.ts';
import { aRun } from '../support/jobs/export/any-run.ts';
import { createJobWorld, HOUR_MS } from '../support/jobs/export/job-world.ts';
import { aLinkRun } from '../support/jobs/link/a-link-run.ts';

let redis: TestRedis;
let world: ReturnType<typeof createJobWorld>;
let lines: { level: number; run?: string }[];
beforeAll(async () => {
  redis = await startTestRedis();
});
beforeEach(async () => {
  await redis.client.flushall();
  world = createJobWorld(redis);
  lines = [];
});
afterAll(() => redis.close());

const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
const context = (): ExportContext & LinkContext => ({
  ...world.contextWith({}, { log }),
  wake: async () => {},
});

const cases = [
  ['an export', exportJob, aRun({ rev: 1 })],
  ['a link', linkJob, aLinkRun()],
] as const;

/** A run whose record is stored as this instead. */
async function given(run: (typeof cases)[number][2], record: object) {
  await world.runs.accept(run, (await world.runs.timeMs()) + 10_000, HOUR_MS, undefined);
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
    expect(await job.run(data, context())).toEqual({ kind: 'again', inMs: 60_000 });
    await job.giveUp?.(data, context(), 'ref1');
    expect(await redis.client.hgetall(keys.run(run.id))).toEqual(before);
    expect(await world.runs.active()).toHaveLength(1);
    expect(await claims()).toHaveLength(1);
    expect(lines.filter(({ level }) => level > 30)).toEqual([]);
  },
);

test.each(cases)('%s that is gone is looked at no more', async (_, job, run) => {
  const data = await given(run, {});
  await redis.client.del(keys.run(run.id));
  expect(await job.run(data, context())).toEqual({ kind: 'done' });
  expect(await world.runs.active()).toEqual([]);
  expect(lines).toEqual([]);
});

import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineJob, done, type Job, lookAgainIn } from '../../src/jobs/job.ts';
import { createQueues, type Queues } from '../../src/jobs/queue.ts';
import { createWorkers, type Workers } from '../../src/jobs/worker.ts';
import { connectForWork } from '../../src/store/connections.ts';
import { defaultTiming } from '../../src/timing.ts';
import { startTestRedis, type TestRedis } from '../flows/redis.ts';

interface Seen {
  looks: string[];
  gaveUp: string[];
}

let redis: TestRedis;
let queues: Queues;
let workers: Workers | undefined;
let connection: ReturnType<typeof connectForWork>;
let seen: Seen;

beforeEach(async () => {
  redis = await startTestRedis();
  connection = connectForWork({ url: redis.url }, () => {});
  queues = createQueues(connection, () => {});
  seen = { looks: [], gaveUp: [] };
});
afterEach(async () => {
  await workers?.close(1000);
  await queues.close();
  connection.disconnect();
  await redis.close();
});

function work(run: Job<{ id: string }, Seen>['run']) {
  const job = defineJob<{ id: string }, Seen>({
    name: 'export',
    queue: 'docs-export',
    concurrency: 5,
    data: z.object({ id: z.string() }),
    run,
    async giveUp({ id }, context, ref) {
      context.gaveUp.push(`${id} ${ref}`);
    },
  });
  workers = createWorkers({
    jobs: [job],
    context: seen,
    connection,
    newRef: () => 'ref1',
    timing: { ...defaultTiming, retryMinMs: 1, retryMaxMs: 5 },
    log: pino({ level: 'silent' }),
    onError: () => {},
  });
}

const ensure = (id: string, now = false) => queues.ensure('docs-export', 'export', id, { id }, { now });

test('a job that always breaks is given up with a reference, and looked at no more', async () => {
  work(async ({ id }, { looks }) => {
    looks.push(id);
    throw new Error('a defect of ours');
  });
  await ensure('poison');
  await expect.poll(() => seen.gaveUp).toEqual(['poison ref1']);
  expect(seen.looks).toHaveLength(8);
  await ensure('other');
  await expect.poll(() => seen.gaveUp).toEqual(['poison ref1', 'other ref1']);
  expect(seen.looks.filter((id) => id === 'poison')).toHaveLength(8);
});

test('errors with good looks between them do not add up', async () => {
  work(async ({ id }, { looks }) => {
    looks.push(id);
    if (looks.length === 40) return done;
    if (looks.length % 2 === 0) throw new Error('now and then');
    return lookAgainIn(1);
  });
  await ensure('flaky');
  await expect.poll(() => seen.looks.length).toBe(40);
  expect(seen.gaveUp).toEqual([]);
});

test('one job for one subject, however often it is asked for; asked for while it runs, it is looked at once more', async () => {
  const running = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  work(async ({ id }, { looks }) => {
    looks.push(id);
    running.resolve();
    await mayEnd.promise;
    return done;
  });
  await Promise.all([ensure('one'), ensure('one'), ensure('one')]);
  await running.promise;
  await Promise.all([ensure('one'), ensure('one')]);
  mayEnd.resolve();
  await expect.poll(() => seen.looks).toEqual(['one', 'one']);
  await ensure('two');
  await expect.poll(() => seen.looks).toEqual(['one', 'one', 'two']);
});

test('a job that waits for its time is looked at at once when asked', async () => {
  work(async ({ id }, { looks }) => {
    looks.push(id);
    return looks.length < 2 ? lookAgainIn(3_600_000) : done;
  });
  await ensure('late');
  await expect.poll(() => seen.looks.length).toBe(1);
  await expect.poll(() => connection.zcard('{docket}:docs-export:delayed')).toBe(1);
  await ensure('late');
  expect(await connection.zcard('{docket}:docs-export:delayed')).toBe(1);
  await ensure('late', true);
  await expect.poll(() => seen.looks.length).toBe(2);
});

import { Job as BullJob } from 'bullmq';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { done, type Job, runAgainIn } from '../../src/jobs/job.ts';
import { createQueues, type Queues } from '../../src/jobs/queue.ts';
import { createWorkers, type Workers } from '../../src/jobs/workers.ts';
import { rejectWhenStopping, Stopping } from '../../src/runtime/stopping.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { connectForWork } from '../../src/store/redis/connections.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { unread } from '../support/metrics.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

interface Seen {
  looks: string[];
  gaveUp: string[];
}

let redis: TestRedis;
let queues: Queues;
let workers: Workers | undefined;
let connection: ReturnType<typeof connectForWork>;
let seen: Seen;
let stopping: AbortController;

beforeEach(async () => {
  redis = await startTestRedis();
  connection = connectForWork({ url: redis.url }, defaultTiming, () => {});
  queues = createQueues(connection, () => {});
  seen = { looks: [], gaveUp: [] };
  stopping = new AbortController();
});
afterEach(async () => {
  await workers?.close(1000);
  await queues.close();
  connection.disconnect();
  await redis.close();
});

const aJob = (name: string, run: Job<Seen>['run'], concurrency = 5): Job<Seen> => ({
  name,
  queue: 'docs-export',
  concurrency,
  run,
  async giveUp(id, context, ref) {
    context.gaveUp.push(`${id} ${ref}`);
  },
});

const work = (run: Job<Seen>['run']) => workAt([aJob('export', run)]);

function workAt(jobs: Job<Seen>[]) {
  workers = createWorkers({
    jobs,
    context: seen,
    connection,
    stopping: stopping.signal,
    ready: Promise.resolve(),
    pausedForMs: async () => 0,
    newRef: () => 'ref1',
    metrics: unread,
    timing: { ...defaultTiming, retryMinMs: 1, retryMaxMs: 5 },
    log: pino({ level: 'silent' }),
    onError: () => {},
  });
}

/** A run to be looked at, and what wakes it: both are written before BullMQ is told. */
const accepted = (id: string) => connection.hset(keys.run(id), 'json', '{}');
async function wake(id: string) {
  await createRunStore(connection).markDue('export', id);
  await ensure(id);
}

const ensure = (id: string, job = 'export') => queues.enqueue('docs-export', job, id);

test('a wake that comes while the job runs is not slept through', async () => {
  await accepted('busy');
  work(async (id, { looks }) => {
    looks.push(id);
    if (looks.length === 1) await wake(id);
    return looks.length === 1 ? runAgainIn(600_000) : done;
  });
  await ensure('busy');
  await expect.poll(() => seen.looks.length).toBeGreaterThan(1);
});

test('a wake that comes while the job is handed back is not slept through either', async () => {
  await accepted('handed');
  const moveToDelayed = vi.spyOn(BullJob.prototype, 'moveToDelayed');
  moveToDelayed.mockImplementationOnce(async function (this: BullJob, ...args) {
    moveToDelayed.mockRestore();
    await wake('handed');
    return this.moveToDelayed(...args);
  });
  work(async (id, { looks }) => {
    looks.push(id);
    return looks.length === 1 ? runAgainIn(600_000) : done;
  });
  await ensure('handed');
  await expect.poll(() => seen.looks.length).toBeGreaterThan(1);
});

test('a job that always breaks is given up with a reference, and looked at no more', async () => {
  work(async (id, { looks }) => {
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

test('errors with good attempts between them do not add up', async () => {
  work(async (id, { looks }) => {
    looks.push(id);
    if (looks.length === 40) return done;
    if (looks.length % 2 === 0) throw new Error('now and then');
    return runAgainIn(1);
  });
  await ensure('flaky');
  await expect.poll(() => seen.looks.length).toBe(40);
  expect(seen.gaveUp).toEqual([]);
});

test('one job for one subject, however often it is asked for; asked for while it runs, it runs once more', async () => {
  const running = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  work(async (id, { looks }) => {
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

test('a job that waits for its time runs at once when woken', async () => {
  work(async (id, { looks }) => {
    looks.push(id);
    return looks.length < 2 ? runAgainIn(3_600_000) : done;
  });
  await ensure('late');
  await expect.poll(() => seen.looks.length).toBe(1);
  await expect.poll(() => connection.zcard('{docket}:docs-export:delayed')).toBe(1);
  await ensure('late');
  await expect.poll(() => seen.looks.length).toBe(2);
});

const looksAs =
  (name: string): Job<Seen>['run'] =>
  async (id, { looks }) => {
    looks.push(`${name} ${id}`);
    return done;
  };

test('a job that nobody knows fails, and holds up nobody', async () => {
  work(looksAs('export'));
  await ensure('new', 'digest');
  await ensure('other');
  await expect.poll(() => seen.looks).toEqual(['export other']);
  await expect.poll(() => connection.zcard('{docket}:docs-export:failed')).toBe(1);
});

test('a job that would begin something outside once the process is to stop is handed back, and counts no error', async () => {
  const called: string[] = [];
  const running = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  const outside = rejectWhenStopping(stopping.signal, { call: async (id: string) => called.push(id) });
  const calls: Job<Seen>['run'] = async (id, { looks }) => {
    looks.push(id);
    running.resolve();
    await mayGoOn.promise;
    await outside.call(id);
    return done;
  };
  work(calls);
  await ensure('one');
  await running.promise;
  stopping.abort(new Stopping());
  mayGoOn.resolve();
  await workers?.close(1000);
  await ensure('two');
  expect(seen.looks).toEqual(['one']);
  expect(called).toEqual([]);
  expect(await connection.keys('{docket}:job-errors:*')).toEqual([]);
  stopping = new AbortController();
  work(looksAs('next'));
  await expect.poll(() => seen.looks.toSorted()).toEqual(['next one', 'next two', 'one']);
});

test('a job whose call has no answer is handed back all the same when the process has to end', async () => {
  await accepted('hung');
  const hang = Promise.withResolvers<void>();
  work(async (id, { looks }) => {
    looks.push(id);
    await hang.promise;
    return done;
  });
  const first = workers;
  await ensure('hung');
  await expect.poll(() => seen.looks).toEqual(['hung']);
  stopping.abort(new Stopping());
  await first?.close(100);
  stopping = new AbortController();
  work(async (id, { looks }) => {
    looks.push(`${id} elsewhere`);
    return done;
  });
  // The lock of the first one would hold it for longer than this waits.
  await expect.poll(() => seen.looks).toEqual(['hung', 'hung elsewhere']);
  hang.resolve();
  await first?.close(1000);
});

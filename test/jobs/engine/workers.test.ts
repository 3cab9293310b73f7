import { Job as BullJob } from 'bullmq';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Job } from '../../../src/jobs/engine/job.ts';
import { createQueues, type Queues } from '../../../src/jobs/engine/queue.ts';
import { createWorkers, type SweeperParts, startSweeper } from '../../../src/jobs/engine/workers.ts';
import { wait } from '../../../src/runtime/later.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { createDueStore } from '../../../src/store/due.ts';
import { keys } from '../../../src/store/keys.ts';
import { connectForWork } from '../../../src/store/redis/connections.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { unread } from '../../support/metrics.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { keptLog } from '../../support/runtime/log.ts';

const DELAYED = '{docket}:docs-export:delayed';

let redis: TestRedis;
let queues: Queues;
let connection: ReturnType<typeof connectForWork>;
let stopping: AbortController;
let steps: string[];
let gaveUp: string[];
const ends: (() => Promise<void> | void)[] = [];

beforeEach(async () => {
  redis = await startTestRedis();
  connection = connectForWork({ url: redis.url }, defaultTiming, () => {});
  queues = createQueues(connection, () => {});
  stopping = new AbortController();
  [steps, gaveUp] = [[], []];
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of ends.splice(0).reverse()) await end();
  await queues.close();
  connection.disconnect();
  await redis.close();
});

/** Starts a process whose steps do this. */
function work(run: (id: string) => ReturnType<Job['run']>): ReturnType<typeof createWorkers> {
  const job: Job<object> = {
    name: 'export',
    queue: 'docs-export',
    concurrency: 5,
    run(id) {
      steps.push(id);
      return run(id);
    },
    giveUp: async (id, _, ref) => void gaveUp.push(`${id} ${ref}`),
  };
  const workers = createWorkers({
    jobs: [job],
    workspaceOf: () => ({ context: {}, pausedForMs: async () => 0 }),
    connection,
    stopping: stopping.signal,
    ready: Promise.resolve(),
    newRef: () => 'ref1',
    metrics: unread,
    timing: { ...defaultTiming, retryMinMs: 1, retryMaxMs: 5 },
    log: keptLog().log,
    onError: () => {},
  });
  ends.push(() => workers.close(1000));
  return workers;
}

/** Steps a run once more after the first step, which does this. */
const workTwice = (first: () => unknown = () => {}) =>
  work(async () => {
    if (steps.length > 1) return undefined;
    await first();
    return wait(600_000);
  });

const enqueue = (id: string, job = 'export') => queues.enqueue('docs-export', job, id);

async function accept(id: string) {
  await connection.hset(keys.run(id), 'json', '{}');
  await createRunStore(connection).markDue('export', id);
}
async function wake(id: string) {
  await createRunStore(connection).markDue('export', id);
  await enqueue(id);
}

function sweep(changes: Partial<SweeperParts> = {}) {
  const { log, text } = keptLog();
  const parts = { due: createDueStore(connection), wake: ({ id }: { id: string }) => enqueue(id) };
  const stopping = new AbortController();
  ends.push(() => stopping.abort());
  startSweeper({
    ...parts,
    alsoDo: async () => {},
    everyMs: 100,
    log,
    onError: () => {},
    stopping: stopping.signal,
    ...changes,
  });
  return text;
}

test('a wake that comes while the job runs, or is handed back, is not slept through', async () => {
  await accept('one');
  workTwice(() => wake('one'));
  await enqueue('one');
  await expect.poll(() => steps.length).toBeGreaterThan(1);
  steps = [];
  const moveToDelayed = vi.spyOn(BullJob.prototype, 'moveToDelayed');
  moveToDelayed.mockImplementationOnce(async function (this: BullJob, ...args) {
    moveToDelayed.mockRestore();
    await wake('one');
    return this.moveToDelayed(...args);
  });
  await enqueue('one');
  await expect.poll(() => steps.length).toBeGreaterThan(1);
});

test('a job that always breaks is given up with a reference, and stepped no more', async () => {
  work(async () => {
    throw new Error('a defect of ours');
  });
  await enqueue('poison');
  await expect.poll(() => gaveUp).toEqual(['poison ref1']);
  expect(steps).toHaveLength(8);
});

test('errors with good attempts between them do not add up', async () => {
  work(async () => {
    if (steps.length === 40) return undefined;
    if (steps.length % 2 === 0) throw new Error('now and then');
    return wait(1);
  });
  await enqueue('flaky');
  await expect.poll(() => steps.length).toBe(40);
  expect(gaveUp).toEqual([]);
});

test('a job that waits for its time runs at once when woken; one that nobody knows fails', async () => {
  workTwice();
  await enqueue('new', 'digest');
  await enqueue('late');
  await expect.poll(() => connection.zcard(DELAYED)).toBe(1);
  await enqueue('late');
  await expect.poll(() => steps.length).toBe(2);
  await expect.poll(() => connection.zcard('{docket}:docs-export:failed')).toBe(1);
});

test('a sweep that fails, or a run that cannot be woken, is reported, and the others are woken', async () => {
  await createRunStore(connection).markDue('export', 'broken');
  await connection.zadd(keys.activeRuns(), 1, 'export broken');
  await accept('r1');
  work(async () => wait(20_000));
  let sweeps = 0;
  const log = sweep({
    wake: ({ id }) => (id === 'r1' ? enqueue(id) : Promise.reject(new Error('cannot be woken'))),
    async alsoDo() {
      sweeps += 1;
      if (sweeps === 1) throw new Error('Redis is away');
    },
  });
  await expect.poll(() => steps).toEqual(['r1']);
  await expect.poll(() => sweeps).toBeGreaterThan(1);
  for (const text of ['cannot be woken', 'Redis is away']) expect(log()).toContain(text);
});

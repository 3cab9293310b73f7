import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Job, runAgainIn } from '../../src/jobs/job.ts';
import { createQueues, type Queues } from '../../src/jobs/queue.ts';
import { type SweeperParts, startSweeper } from '../../src/jobs/sweeper.ts';
import { createWorkers } from '../../src/jobs/workers.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { createDueStore } from '../../src/store/due.ts';
import { keys } from '../../src/store/keys.ts';
import { connectForWork } from '../../src/store/redis/connections.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { unread } from '../support/metrics.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { keptLog } from '../support/runtime/log.ts';

const DELAYED = '{docket}:docs-export:delayed';

let redis: TestRedis;
let connection: ReturnType<typeof connectForWork>;
let queues: Queues;
let looks: number;
const ends: (() => Promise<void> | void)[] = [];
beforeEach(async () => {
  redis = await startTestRedis();
  connection = connectForWork({ url: redis.url }, defaultTiming, () => {});
  queues = createQueues(connection, () => {});
  looks = 0;
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of ends.splice(0).reverse()) await end();
  await queues.close();
  connection.disconnect();
  await redis.close();
});

/** One process; each look at a run wants the next one in `inMs`. */
function startProcess(inMs: number) {
  const job: Job<object> = {
    name: 'export',
    queue: 'docs-export',
    concurrency: 5,
    run: async () => {
      looks += 1;
      return runAgainIn(inMs);
    },
  };
  const workers = createWorkers({
    jobs: [job],
    context: {},
    connection,
    stopping: new AbortController().signal,
    pausedForMs: async () => 0,
    newRef: () => 'ref1',
    metrics: unread,
    timing: defaultTiming,
    ready: Promise.resolve(),
    log: keptLog().log,
    onError: () => {},
  });
  ends.push(() => workers.close(1000));
  return workers;
}

const wake = () => queues.enqueue('docs-export', 'export', 'r1');

function startSweeping(changes: Partial<SweeperParts> = {}) {
  const none = async () => {};
  const { log, text } = keptLog();
  const parts = { due: createDueStore(connection), wake, alsoDo: none };
  const sweeper = startSweeper({ ...parts, everyMs: 100, log, ...changes });
  ends.push(() => sweeper.stop());
  return text;
}

async function accepted() {
  await connection.hset(keys.run('r1'), 'json', '{}');
  await createRunStore(connection).markDue('export', 'r1');
}

test('a run whose process died before it was queued is worked on', async () => {
  await accepted();
  startProcess(20_000);
  startSweeping();
  await expect.poll(() => looks).toBe(1);
});

test('what a process with a clock far ahead planned is worked on when it is due', async () => {
  await accepted();
  const realNow = Date.now;
  const ahead = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + 3_600_000);
  const first = startProcess(200);
  await wake();
  await expect.poll(() => connection.zcard(DELAYED)).toBe(1);
  await first.close(1000);
  ahead.mockRestore();
  const before = looks;
  startProcess(200);
  startSweeping();
  await expect.poll(() => looks).toBeGreaterThan(before);
});

test('what waits for its time is left alone', async () => {
  await accepted();
  startProcess(20_000);
  await wake();
  await expect.poll(() => connection.zcard(DELAYED)).toBe(1);
  const due = createDueStore(connection);
  await expect.poll(() => due.overdue(0, 30_000)).toEqual([]);
  expect(looks).toBe(1);
});

test('a sweep that fails is reported, and the next one comes', async () => {
  await accepted();
  startProcess(20_000);
  let sweeps = 0;
  const log = startSweeping({
    async alsoDo() {
      sweeps += 1;
      if (sweeps === 1) throw new Error('Redis is away');
    },
  });
  await expect.poll(() => sweeps).toBeGreaterThan(1);
  expect(log()).toContain('sweep failed');
  await expect.poll(() => looks).toBe(1);
});

test('an entry that cannot be woken does not hold up the others', async () => {
  await createRunStore(connection).markDue('digest', 'r0');
  await connection.zadd(keys.activeRuns(), 1, 'digest r0');
  await accepted();
  startProcess(20_000);
  const log = startSweeping({
    wake: ({ job }) => (job === 'export' ? wake() : Promise.reject(new Error('No job is called digest'))),
  });
  await expect.poll(() => looks).toBe(1);
  expect(log()).toContain('No job is called digest');
});

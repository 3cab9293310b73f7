import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineJob, done } from '../../src/jobs/job.ts';
import { createQueues } from '../../src/jobs/queue.ts';
import { createWorkers } from '../../src/jobs/workers.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { connectForRequests, connectForWork } from '../../src/store/redis/connections.ts';
import { startRedisPair } from '../support/flows/redis-pair.ts';
import { openWay } from '../support/flows/redis-way.ts';
import { unread } from '../support/metrics.ts';
import { startTestRedis } from '../support/redis.ts';

const BULLMQ_WAITS_MS = 5000;
const timing = {
  ...defaultTiming,
  stalledMs: 300,
  redisRequestSocketMs: 500,
  redisWorkSocketMs: 1000,
  redisBlockingSocketMs: BULLMQ_WAITS_MS + 1000,
};

/** Real BullMQ on this way to Redis: a queue for requests and its worker. */
async function working(url: string) {
  const way = await openWay(url);
  const looks: string[] = [];
  const requests = connectForRequests({ url: way.url }, timing, () => {});
  const work = connectForWork({ url: way.url }, timing, () => {});
  const queues = createQueues(requests, () => {});
  const workers = createWorkers({
    jobs: [
      defineJob<{ id: string }, string[]>({
        name: 'export',
        queue: 'docs-export',
        concurrency: 2,
        data: z.object({ id: z.string() }),
        run: async ({ id }, seen) => {
          seen.push(id);
          return done;
        },
      }),
    ],
    context: looks,
    stopping: new AbortController().signal,
    connection: work,
    ready: Promise.resolve(),
    metrics: unread,
    pausedForMs: async () => 0,
    newRef: () => 'ref1',
    timing,
    log: pino({ level: 'silent' }),
    onError: () => {},
  });
  onTestFinished(async () => {
    await workers.close(1000);
    requests.disconnect();
    work.disconnect();
    way.close();
  });
  /** Asks until it is taken, as people do, and waits for the look. */
  async function works(id: string, timeoutMs: number) {
    const fromMs = performance.now();
    const add = () => queues.enqueue('docs-export', 'export', id, { id }).then(() => true, String);
    await expect.poll(add, { timeout: timeoutMs }).toBe(true);
    await expect.poll(() => looks, { timeout: timeoutMs }).toContain(id);
    return performance.now() - fromMs;
  }
  await works('first', 10_000);
  return { way, works };
}

test('requests and workers go on at the new primary while the old one lives on as its replica', async () => {
  const { primary, replica, swap } = await startRedisPair();
  const { way, works } = await working(primary.url);
  await swap();
  way.leadTo(replica.url);
  expect(await works('after', 15_000)).toBeLessThan(10_000);
});

test('requests and workers go on when their connections went silent', async () => {
  const redis = await startTestRedis();
  onTestFinished(() => redis.close());
  const { way, works } = await working(redis.url);
  way.goSilent();
  expect(await works('after', 20_000)).toBeLessThan(timing.redisBlockingSocketMs + 3000);
});

import { DelayedError, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { request } from 'undici';
import { serve } from './remote.ts';

/** Polls on bare BullMQ: each job makes a request, and is delayed again by itself. */
const { REDIS_URL = '', API_KEY = '', PLATFORM_URL = '' } = process.env;
const NAME = 'poll-floor';
const prefix = '{floor}';
/** As many as Docket's. */
const CONCURRENCY = 20;

const connect = () => new Redis(REDIS_URL, { maxRetriesPerRequest: null });
const queue = new Queue(NAME, { connection: connect(), prefix });
let latenesses: number[] = [];
let worker: Worker | undefined;

const handlers = {
  /** Polls these jobs, each every `everyMs`, the first time at any moment of it. */
  async start(jobIds: string[], everyMs: number) {
    const jobs = jobIds.map((jobId) => {
      const delay = Math.random() * everyMs;
      return { name: 'poll', data: { jobId, atMs: Date.now() + delay }, opts: { delay } };
    });
    for (let from = 0; from < jobs.length; from += 500) await queue.addBulk(jobs.slice(from, from + 500));
    worker = new Worker<{ jobId: string; atMs: number }>(
      NAME,
      async (job, token) => {
        const { jobId, atMs } = job.data;
        latenesses.push(Date.now() - atMs);
        const { body } = await request(`${PLATFORM_URL}/v1/static-export/jobs/${jobId}`, {
          headers: { authorization: `Bearer ${API_KEY}` },
        });
        await body.json();
        const next = Date.now() + everyMs;
        await job.updateData({ jobId, atMs: next });
        await job.moveToDelayed(next, token);
        throw new DelayedError();
      },
      { connection: connect(), prefix, concurrency: CONCURRENCY },
    );
    await worker.waitUntilReady();
  },
  /** Returns the latenesses since it was asked last, in milliseconds. */
  lateness() {
    const list = latenesses;
    latenesses = [];
    return list;
  },
};

export type PollFloor = typeof handlers;
serve(handlers);

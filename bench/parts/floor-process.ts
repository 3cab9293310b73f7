import { Queue, Worker } from 'bullmq';
import { connectForRequests, connectForWork } from '../../src/store/connections.ts';
import { defaultTiming } from '../../src/timing.ts';

/** One side of the floor, see `floor.ts`. Queue and worker are made as Docket makes its own. */
const [role, url = '', perSecond] = process.argv.slice(2);
const NAME = 'floor';
const prefix = '{bench}';
const CONCURRENCY = 50;

/** Epoch milliseconds with a fraction: the same clock in every process of this machine. */
const nowMs = () => performance.timeOrigin + performance.now();
const fail = (error: Error) => {
  throw error;
};

if (role === 'producer') {
  const connection = connectForRequests({ url }, defaultTiming.intakeMs, fail);
  const queue = new Queue(NAME, { connection, prefix, skipWaitingForReady: true, skipVersionCheck: true });
  let timer: NodeJS.Timeout | undefined;
  process.on('message', ({ on }: { on: boolean }) => {
    clearInterval(timer);
    const add = () => void queue.add('look', { atMs: nowMs() }, { removeOnComplete: true });
    if (on) timer = setInterval(add, 1000 / Number(perSecond));
  });
  await queue.waitUntilReady();
} else {
  const latencies: number[] = [];
  const connection = connectForWork({ url }, fail);
  const take = async ({ data }: { data: { atMs: number } }) => void latencies.push(nowMs() - data.atMs);
  const worker = new Worker(NAME, take, {
    connection,
    prefix,
    concurrency: CONCURRENCY,
    lockDuration: defaultTiming.lockMs,
    stalledInterval: defaultTiming.stalledMs,
  });
  process.on('message', () => process.send?.(latencies.splice(0)));
  await worker.waitUntilReady();
}
process.send?.('ready');

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Queue, Worker } from 'bullmq';
import { Agent, request } from 'undici';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { connectForRequests, connectForWork } from '../../src/store/redis/connections.ts';

/** One side of the floor, see `floor.ts`. Queue and worker are made as Docket makes its own. */
const [role, url = '', perSecond] = process.argv.slice(2);
const NAME = 'floor';
const prefix = '{bench}';
const CONCURRENCY = 50;

/** The data of a job: when it was added, or the id of its request and the address of the next one. */
type Data = { atMs: number } | { id: string; to: string };

/** Epoch milliseconds with a fraction: the same clock in every process of this machine. */
const nowMs = () => performance.timeOrigin + performance.now();
const fail = (error: Error) => {
  throw error;
};

if (role === 'producer') {
  const connection = connectForRequests({ url }, defaultTiming, fail);
  const queue = new Queue(NAME, { connection, prefix, skipWaitingForReady: true, skipVersionCheck: true });
  let timer: NodeJS.Timeout | undefined;
  process.on('message', ({ on }: { on: boolean }) => {
    clearInterval(timer);
    const add = () => void queue.add('look', { atMs: nowMs() }, { removeOnComplete: true });
    if (on) timer = setInterval(add, 1000 / Number(perSecond));
  });
  await queue.waitUntilReady();
  const server = createServer(async (incoming, answer) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const { id, to } = JSON.parse(body);
    await queue.add('look', { id, to }, { removeOnComplete: true });
    answer.end();
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
} else {
  const latencies: number[] = [];
  const connection = connectForWork({ url }, defaultTiming, fail);
  // A new connection for each request, as in Docket for calls that must not happen twice.
  const dispatcher = new Agent({ pipelining: 0 });
  const take = async ({ data }: { data: Data }) => {
    if ('atMs' in data) {
      latencies.push(nowMs() - data.atMs);
      return;
    }
    const body = JSON.stringify({ id: data.id });
    const { body: answered } = await request(data.to, { method: 'POST', body, dispatcher });
    await answered.dump();
  };
  const worker = new Worker<Data>(NAME, take, {
    connection,
    prefix,
    concurrency: CONCURRENCY,
    lockDuration: defaultTiming.lockMs,
    stalledInterval: defaultTiming.stalledMs,
  });
  process.on('message', () => process.send?.(latencies.splice(0)));
  await worker.waitUntilReady();
  process.send?.(0);
}

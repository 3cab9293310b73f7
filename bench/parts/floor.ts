import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** Bare BullMQ between two processes. All latencies are in milliseconds. */
export interface Floor {
  /** Starts or stops adding jobs at the rate. */
  run(on: boolean): void;
  /** Returns the latencies so far, from `queue.add` to the start of processing. */
  latencies(): Promise<number[]>;
  /** Returns latencies from a request that adds a job to the request that this job makes, measured for `forMs`. */
  overHttp(forMs: number): Promise<number[]>;
  stop(): void;
}

const PROCESS = fileURLToPath(new URL('./floor-process.ts', import.meta.url));

export async function startFloor(redisUrl: string, perSecond: number): Promise<Floor> {
  const start = async (role: 'producer' | 'worker') => {
    const child = fork(PROCESS, [role, redisUrl, String(perSecond)]);
    process.once('exit', () => child.kill('SIGKILL'));
    const [port] = await once(child, 'message');
    return { child, address: `http://127.0.0.1:${port}/` };
  };
  const [producer, worker] = [await start('producer'), await start('worker')];

  const begunAtMs = new Map<string, number>();
  const arrived: number[] = [];
  const server = createServer(async (incoming, answer) => {
    const atMs = performance.now();
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const { id } = JSON.parse(body);
    arrived.push(atMs - (begunAtMs.get(id) ?? Number.NaN));
    begunAtMs.delete(id);
    answer.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  let count = 0;

  function ask() {
    count += 1;
    const id = String(count);
    begunAtMs.set(id, performance.now());
    void fetch(producer.address, { method: 'POST', body: JSON.stringify({ id, to }) });
  }

  return {
    run: (on) => void producer.child.send({ on }),
    latencies: () => reported(worker.child),
    async overHttp(forMs) {
      const timer = setInterval(ask, 1000 / perSecond);
      await new Promise((resolve) => setTimeout(resolve, forMs));
      clearInterval(timer);
      while (begunAtMs.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
      return arrived.splice(0);
    },
    stop() {
      producer.child.kill();
      worker.child.kill();
      server.close();
    },
  };
}

async function reported(worker: ChildProcess): Promise<number[]> {
  worker.send({ report: true });
  const [list] = await once(worker, 'message');
  return list;
}

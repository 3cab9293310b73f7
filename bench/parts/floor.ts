import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Bare BullMQ between two processes: what it takes from `queue.add` to the start of processing. */
export interface Floor {
  /** Adds jobs at the rate, or stops adding. */
  run(on: boolean): void;
  /** The latencies so far, in milliseconds. */
  latencies(): Promise<number[]>;
  stop(): void;
}

const PROCESS = fileURLToPath(new URL('./floor-process.ts', import.meta.url));

export async function startFloor(redisUrl: string, perSecond: number): Promise<Floor> {
  const start = async (role: 'producer' | 'worker') => {
    const child = fork(PROCESS, [role, redisUrl, String(perSecond)]);
    process.once('exit', () => child.kill('SIGKILL'));
    await once(child, 'message');
    return child;
  };
  const [producer, worker]: ChildProcess[] = [await start('producer'), await start('worker')];
  return {
    run: (on) => void producer?.send({ on }),
    async latencies() {
      worker?.send({ report: true });
      const [list] = worker ? await once(worker, 'message') : [[]];
      return list;
    },
    stop() {
      producer?.kill();
      worker?.kill();
    },
  };
}

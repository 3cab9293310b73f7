import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A call that the platform served, in epoch milliseconds. */
export interface ServedCall {
  name: string;
  beganAtMs: number;
  endedAtMs: number;
}

/** The stand-in platform in a process of its own, so that its work is not counted as ours. */
export interface BenchPlatform {
  url: string;
  apiKey: string;
  projectId: string;
  /** Returns the calls since it was asked last. */
  served(): Promise<ServedCall[]>;
  stop(): void;
}

const PROCESS = fileURLToPath(new URL('./platform-process.ts', import.meta.url));

/** Starts a platform with a site of so many pages, that takes `delayMs` for each answer. */
export async function startPlatform(pages: number, delayMs: number): Promise<BenchPlatform> {
  const child = fork(PROCESS, [String(pages), String(delayMs)]);
  process.once('exit', () => child.kill('SIGKILL'));
  const [address] = await once(child, 'message');
  return {
    ...address,
    async served() {
      child.send({ report: true });
      const [calls] = await once(child, 'message');
      return calls;
    },
    stop: () => void child.kill(),
  };
}

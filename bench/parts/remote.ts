import { fork } from 'node:child_process';
import { endsWithBench } from './children.ts';

/** The functions that a process of a bench offers to the one that started it. Arguments and answers go as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each process has its own functions
export type Handlers = Record<string, (...args: any[]) => unknown>;

/** The same functions, called from outside. */
export type Remote<H extends Handlers> = {
  [Name in keyof H]: (...args: Parameters<H[Name]>) => Promise<Awaited<ReturnType<H[Name]>>>;
} & { pid: number; stop(): void };

interface Asked {
  n: number;
  name: string;
  args: unknown[];
}

interface Answered {
  n: number;
  value?: unknown;
  error?: string;
}

/** Has this process answer the one that forked it. */
export function serve(handlers: Handlers): void {
  process.on('message', async ({ n, name, args }: Asked) => {
    try {
      process.send?.({ n, value: await handlers[name]?.(...args) });
    } catch (error) {
      process.send?.({ n, error: error instanceof Error ? error.stack : String(error) });
    }
  });
  process.once('disconnect', () => process.exit(0));
}

/** Starts a process that calls `serve`, and returns its functions. */
export function startRemote<H extends Handlers>(file: string, env: Record<string, string> = {}): Remote<H> {
  const child = fork(file, { env: { ...process.env, ...env } });
  endsWithBench(child);
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  child.on('message', ({ n, value, error }: Answered) => {
    const asked = waiting.get(n);
    waiting.delete(n);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new Error(error));
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${code}`));
  });
  const call =
    (name: string) =>
    (...args: unknown[]) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        child.send({ n: last, name, args });
      });
  const own: Record<string, unknown> = { pid: child.pid ?? 0, stop: () => void child.kill() };
  // A promise of it must not take it for a promise.
  return new Proxy(own, {
    get: (_, name: string) => (name === 'then' ? undefined : (own[name] ?? call(name))),
  }) as Remote<H>;
}

/** Milliseconds of a clock that all processes of this machine share. */
export const sharedMs = () => Number(process.hrtime.bigint()) / 1e6;

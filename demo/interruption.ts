import { constants } from 'node:os';

/** A signal asked the demo to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** The exit code that a shell expects of a process that a signal ended. */
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`Ended by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** Rejects at the first Ctrl-C, or anything else that would end this process and leave others behind. */
export function interruption(): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => reject(new Interrupted(signal)));
    // Nobody reads any more, as in `npm run demo | head`.
    process.stdout.on('error', () => reject(new Interrupted('SIGPIPE')));
    process.on('uncaughtException', reject);
  });
  // It is raced with the demo later.
  interrupted.catch(() => {});
  return interrupted;
}

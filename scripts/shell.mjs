import { spawn } from 'node:child_process';

/** A failure whose message names the fix; printed without a stack. */
export class SetupError extends Error {}

/** A signal ended the setup. */
export class Interrupted extends Error {
  constructor(signal) {
    super(`Ended by ${signal}`);
    this.signal = signal;
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a command to its end. Returns `{ ok, missing, output }`, with both streams in `output`; `missing` when there is
 * no such command. On a signal, ends the command and rejects with `Interrupted`.
 */
export function capture(command, args, { cwd, env, onSpawn } = {}) {
  return new Promise((resolve, reject) => {
    // A group of its own, so that a signal ends everything that npm started, and only we decide when.
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    let interrupted;
    const interrupt = (signal) => {
      interrupted = signal;
      try {
        process.kill(-child.pid, 'SIGTERM');
      } catch {
        // It ended by itself in the meantime.
      }
    };
    const settle = (finish) => {
      for (const signal of SIGNALS) process.off(signal, interrupt);
      if (interrupted) reject(new Interrupted(interrupted));
      else finish();
    };
    for (const signal of SIGNALS) process.on(signal, interrupt);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    // At once, not at the event: the child must be known also when we are killed the next moment.
    if (child.pid !== undefined) onSpawn?.(child.pid);
    child.once('error', (error) =>
      settle(() => resolve({ ok: false, missing: error.code === 'ENOENT', output: error.message })),
    );
    child.once('close', (code) => settle(() => resolve({ ok: code === 0, missing: false, output })));
  });
}

/** Runs a step and prints one line about it, but only when it takes longer than a second. */
export async function announced(line, step) {
  const timer = setTimeout(() => process.stderr.write(`${line}\n`), 1_000);
  try {
    return await step();
  } finally {
    clearTimeout(timer);
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY_LIMIT_MS = 30_000;
/** The bot itself needs at most 10 s. */
const STOP_LIMIT_MS = 12_000;
const RECHECK_MS = 25;
const LINES_SHOWN = 15;

/** The real bot, as a separate process that knows nothing of the demo. */
export interface Bot {
  /** Where it receives Slack's requests. */
  readonly url: string;
  readonly pid: number | undefined;
  /** Rejects when it ends by itself, which it never should. */
  readonly died: Promise<never>;
  /** Starts it, also once more after `kill`, but not after `stop`. Resolves when `/readyz` answers. */
  start(): Promise<void>;
  /** Kills it (`kill -9`), without a chance to clean up. Its Redis lives on, by design. */
  kill(): Promise<void>;
  /** Stops it, by force if need be; nothing of it is left then. Rejects when that took force. */
  stop(): Promise<void>;
  /** Returns the last lines of its output. */
  lastLines(): string[];
}

/** Returns a bot, not started yet, on a free port. It keeps its own Redis inside `dataDir`. */
export function createBot(settings: Record<string, string>, port: number, dataDir: string): Bot {
  const address = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let output = '';
  let endExpected = false;
  let stopped = false;
  let tellDeath: (error: Error) => void;
  const died = new Promise<never>((_, reject) => {
    tellDeath = reject;
  });
  // Nobody awaits it before the demo begins.
  died.catch(() => {});

  function spawnBot(): ChildProcess {
    const env = {
      PATH: process.env.PATH,
      TMPDIR: tmpdir(),
      ...settings,
      PORT: String(port),
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
    };
    const spawned = spawn(process.execPath, ['src/app.ts'], {
      cwd: ROOT,
      env,
      // In a group of its own, so that Ctrl-C reaches only us, and we end it in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [spawned.stdout, spawned.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    spawned.once('close', (code, signal) => {
      if (!endExpected) tellDeath(new Error(`Docket ended by itself (${signal ?? `exit code ${code}`}).`));
    });
    return spawned;
  }

  async function ready(starting: ChildProcess): Promise<void> {
    const endsAt = performance.now() + READY_LIMIT_MS;
    while (!(await answers(`${address}/readyz`))) {
      if (hasEnded(starting)) return died;
      if (performance.now() > endsAt)
        throw new Error(`Docket did not answer at ${address}/readyz within ${READY_LIMIT_MS / 1000} s.`);
      await pause(RECHECK_MS);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    endExpected = true;
    if (!child || hasEnded(child)) return;
    const ended = once(child, 'close');
    child.kill(signal);
    await ended;
  }

  return {
    url: `${address}/slack/events`,
    died,
    get pid() {
      return child?.pid;
    },
    async start() {
      // The demo may still run for a moment while everything is being stopped.
      if (stopped) throw new Error('Docket was stopped for good.');
      endExpected = false;
      child = spawnBot();
      await ready(child);
    },
    kill: () => end('SIGKILL'),
    async stop() {
      stopped = true;
      let forced = false;
      const limit = setTimeout(() => {
        forced = true;
        child?.kill('SIGKILL');
      }, STOP_LIMIT_MS);
      await end('SIGTERM');
      clearTimeout(limit);
      killLeftRedis(dataDir);
      if (forced) throw new Error(`Docket did not end within ${STOP_LIMIT_MS / 1000} s, so it was killed.`);
    },
    lastLines: () => output.split('\n').filter(Boolean).slice(-LINES_SHOWN),
  };
}

/** Kills the Redis that a killed bot left for the next one, since there is none here. */
function killLeftRedis(dataDir: string): void {
  const pidFile = join(dataDir, 'redis', 'redis.pid');
  // Redis removes the file when it shuts down.
  if (!existsSync(pidFile)) return;
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  rmSync(pidFile);
  // 0 would be ourselves.
  if (!(pid > 0)) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok;
  } catch {
    return false;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

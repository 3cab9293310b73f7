import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { FromBot, ToBot } from './messages.ts';

const ENTRY = fileURLToPath(new URL('./entry.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Compiled code, so that each start needs half as long. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/docket/compiled', import.meta.url));
/** The bot itself needs at most 10 s. */
const STOP_LIMIT_MS = 12_000;
/** Long enough for a visitor to see that it was gone. */
const RESTART_MS = 700;
const MOVE_LIMIT_MS = 2000;
const LINES_SHOWN = 15;

/** Docket in a process of its own, which is started again whenever it ends. */
export interface DemoBot {
  readonly state: 'starting' | 'up' | 'down';
  readonly pid: number | undefined;
  /** How often it was started again. */
  readonly restarts: number;
  /** Starts it. Resolves when it is up; rejects when it ends before that. */
  start(): Promise<void>;
  /** `kill -9`; it comes back by itself. */
  kill(): void;
  /** Moves its clock; resolves when it goes by that, or is not there. */
  moveClock(aheadMs: number): Promise<void>;
  /** Stops it for good, by force if need be. */
  stop(): Promise<void>;
  /** The last lines of its log. */
  lastLines(): string[];
}

/** Returns a bot, not started yet, that writes to `logFile`. `onChange` runs when it comes or goes. */
export function createBot(parts: {
  env: Record<string, string>;
  logFile: string;
  onChange: () => void;
  restartMs?: number;
}): DemoBot {
  const { env, logFile, onChange, restartMs = RESTART_MS } = parts;
  let child: ChildProcess | undefined;
  let state: DemoBot['state'] = 'down';
  let restarts = 0;
  let aheadMs = 0;
  let wasUp = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function become(next: DemoBot['state']): void {
    state = next;
    onChange();
  }

  function launch(): ChildProcess {
    const log = openSync(logFile, 'a', 0o600);
    try {
      const forked = fork(ENTRY, [String(aheadMs)], {
        cwd: ROOT,
        env: { PATH: process.env.PATH, TMPDIR: tmpdir(), NODE_COMPILE_CACHE: COMPILED, ...env },
        execArgv: [],
        // In a group of its own, so that Ctrl-C reaches only us, and we end it in order.
        detached: true,
        stdio: ['ignore', log, log, 'ipc'],
      });
      forked.on('message', (message: FromBot) => {
        if (message.is !== 'up' || child !== forked) return;
        wasUp = true;
        become('up');
      });
      // A message to one that is about to end.
      forked.on('error', () => {});
      forked.once('exit', () => {
        if (child !== forked) return;
        become('down');
        if (stopped || !wasUp) return;
        timer = setTimeout(() => {
          restarts += 1;
          child = launch();
          become('starting');
        }, restartMs);
      });
      return forked;
    } finally {
      closeSync(log);
    }
  }

  return {
    get state() {
      return state;
    },
    get pid() {
      return child !== undefined && !hasEnded(child) ? child.pid : undefined;
    },
    get restarts() {
      return restarts;
    },
    async start() {
      child = launch();
      become('starting');
      const started = child;
      await new Promise<void>((resolve, reject) => {
        started.on('message', (message: FromBot) => {
          if (message.is === 'up') resolve();
        });
        started.once('exit', (code, signal) =>
          reject(new Error(`Docket ended by itself (${signal ?? `exit code ${code}`}).`)),
        );
      });
    },
    kill: () => void child?.kill('SIGKILL'),
    async moveClock(ms) {
      // One that starts meanwhile gets it again, or begins with it.
      aheadMs = ms;
      const running = child;
      if (running === undefined || hasEnded(running) || !running.connected) return;
      const message: ToBot = { aheadMs };
      await new Promise<void>((resolve) => {
        const limit = setTimeout(resolve, MOVE_LIMIT_MS);
        const done = () => {
          clearTimeout(limit);
          running.off('message', onMessage);
          running.off('exit', done);
          resolve();
        };
        const onMessage = (answer: FromBot) => {
          if (answer.is === 'moved' && answer.aheadMs === ms) done();
        };
        running.on('message', onMessage);
        running.once('exit', done);
        running.send(message, (error) => error && done());
      });
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      if (child === undefined || hasEnded(child)) return;
      const ended = once(child, 'exit');
      const limit = setTimeout(() => child?.kill('SIGKILL'), STOP_LIMIT_MS);
      child.kill('SIGTERM');
      await ended;
      clearTimeout(limit);
    },
    lastLines: () =>
      existsSync(logFile)
        ? readFileSync(logFile, 'utf8').split('\n').filter(Boolean).slice(-LINES_SHOWN)
        : [],
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

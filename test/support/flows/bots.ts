import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startApp } from '../../../src/app.ts';
import { readSettings, secretsOf } from '../../../src/config/settings.ts';
import { createLog } from '../../../src/runtime/log.ts';
import type { Timing } from '../../../src/runtime/timing.ts';
import { startNode } from '../processes.ts';

/** A Docket that runs. */
export interface RunningBot {
  /** Where it takes requests; 0 with the role `worker`. */
  port: number;
  /** Everything it wrote: its log and, as a process, all that went to its standard output and error. */
  output(): string;
  running(): boolean;
  /** SIGKILL. Throws for a bot in the test's own process. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT. Throw for a bot in the test's own process. */
  freeze(): void;
  thaw(): void;
  /** SIGTERM; returns the exit code. Throws for a bot in the test's own process. */
  terminate(): Promise<number | null>;
  /** Ends it as is quickest, whatever it is. */
  end(): Promise<void>;
}

/** What only a process of its own can be given. */
const forProcesses = /^(?:TEST|LD|FAKETIME|NODE)_/;

/** Starts Docket in the process of the test, as `bot-process.ts` does in one of its own; `now` is its clock. */
export async function startBotHere(
  env: Record<string, string>,
  timing: Partial<Timing>,
  now: (() => number) | undefined,
): Promise<RunningBot> {
  const foreign = Object.keys(env).filter((name) => forProcesses.test(name));
  if (foreign.length > 0) throw new Error(`${foreign} needs a bot that is a process: { process: true }`);
  let output = '';
  const write = (line: string) => {
    output += line;
  };
  const settings = readSettings({ PORT: '0', ...env });
  const secrets = secretsOf(settings);
  const log = createLog(settings.logLevel, secrets, { write });
  const searchPath = process.env.PATH;
  const docket = await startApp(settings, { log, secrets, timing, searchPath, ...(now && { now }) });
  let running = true;
  const refuse = () => {
    throw new Error('Only a bot that is a process can die or freeze: createWorld({ processes: true })');
  };
  return {
    port: settings.role === 'worker' ? 0 : docket.port,
    output: () => output,
    running: () => running,
    kill: async () => refuse(),
    freeze: refuse,
    thaw: refuse,
    terminate: async () => refuse(),
    async end() {
      await docket.stop();
      running = false;
    },
  };
}

/** Compiled code of the bots, so that each needs half as long to start. */
const compiled = fileURLToPath(new URL('../../../node_modules/.cache/docket/compiled', import.meta.url));
/** 128 and the number of the signal. */
const SIGTERM_CODE = 143;
const thisProgram = fileURLToPath(new URL('./bot-process.ts', import.meta.url));

function spawnDocket(env: Record<string, string>, timing: Partial<Timing>) {
  const { child, ended, output } = startNode([thisProgram], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      NODE_COMPILE_CACHE: compiled,
      TEST_TIMING: JSON.stringify(timing),
      ...env,
    },
  });
  const up = new Promise<number>((resolve, reject) => {
    const look = () => {
      const line = /"role":"\w+",(?:"port":(\d+),)?[^\n]*"Docket is up"/.exec(output());
      if (line) resolve(Number(line[1] ?? 0));
    };
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', look);
    void ended.then((code) => reject(new Error(`the bot ended with ${code}:\n${output()}`)));
  });
  up.catch(() => {});
  return { child, ended, up, output };
}

/** Starts Docket as a process. */
export async function spawnBot(env: Record<string, string>, timing: Partial<Timing>): Promise<RunningBot> {
  const { child, up, output } = spawnDocket(env, timing);
  return {
    port: await up,
    output,
    running: () => child.exitCode === null && child.signalCode === null,
    kill: () => end(child, 'SIGKILL'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    end: () => end(child, 'SIGKILL'),
    async terminate() {
      await end(child, 'SIGTERM');
      return child.exitCode;
    },
  };
}

/** How a Docket ended that was sent SIGTERM while it started. */
export interface EarlyEnd {
  /** The exit code; that of the signal for one that had no handler yet, as a shell says it. */
  code: number | null;
  output: string;
}

/** Starts Docket as a process, sends SIGTERM so long after that, and waits for its end. */
export async function spawnAndStop(
  env: Record<string, string>,
  timing: Partial<Timing>,
  afterMs: number,
): Promise<EarlyEnd> {
  const { child, ended, output } = spawnDocket(env, timing);
  await pause(afterMs);
  child.kill('SIGTERM');
  await ended;
  const code = child.signalCode === 'SIGTERM' ? SIGTERM_CODE : child.exitCode;
  return { code, output: output() };
}

async function end(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

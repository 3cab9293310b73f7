import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Timing } from '../../src/runtime/timing.ts';

const APP = fileURLToPath(new URL('../../src/app.ts', import.meta.url));
/** The same, with other durations. */
const TIMED = fileURLToPath(new URL('../../test/support/flows/bot-process.ts', import.meta.url));

/** The real bot as a separate process, with the settings and, unless others are given, the durations of production. */
export interface BenchBot {
  port: number;
  pid: number;
  /** What it wrote at level warn or above. */
  complaints(): string[];
  stop(): Promise<void>;
}

export async function startBot(
  settings: Record<string, string>,
  timing?: Partial<Timing>,
): Promise<BenchBot> {
  const child = spawn(process.execPath, [timing ? TIMED : APP], {
    env: {
      PATH: process.env.PATH ?? '',
      // So that a bench can have the bot itself profiled.
      ...(process.env.BOT_NODE_OPTIONS && { NODE_OPTIONS: process.env.BOT_NODE_OPTIONS }),
      PORT: '0',
      LOG_LEVEL: 'info',
      ...(timing && { TEST_TIMING: JSON.stringify(timing) }),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const up = /"(?:port|healthPort)":(\d+),[^\n]*"Docket is up"/.exec(output);
      if (up) resolve(Number(up[1]));
    });
    child.once('exit', (code) => reject(new Error(`the bot ended with ${code}:\n${output}`)));
  });
  return {
    port,
    pid: child.pid ?? 0,
    complaints: () =>
      output.split('\n').filter((line) => /"level":(?:"(?:warn|error|fatal)"|[456]0)/.test(line)),
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const APP = fileURLToPath(new URL('../../src/app.ts', import.meta.url));

/** The real bot as a process of its own, with the settings and durations of production. */
export interface BenchBot {
  port: number;
  /** What it wrote at level warn or above. */
  complaints(): string[];
  stop(): Promise<void>;
}

export async function startBot(settings: Record<string, string>): Promise<BenchBot> {
  const child = spawn(process.execPath, [APP], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', LOG_LEVEL: 'info', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const up = /"port":(\d+),[^\n]*"Docket is up"/.exec(output);
      if (up) resolve(Number(up[1]));
    });
    child.once('exit', (code) => reject(new Error(`the bot ended with ${code}:\n${output}`)));
  });
  return {
    port,
    complaints: () =>
      output.split('\n').filter((line) => /"level":(?:"(?:warn|error|fatal)"|[456]0)/.test(line)),
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

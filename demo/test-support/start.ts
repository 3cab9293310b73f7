import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';
import { processesWith } from '../../test/support/processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The demo as a process, with a temporary folder of its own in which all that it starts can be found. */
export function startDemo({ onTestFinished }: TestContext, args: string[], env: Record<string, string> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'main-')));
  const child = spawn(process.execPath, ['demo/main.ts', ...args], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH ?? '',
      TMPDIR: folder,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  onTestFinished(() => {
    for (const { pid } of processesWith(folder)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  let hasClosed = false;
  const closed = once(child, 'close').finally(() => {
    hasClosed = true;
  });

  return {
    child,
    folder,
    /** Returns the part of its output that matches, once it is there. */
    async prints(part: RegExp): Promise<string> {
      for (;;) {
        const found = part.exec(output)?.[0];
        if (found !== undefined) return found;
        if (hasClosed) throw new Error(`It ended without ${part}:\n${output}`);
        await Promise.race([once(child.stdout, 'data'), closed]);
      }
    },
    /** Its end: the exit code, what it printed, and what it left behind. */
    async ends() {
      const [code] = await closed;
      return { code, output, processes: processesWith(folder), left: readdirSync(folder) };
    },
  };
}

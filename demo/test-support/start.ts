import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, vi } from 'vitest';
import { processesWith, startNode } from '../../test/support/processes.ts';

/** The demo as a process, with a temporary folder of its own in which all that it starts can be found. */
export function startDemo({ onTestFinished }: TestContext, args: string[], env: Record<string, string> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'main-')));
  const { child, ended, output } = startNode(['demo/main.ts', ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      TMPDIR: folder,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      ...env,
    },
  });
  onTestFinished(() => {
    for (const { pid } of processesWith(folder)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    child,
    folder,
    /** Returns the part of its output that matches, once it is there. */
    async prints(part: RegExp): Promise<string> {
      return vi.waitFor(
        () => {
          const found = part.exec(output())?.[0];
          if (found === undefined) throw new Error(`It did not print ${part}:\n${output()}`);
          return found;
        },
        { timeout: 60_000, interval: 10 },
      );
    },
    /** Its end: the exit code, what it printed, and what it left behind. */
    async ends() {
      const code = await ended;
      return { code, output: output(), processes: processesWith(folder), left: readdirSync(folder) };
    },
  };
}

import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { canMoveClocks, movedClock } from './faketime.ts';
import { endsWithTests } from './flows/children.ts';

test.skipIf(!canMoveClocks)(
  'a process sees its own time of day, which can be moved while it runs',
  async () => {
    const clock = movedClock(40_000);
    const script = 'setInterval(() => console.log(Date.now()), 50)';
    const child = endsWithTests(
      spawn(process.execPath, ['-e', script], { env: clock.env, stdio: ['ignore', 'pipe', 'ignore'] }),
    );
    let aheadMs = 0;
    child.stdout.on('data', (line) => {
      aheadMs = Number(String(line).trim().split('\n').at(-1)) - Date.now();
    });
    await expect.poll(() => Math.round(aheadMs / 10_000)).toBe(4);
    clock.move(-3_600_000);
    await expect.poll(() => Math.round(aheadMs / 10_000)).toBe(-360);
    child.kill();
  },
);

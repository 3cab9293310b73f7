import { expect, test } from 'vitest';
import { canMoveClocks, movedClock } from './faketime.ts';
import { startNode } from './processes.ts';

test.skipIf(!canMoveClocks)(
  'a process sees its own time of day, which can be moved while it runs',
  async () => {
    const clock = movedClock(40_000);
    const script = 'setInterval(() => console.log(Date.now()), 50)';
    const { child, output } = startNode(['-e', script], { env: clock.env });
    const ahead = () => Math.round((Number(output().trim().split('\n').at(-1)) - Date.now()) / 10_000);
    await expect.poll(ahead).toBe(4);
    clock.move(-3_600_000);
    await expect.poll(ahead).toBe(-360);
    child.kill();
  },
);

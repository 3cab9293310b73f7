import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startDocket } from '../support/flows/docket-process.ts';
import { temporaryFolder } from '../support/flows/world.ts';

/** From the birth of the process on; it takes about a second to be up. */
const delays = Array.from({ length: 16 }, (_, n) => n * 60);

test.concurrent.for(delays)(
  'SIGTERM %i ms after the start ends it, and its Redis',
  async (delayMs, { onTestFinished }) => {
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    const { child, ended } = startDocket({ PORT: '0', DATA_DIR: folder.path });
    await pause(delayMs);
    child.kill('SIGTERM');
    const code = await ended;
    // Before there is anything to close, Node ends it as any program.
    expect(code === 0 || child.signalCode === 'SIGTERM').toBe(true);
    expect(redisOf(folder.path)).toBe('none');
  },
);

function redisOf(dataDir: string): string {
  const file = join(dataDir, 'redis', 'redis.pid');
  if (!existsSync(file)) return 'none';
  const pid = readFileSync(file, 'utf8').trim();
  return existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('server')
    ? `process ${pid}`
    : 'none';
}

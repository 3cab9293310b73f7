import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startDocket } from '../support/flows/docket-process.ts';
import { crowdedWorld, standingStill, tellStruckStories } from '../support/flows/struck-stories.ts';
import { expectNothingTwice, momentsOfAnExport } from '../support/flows/trouble.ts';
import { createWorld, temporaryFolder } from '../support/flows/world.ts';

const undisturbed = await createWorld();
await undisturbed.startBot();
const moments = await momentsOfAnExport(undisturbed);
await undisturbed.close();

test.each(['before', 'after'] as const)(
  'SIGTERM while every call of an export is on its way, %s it takes effect: another process goes on, and nobody is asked',
  async (phase) => {
    const world = await crowdedWorld();
    // Locks outlast the test: only what is handed back is taken over.
    const { timing, ...more } = standingStill(150_000);
    const options = { ...more, timing: { ...timing, lockMs: 600_000, shutdownMs: 8000 } };
    for (let started = 0; started < 2; started += 1) await world.startBot({ ...options, process: true });
    const some = moments.filter((moment) => moment.phase === phase);
    const codes: (number | null)[] = [];
    const stories = await tellStruckStories(world, some, async (held) => {
      for (const bot of world.bots.toReversed()) {
        const own = held.filter((one) => one.bot === bot);
        await world.startBot(options);
        const ended = bot.terminate();
        await world.slack.until(() => bot.output().includes('"msg":"stopping"') || !bot.running());
        const all = own.map(({ goOn }) => goOn());
        codes.push(await ended);
        await Promise.all(all);
      }
    });
    await world.close();
    expectNothingTwice(world, ...stories.values());
    expect(codes).toEqual([0, 0]);
    expect([...stories.values()].map(({ ending }) => ending)).toEqual(some.map(() => 'done'));
  },
  200_000,
);

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

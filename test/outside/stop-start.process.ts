import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addSite } from '../support/flows/site.ts';
import { expectNothingTwice, tellStory } from '../support/flows/trouble.ts';
import { type BotOptions, createWorld, temporaryFolder, type World } from '../support/flows/world.ts';

/** When SIGTERM comes, as parts of the time that a start takes here: at once, in all of the start, and after it. */
const MOMENTS = [0, 0.2, 0.4, 0.6, 0.75, 0.9, 1, 1.2];

/** A lock that outlives the test: only a job that was handed back is seen again. */
const timing = { lockMs: 600_000, docsCallMs: 20_000 };

/** Starts one, so that the code of all others is compiled; returns how long another one takes. */
async function startMs(world: World, options: BotOptions): Promise<number> {
  const start = async () => (await world.startBot(options)).terminate();
  await start();
  const beganAtMs = performance.now();
  await start();
  return performance.now() - beganAtMs;
}

describe.each(['all', 'web', 'worker'])('SIGTERM while a process of the role %s starts', (role) => {
  test('ends it in time, and what it took is done by another one', async () => {
    const world = await createWorld({ slack: { rateLimits: false } });
    const options = { process: true, timing, env: { DOCKET_ROLE: role } };
    const tookMs = await startMs(world, options);
    await world.startBot({ timing });
    const startAndStop = async (moment: number) => {
      const { code, output } = await world.startAndStop(options, moment * tookMs);
      // Before the handlers are there, the signal ends it.
      expect(code, output).toBe(output.includes('"stopping"') ? 0 : 143);
      expect(output).not.toMatch(/"level":(?:"(?:error|fatal)"|[56]0)/);
    };
    let areOver = false;
    const stops = (async () => {
      // Four at once: with more, nobody would be answered in 3 s.
      for (let from = 0; from < MOMENTS.length; from += 4)
        await Promise.all(MOMENTS.slice(from, from + 4).map(startAndStop));
    })().finally(() => {
      areOver = true;
    });
    const stories = [];
    while (!areOver || stories.length < 3)
      stories.push(await tellStory(world, undefined, addSite(world, `site-${stories.length}`, 'ana')));
    await stops;
    expect(stories.every(({ ending }) => ending === 'done')).toBe(true);
    expectNothingTwice(world, ...stories);
    await world.close();
  });
});

test("SIGTERM while one with Docket's own Redis starts: that is ended too, and the next finds all", async () => {
  const world = await createWorld();
  const folder = temporaryFolder();
  const options = { process: true, dataDir: folder.path };
  const pidFile = join(folder.path, 'redis', 'redis.pid');
  const redisRuns = () => existsSync(pidFile) && isAlive(Number(readFileSync(pidFile, 'utf8')));
  const tookMs = await startMs(world, options);
  for (const moment of MOMENTS) {
    const { code, output } = await world.startAndStop(options, moment * tookMs);
    expect(code, output).toBe(output.includes('"stopping"') ? 0 : 143);
    expect(redisRuns(), output).toBe(false);
  }
  await world.startBot(options);
  expectNothingTwice(world, await tellStory(world));
  await world.close();
  folder.remove();
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

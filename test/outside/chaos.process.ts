import { expect, test } from 'vitest';
import { runChaosPlan } from '../support/flows/chaos.ts';
import { errorsLogged } from '../support/flows/reading.ts';

/** The same again: `TEST_SEED=7`. The moments still differ, since processes are not of one mind about time. */
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1e6));

/** The small form of `npm run bench -- chaos`. */
test(`exports and threads while bots die and freeze, and all that is outside fails (seed ${seed})`, {
  timeout: 400_000,
}, async () => {
  const outcome = await runChaosPlan({
    exports: 12,
    threads: 4,
    replies: 8,
    kills: 4,
    redisKills: 1,
    freezes: 1,
    overMs: 12_000,
    durationMs: [2000, 6000],
    faults: 0.05,
    lockMs: 3000,
    seed,
    logLevel: 'debug',
  });
  const { world, strikes, faults } = outcome;
  const wrong = Object.entries(outcome.verdict).filter(([, found]) => found.length > 0);
  expect(wrong).toEqual([]);
  expect(outcome.idle).toBe(true);
  expect([...errorsLogged(world).keys()]).toEqual([]);
  const made = (kind: string) =>
    [...strikes].reduce((sum, [name, count]) => sum + (name.startsWith(kind) ? count : 0), 0);
  expect([made('kill -9 w'), made('kill -9 Redis'), made('SIGSTOP')]).toEqual([4, 1, 1]);
  expect(faults.size).toBeGreaterThan(3);
  await world.close();
});

import { expect, test } from 'vitest';
import { createChaosWorld, seeded } from '../support/flows/agent-chaos.ts';
import { errorsLogged } from '../support/flows/agent-verdict.ts';
import { runFleetChaos } from '../support/flows/fleet-chaos.ts';

/** The same again: `TEST_SEED=7`. The moments still differ, since processes are not of one mind about time. */
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1e6));

test(`exports and threads while bots, Redis, Slack and the platform fail (seed ${seed})`, async () => {
  const domains = Array.from({ length: 12 }, (_, n) => `site-${n}.acme.com`);
  const roles = ['web', 'web', 'worker', 'worker'] as const;
  const chaos = await createChaosWorld('debug', { roles, domains, timing: { lockMs: 3000 } });
  const outcome = await runFleetChaos(
    chaos,
    {
      domains,
      threads: 3,
      replies: 3,
      gapMs: 2000,
      kills: 3,
      redisKills: 1,
      freezes: 1,
      frozenMs: 4500,
      everyMs: 2000,
      faultRate: 0.05,
    },
    seeded(seed),
  );
  const { lost, startedTwice, postedTwice, threads, idle } = outcome;
  expect({ lost, startedTwice, postedTwice, idle }).toEqual({
    lost: [],
    startedTwice: [],
    postedTwice: [],
    idle: true,
  });
  expect(Object.values(threads).flat()).toEqual([]);
  expect([...errorsLogged(chaos.world).keys()]).toEqual([]);
  expect([...outcome.strikes.values()].reduce((sum, count) => sum + count, 0)).toBe(5);
  await chaos.world.close();
}, 300_000);

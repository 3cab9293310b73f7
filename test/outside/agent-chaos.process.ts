import { expect, test } from 'vitest';
import { runChaos } from '../support/flows/agent-chaos.ts';
import { createChaosWorld, errorsLogged, seeded } from '../support/flows/chaos-world.ts';

/** The same again: `TEST_SEED=7`. The moments still differ, since processes are not of one mind about time. */
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1e6));

test(`four threads while bots, Redis, Slack and the platform fail (seed ${seed})`, async () => {
  const chaos = await createChaosWorld({ logLevel: 'debug', roles: ['all', 'web', 'worker'] });
  const options = { threads: 4, replies: 12, gapMs: 2500, everyMs: 320, bareLimits: false };
  const outcome = await runChaos(chaos, options, seeded(seed));
  expect(outcome.verdict).toEqual({
    lost: [],
    twice: [],
    outOfOrder: [],
    unwanted: [],
    withoutOutcome: [],
    postedTwice: [],
    openQuestions: [],
  });
  expect(outcome.idle).toBe(true);
  expect(outcome.answers.failed).toBe(0);
  expect([...errorsLogged(chaos.world).keys()]).toEqual([]);
  expect(outcome.strikes.size).toBeGreaterThan(5);
  await chaos.world.close();
});

import { expect, test } from 'vitest';
import { createHomeStore } from '../../src/store/homes.ts';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();

test('who opened their Home tab is remembered, of each workspace, and not for ever', async () => {
  const homes = createHomeStore(redis.client);
  await homes.markOpened('T0ACME', 'U0ANA');
  expect(await homes.whoOpened('T0ACME', ['U0BEN', 'U0ANA'])).toEqual(['U0ANA']);
  expect(await homes.whoOpened('T0OTHER', ['U0ANA'])).toEqual([]);
  expect(await redis.client.pttl(keys.homeOpened('T0ACME', 'U0ANA'))).toBeGreaterThan(0);
});

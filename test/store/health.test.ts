import { beforeAll, expect, test } from 'vitest';
import { createHealthStore, type HealthStore } from '../../src/store/health.ts';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
let store: HealthStore;
beforeAll(() => {
  store = createHealthStore(redis.client);
});

test('what one process saw last is what the others read', async () => {
  expect(await store.load()).toEqual({});
  await store.save('docs', { answered: true, atMs: 1000 });
  await store.save('slack', { answered: true, atMs: 1500 });
  await store.save('docs', { answered: false, atMs: 2000 });
  expect(await store.load()).toEqual({
    docs: { answered: false, atMs: 2000 },
    slack: { answered: true, atMs: 1500 },
  });
});

test('old news is forgotten', async () => {
  await store.save('docs', { answered: true, atMs: 1000 });
  const lives = await redis.client.pttl(keys.health('docs'));
  expect(lives).toBeGreaterThan(60_000);
  expect(lives).toBeLessThanOrEqual(3_600_000);
});

test.each(['no json', '{}', '{"answered":"yes","atMs":1}'])('%s is read as nothing', async (json) => {
  await redis.client.set(keys.health('docs'), json);
  await store.save('slack', { answered: true, atMs: 1 });
  expect(await store.load()).toEqual({ slack: { answered: true, atMs: 1 } });
});

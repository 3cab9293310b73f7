import { expect, test } from 'vitest';
import { createDurationStore, MAX_DURATIONS } from '../../src/store/durations.ts';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
const durations = () => createDurationStore(redis.client);

test('a job counts once, with what was said of it first', async () => {
  await durations().add('acme', 'se_1', { endedAtMs: 5000, tookMs: 4000 });
  await durations().add('acme', 'se_1', { endedAtMs: 9000, tookMs: 8000 });
  await durations().add('acme', 'se_2', { endedAtMs: 6000, tookMs: 4000 });
  expect(await durations().of('acme')).toEqual([4000, 4000]);
  expect(await durations().of('other')).toEqual([]);
});

test('those of the latest ends are kept, in whatever order they came', async () => {
  const ends = Array.from({ length: MAX_DURATIONS + 3 }, (_, index) => index + 1);
  for (const end of [...ends.slice(10), ...ends.slice(0, 10)])
    await durations().add('acme', `se_${end}`, { endedAtMs: end * 1_000_000, tookMs: end });
  expect((await durations().of('acme')).toSorted((a, b) => a - b)).toEqual(ends.slice(3));
});

test('they live on while exports are made', async () => {
  await durations().add('acme', 'se_1', { endedAtMs: 1, tookMs: 1 });
  await redis.client.pexpire(keys.durations('acme'), 1000);
  await durations().add('acme', 'se_2', { endedAtMs: 2, tookMs: 1 });
  expect(await redis.client.pttl(keys.durations('acme'))).toBeGreaterThan(1000);
});

test('what is no duration is left out, and goes first', async () => {
  await redis.client.hset(keys.durations('acme'), { a: 'x', b: '5 -3', c: '', d: '7 Infinity', e: '8 250' });
  expect(await durations().of('acme')).toEqual([250]);
  for (let index = 0; index < MAX_DURATIONS; index += 1)
    await durations().add('acme', `se_${index}`, { endedAtMs: 1000 + index, tookMs: 60 });
  expect(await durations().of('acme')).toEqual(Array.from({ length: MAX_DURATIONS }, () => 60));
});

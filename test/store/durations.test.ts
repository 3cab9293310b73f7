import { expect, test } from 'vitest';
import { createDurationStore, MAX_DURATIONS } from '../../src/store/durations.ts';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
const durations = () => createDurationStore(redis.client);
const add = (jobId: string, endedAtMs: number, tookMs: number, inPercent = false) =>
  durations().add('acme', jobId, { endedAtMs, tookMs, inPercent });
const tookMs = async () => (await durations().of('acme')).map((duration) => duration.tookMs);

test('a job counts once, with what was said of it first', async () => {
  await add('se_1', 5000, 4000);
  await add('se_1', 9000, 8000);
  await add('se_2', 6000, 4000);
  expect(await tookMs()).toEqual([4000, 4000]);
  expect(await durations().of('other')).toEqual([]);
});

test('each says whether its progress was told in percent', async () => {
  await add('se_1', 5000, 4000, true);
  await add('se_2', 6000, 3000);
  expect((await durations().of('acme')).toSorted((a, b) => b.tookMs - a.tookMs)).toEqual([
    { tookMs: 4000, inPercent: true },
    { tookMs: 3000, inPercent: false },
  ]);
});

test('those of the latest ends are kept, in whatever order they came', async () => {
  const ends = Array.from({ length: MAX_DURATIONS + 3 }, (_, index) => index + 1);
  for (const end of [...ends.slice(10), ...ends.slice(0, 10)]) await add(`se_${end}`, end * 1_000_000, end);
  expect((await tookMs()).toSorted((a, b) => a - b)).toEqual(ends.slice(3));
});

test('they live on while exports are made', async () => {
  await add('se_1', 1, 1);
  await redis.client.pexpire(keys.durations('acme'), 1000);
  await add('se_2', 2, 1);
  expect(await redis.client.pttl(keys.durations('acme'))).toBeGreaterThan(1000);
});

test('what is no duration is left out, and goes first', async () => {
  await redis.client.hset(keys.durations('acme'), { a: 'x', b: '5 -3', c: '', d: '7 Infinity', e: '8 250' });
  expect(await tookMs()).toEqual([250]);
  for (let index = 0; index < MAX_DURATIONS; index += 1) await add(`se_${index}`, 1000 + index, 60);
  expect(await tookMs()).toEqual(Array.from({ length: MAX_DURATIONS }, () => 60));
});

import { expect, test } from 'vitest';
import { LUA_NOW, luaScript } from '../../../src/store/redis/lua.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

const double = luaScript('return {KEYS[1], ARGV[1] * 2}');

test('a script gets its keys and arguments', async () => {
  expect(await double(redis.client, ['k'], [21])).toEqual(['k', 42]);
});

test('a script works again after Redis forgot it', async () => {
  await double(redis.client, ['k'], [1]);
  await redis.client.script('FLUSH');
  expect(await double(redis.client, ['k'], [2])).toEqual(['k', 4]);
});

test('a script works again after Redis was killed, and what it wrote is there', async () => {
  const counter = luaScript("return redis.call('INCR', KEYS[1])");
  expect(await counter(redis.client, ['n'])).toBe(1);
  await redis.kill();
  await redis.start();
  expect(await counter(redis.client, ['n'])).toBe(2);
});

test('a script is sent once, and then called by its digest', async () => {
  const counter = luaScript("return redis.call('INCRBY', KEYS[1], 1)");
  const sent = async () =>
    Number(/cmdstat_eval:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1] ?? 0);
  const before = await sent();
  for (const _ of [1, 2, 3]) await counter(redis.client, ['n'], []);
  expect(await redis.client.get('n')).toBe('3');
  expect((await sent()) - before).toBe(1);
});

test("an error of the script is the caller's to see, and the script is not run again", async () => {
  const broken = luaScript("redis.call('INCR', KEYS[1]) return redis.call('HGET', KEYS[1], 'x')");
  await broken(redis.client, ['n'], []).catch(() => {});
  await expect(broken(redis.client, ['n'], [])).rejects.toThrow('WRONGTYPE');
  expect(await redis.client.get('n')).toBe('2');
});

test('the clock of a script is the clock of Redis, in whole milliseconds', async () => {
  const now = luaScript(`${LUA_NOW} return {now, string.format('%.3f', now)}`);
  const [seconds, micros] = (await redis.client.time()).map(Number);
  const [ms, text] = (await now(redis.client, [], [])) as [number, string];
  expect(text).toBe(`${ms}.000`);
  expect(ms).toBeGreaterThanOrEqual(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000));
});

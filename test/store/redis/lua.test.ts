import { expect, test } from 'vitest';
import { luaScript } from '../../../src/store/redis/lua.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

test('a script works again after Redis was killed, and what it wrote is there', async () => {
  const counter = luaScript("return redis.call('INCR', KEYS[1])");
  expect(await counter(redis.client, ['n'])).toBe(1);
  await redis.kill();
  await redis.start();
  expect(await counter(redis.client, ['n'])).toBe(2);
});

test("an error of the script is the caller's to see, and the script is not run again", async () => {
  const broken = luaScript("redis.call('INCR', KEYS[1]) return redis.call('HGET', KEYS[1], 'x')");
  await broken(redis.client, ['n'], []).catch(() => {});
  await expect(broken(redis.client, ['n'], [])).rejects.toThrow('WRONGTYPE');
  expect(await redis.client.get('n')).toBe('2');
});

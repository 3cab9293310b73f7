import { expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { checkSchema } from '../../src/store/schema.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
const check = () => checkSchema(redis.client);

test('empty data get the number, which every later start finds', async () => {
  await check();
  expect(await redis.client.get(keys.schema())).toBe('5');
  await check();
});

test('another number is refused, and nothing is written', async () => {
  await redis.client.set(keys.schema(), '6');
  await expect(check()).rejects.toThrow(
    'These data have schema 6; this Docket reads 5. Run the matching release, or empty the data (docs/upgrade.md).',
  );
  expect(await redis.client.get(keys.schema())).toBe('6');
});

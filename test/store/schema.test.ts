import { expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { checkSchema } from '../../src/store/schema.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
const check = () => checkSchema(redis.client);

test('empty data get the number, which every later start finds', async () => {
  await check();
  expect(await redis.client.get(keys.schema())).toBe('3');
  await check();
});

test('another number is refused, and nothing is written', async () => {
  await redis.client.set(keys.schema(), '4');
  await expect(check()).rejects.toThrow(
    'These data have schema 4; this Docket reads 3. Run the matching release, or empty the data (docs/upgrade.md).',
  );
  expect(await redis.client.get(keys.schema())).toBe('4');
});

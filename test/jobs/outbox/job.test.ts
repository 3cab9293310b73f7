import { expect, test } from 'vitest';
import { outboxJob } from '../../../src/jobs/outbox/job.ts';
import { keys } from '../../../src/store/keys.ts';
import { createMessageStore } from '../../../src/store/messages.ts';
import { jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';
import { aMessage } from '../../support/store/builders.ts';

const redis = redisForTests();

test('a damaged message is left out, and its record stays', async () => {
  const messages = createMessageStore(redis.client);
  await messages.publish('m1', aMessage(), 1);
  await redis.client.hset(
    keys.message('m1'),
    'wanted',
    JSON.stringify({ ...aMessage(), kind: 'unheard of' }),
  );
  const before = await redis.client.hgetall(keys.message('m1'));
  const deliverMessage = async (key: string) => {
    await messages.load(key);
    return undefined;
  };
  const context = jobContext(redis.client, { deliverMessage });
  expect(await outboxJob.run('m1', context)).toEqual({ kind: 'done' });
  expect(await redis.client.hgetall(keys.message('m1'))).toEqual(before);
  expect(await redis.client.zcard(keys.undelivered())).toBe(0);
});

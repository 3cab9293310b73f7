import { afterEach, beforeEach, expect, test } from 'vitest';
import { redisForTests } from '../support/redis.ts';
import { createDeliveryWorld } from '../support/slack/world.ts';

const redis = redisForTests();
const clock = { aheadMs: 0 };
let world: Awaited<ReturnType<typeof createDeliveryWorld>>;
beforeEach(async () => {
  world = await createDeliveryWorld(redis, clock);
});
afterEach(() => world.close());

test('while the token is refused, all messages wait for one call; when it works again, all are posted', async () => {
  const { slack, want, deliver, deliverUntilIdle, texts } = world;
  const names = Array.from({ length: 20 }, (_, index) => `m${index}`);
  for (const key of names) await want(key);
  await want('first');
  await deliverUntilIdle('first');
  /** Lets the longest pause pass that any of them wants. */
  const deliverAll = async () => {
    const delivered = await Promise.all(names.map((key) => deliver(key)));
    clock.aheadMs += Math.max(...delivered.map((inMs = 0) => inMs));
    return delivered;
  };
  const { bot } = slack.tokens;
  slack.tokens.bot = 'xoxb-another';
  const before = slack.wire.calls.length;
  await deliver('m0');
  const untilMs = clock.aheadMs + 300_000;
  while (clock.aheadMs < untilMs) await deliverAll();
  // At first, then after 1, 2, 4, 8 and 16 s, then every 30 s.
  expect(slack.wire.calls.length - before).toBeLessThanOrEqual(16);
  slack.tokens.bot = bot;
  // Those that stand in line for a post wait by the clock of Redis.
  await expect.poll(deliverAll).toEqual(names.map(() => undefined));
  expect(texts().toSorted()).toEqual([...names, 'first'].toSorted());
});

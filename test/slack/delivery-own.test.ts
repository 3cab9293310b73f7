import { expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';
import { createDeliveryWorld } from '../support/slack/world.ts';

const redis = redisForTests();

/** The messages of ours that are on their way into a channel, and those that are there. */
const known = (channel: string) =>
  Promise.all(
    [keys.posting('T0ACME', channel), keys.posted('T0ACME', channel)].map((key) =>
      redis.client.zrange(key, '0', '-1'),
    ),
  );

test('what is posted into a channel is known as ours: before the call, and by its place after it', async () => {
  const delivering = await createDeliveryWorld(redis);
  const { slack, want, deliverUntilIdle, deliver } = delivering;
  const channel = slack.channel('#docs').id;
  await want('lost');
  slack.wire.order('chat.postMessage', { kind: 'reset', when: 'after' });
  await deliver('lost');
  expect(await known(channel)).toEqual([['lost'], []]);
  await want('card');
  await deliverUntilIdle('card');
  const card = slack.messages.find(({ text }) => text === 'card');
  expect(await known(channel)).toEqual([['lost'], [card?.ts]]);
  await deliverUntilIdle('lost');
  const lost = slack.messages.find(({ text }) => text === 'lost');
  expect(await known(channel)).toEqual([[], [card?.ts, lost?.ts]]);
  await delivering.close();
});

test('what is posted into a thread begins none', async () => {
  const delivering = await createDeliveryWorld(redis);
  const { slack, want, deliverUntilIdle } = delivering;
  const channel = slack.channel('#docs').id;
  const root = await slack.person('ana').says('#docs', 'root');
  await want('reply', 'reply', { place: { channel, threadTs: root.ts } });
  await deliverUntilIdle('reply');
  expect(delivering.texts()).toEqual(['root', 'reply']);
  expect(await known(channel)).toEqual([[], []]);
  await delivering.close();
});

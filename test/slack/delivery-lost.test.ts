import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { redisForTests } from '../support/redis.ts';
import { createDeliveryWorld } from '../support/slack/world.ts';
import { noteDelivery } from '../support/store/builders.ts';

const redis = redisForTests();
let world: Awaited<ReturnType<typeof createDeliveryWorld>>;
afterEach(() => world.close());

const lost = { kind: 'reset', when: 'after' } as const;

describe.each([150_000, -150_000, 1_800_000, 0])('with a clock %i ms ahead of Slack’s', (aheadMs) => {
  beforeEach(async () => {
    world = await createDeliveryWorld(redis, { aheadMs });
  });

  test('the first message of a channel and one in its thread are found after their answers were lost', async () => {
    const { slack, want, deliverUntilIdle, texts } = world;
    slack.wire.order('chat.postMessage', lost);
    await want('card');
    await deliverUntilIdle('card');
    slack.wire.order('chat.postMessage', lost);
    await want('ending', 'ending', { place: { under: 'card' } });
    await deliverUntilIdle('ending');
    expect(texts()).toEqual(['card', 'ending']);
  });

  test('a post of another process with the right clock is found', async () => {
    const { slack, messages, want, deliverUntilIdle, texts } = world;
    await want('card');
    await deliverUntilIdle('card');
    const [card] = slack.messages;
    const postedAtMs = Math.floor(Number(card?.ts) * 1000);
    const forgotten = { ts: undefined, channel: undefined, deliveredHash: undefined };
    const mark = { postedAtMs, unclearUntilMs: Date.now() + 12_000 };
    await noteDelivery(messages, 'card', { ...forgotten, ...mark });
    await deliverUntilIdle('card');
    expect(texts()).toEqual(['card']);
  });
});

test('a post that did not take effect is made', async () => {
  world = await createDeliveryWorld(redis);
  const { slack, want, deliverUntilIdle, texts } = world;
  slack.wire.order('chat.postMessage', { kind: 'reset', when: 'before' });
  await want('card');
  await deliverUntilIdle('card');
  expect(texts()).toEqual(['card']);
});

test.each(['not_in_channel', 'channel_not_found'])(
  'a post without an answer, in a place that the app is then removed from (%s), is found once it is back',
  async (code) => {
    world = await createDeliveryWorld(redis);
    const { slack, messages, want, deliver, deliverUntilIdle, texts } = world;
    const channel = slack.channel('#docs');
    slack.wire.order('chat.postMessage', lost);
    await want('card');
    await deliver('card');
    expect(texts()).toEqual(['card']);
    const { kind } = channel;
    channel.members.delete(slack.workspace.bot.userId);
    if (code === 'channel_not_found') channel.kind = 'private';
    await deliverUntilIdle('card');
    expect(await messages.state('card')).toEqual({ kind: 'refused', code });
    // Still not there: what is wanted next is not posted blindly.
    await want('card', 'second');
    expect(await messages.state('card')).toEqual({ kind: 'waiting' });
    await deliverUntilIdle('card');
    expect(await messages.state('card')).toEqual({ kind: 'refused', code });
    channel.members.add(slack.workspace.bot.userId);
    channel.kind = kind;
    await want('card', 'third');
    await deliverUntilIdle('card');
    expect(texts()).toEqual(['third']);
    expect(await messages.state('card')).toMatchObject({ kind: 'shown' });
  },
);

test('a post that was refused, with none before it in doubt, is made without a search once it is wanted again', async () => {
  world = await createDeliveryWorld(redis);
  const { slack, messages, want, deliverUntilIdle, texts, calls } = world;
  const { members } = slack.channel('#docs');
  members.delete(slack.workspace.bot.userId);
  await want('card');
  await deliverUntilIdle('card');
  expect(await messages.state('card')).toEqual({ kind: 'refused', code: 'not_in_channel' });
  members.add(slack.workspace.bot.userId);
  await want('card', 'second');
  await deliverUntilIdle('card');
  expect(texts()).toEqual(['second']);
  expect(calls('conversations.history')).toBe(0);
});

test('after an outage, every message of a channel is found', async () => {
  const clock = { aheadMs: 0 };
  world = await createDeliveryWorld(redis, clock);
  const { slack, want, deliver, deliverUntilIdle, texts } = world;
  const names = Array.from({ length: 8 }, (_, index) => `card ${index}`);
  for (const key of names) await want(key);
  slack.wire.order('chat.postMessage', lost, names.length);
  await Promise.all(names.map((key) => deliver(key)));
  expect(texts()).toHaveLength(names.length);
  clock.aheadMs += 20_000;
  await Promise.all(names.map(deliverUntilIdle));
  expect(texts().toSorted()).toEqual(names);
});

test('a search continues after the pages that it has read', async () => {
  world = await createDeliveryWorld(redis);
  const { slack, want, deliverUntilIdle, texts, calls } = world;
  slack.wire.order('chat.postMessage', lost);
  await want('card');
  await world.deliver('card');
  for (let others = 0; others < 450; others += 1) await slack.person('ana').says('#docs', 'hello');
  await deliverUntilIdle('card');
  expect(texts().filter((text) => text === 'card')).toHaveLength(1);
  expect(calls('conversations.history')).toBe(3);
});

describe('a message that a person deleted after it was found', () => {
  test('is posted again once, also if that answer is lost too', async () => {
    world = await createDeliveryWorld(redis);
    const { slack, want, deliverUntilIdle, calls } = world;
    slack.wire.order('chat.postMessage', lost);
    await want('card');
    await deliverUntilIdle('card');
    slack.workspace.remove(posted('card'));
    slack.wire.order('chat.postMessage', lost);
    await want('card', 'second');
    await deliverUntilIdle('card');
    expect(shown()).toEqual(['second']);
    expect(calls('conversations.history')).toBe(2);
  });

  const shown = () => world.slack.messages.filter(({ deleted }) => !deleted).map(({ text }) => text);

  function posted(text: string) {
    const message = world.slack.messages.find((one) => one.text === text);
    if (message === undefined) throw new Error(`${text} is not posted`);
    return message;
  }
});

test('searches in many threads have slots, as posts and edits have', async () => {
  const clock = { aheadMs: 0 };
  world = await createDeliveryWorld(redis, clock);
  const { slack, want, deliver, deliverUntilIdle, calls } = world;
  const names = Array.from({ length: 12 }, (_, index) => `card ${index}`);
  for (const key of names) {
    await want(key);
    await deliverUntilIdle(key);
    await want(`ending ${key}`, 'ending', { place: { under: key } });
  }
  slack.wire.order('chat.postMessage', lost, names.length);
  await Promise.all(names.map((key) => deliver(`ending ${key}`)));
  clock.aheadMs += 20_000;
  const delivered = await Promise.all(names.map((key) => deliver(`ending ${key}`)));
  expect(calls('conversations.replies')).toBe(8);
  expect(delivered.filter((inMs = 0) => inMs > 500)).toHaveLength(4);
});

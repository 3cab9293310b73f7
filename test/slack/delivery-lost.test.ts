import { afterEach, describe, expect, test } from 'vitest';
import { compose, message } from '../../src/slack/blocks.ts';
import { keys } from '../../src/store/keys.ts';
import { strikeAt } from '../support/flows/strike-at.ts';
import { redisForTests } from '../support/redis.ts';
import { anOutbox, createDeliveryWorld } from '../support/slack/world.ts';
import { noteDelivery } from '../support/store/builders.ts';

const redis = redisForTests();
let world: Awaited<ReturnType<typeof createDeliveryWorld>>;
const open = async (clock?: { aheadMs: number }) => {
  world = await createDeliveryWorld(redis, clock);
  return world;
};
afterEach(() => world.close());

const lost = { kind: 'reset', when: 'after' } as const;

describe.each([150_000, -150_000, 0])('with a clock %i ms ahead of Slack’s', (aheadMs) => {
  test('the first message of a channel and one in its thread are found after their answers were lost', async () => {
    const { slack, want, deliverUntilIdle, texts } = await open({ aheadMs });
    slack.wire.order('chat.postMessage', lost);
    await want('card');
    await deliverUntilIdle('card');
    slack.wire.order('chat.postMessage', lost);
    await want('ending', 'ending', { place: { under: 'card' } });
    await deliverUntilIdle('ending');
    expect(texts()).toEqual(['card', 'ending']);
  });

  test('a post of another process with the right clock is found', async () => {
    const { slack, messages, want, deliverUntilIdle, texts } = await open({ aheadMs });
    await want('card');
    await deliverUntilIdle('card');
    const postedAtMs = Math.floor(Number(slack.messages[0]?.ts) * 1000);
    const forgotten = { ts: undefined, channel: undefined, deliveredHash: undefined };
    const mark = { postedAtMs, unclearUntilMs: Date.now() + 12_000 };
    await noteDelivery(messages, 'card', { ...forgotten, ...mark });
    await deliverUntilIdle('card');
    expect(texts()).toEqual(['card']);
  });
});

test.each(['not_in_channel', 'channel_not_found'])(
  'a post without an answer, in a place that the app is then removed from (%s), is found once it is back',
  async (code) => {
    const { slack, messages, want, deliver, deliverUntilIdle, texts } = await open();
    const channel = slack.channel('#docs');
    slack.wire.order('chat.postMessage', lost);
    await want('card');
    await deliver('card');
    const { kind } = channel;
    channel.members.delete(slack.workspace.bot.userId);
    if (code === 'channel_not_found') channel.kind = 'private';
    // The second form is not posted blindly either.
    for (const text of ['card', 'second']) {
      await want('card', text);
      expect(await messages.state('card')).toMatchObject({ kind: 'waiting' });
      await deliverUntilIdle('card');
      expect(await messages.state('card')).toEqual({ kind: 'refused', code });
    }
    channel.members.add(slack.workspace.bot.userId);
    channel.kind = kind;
    await want('card', 'third');
    await deliverUntilIdle('card');
    expect(texts()).toEqual(['third']);
    expect(await messages.state('card')).toMatchObject({ kind: 'shown' });
  },
);

test('a post that was refused, with none before it in doubt, is made without a search once it is wanted again', async () => {
  const { slack, want, deliverUntilIdle, texts, calls } = await open();
  const { members } = slack.channel('#docs');
  members.delete(slack.workspace.bot.userId);
  await want('card');
  await deliverUntilIdle('card');
  members.add(slack.workspace.bot.userId);
  await want('card', 'second');
  await deliverUntilIdle('card');
  expect([texts(), calls('conversations.history')]).toEqual([['second'], 0]);
});

test('a post into a channel is known as ours before the call, and by its place after it; one in a thread is not', async () => {
  const { slack, want, deliver, deliverUntilIdle } = await open();
  const channel = slack.channel('#docs').id;
  const own = [keys.posting('T0ACME', channel), keys.posted('T0ACME', channel)];
  const known = () => Promise.all(own.map((key) => redis.client.zrange(key, '0', '-1')));
  await want('lost');
  slack.wire.order('chat.postMessage', lost);
  await deliver('lost');
  expect(await known()).toEqual([['lost'], []]);
  await deliverUntilIdle('lost');
  const [found] = slack.messages;
  await want('reply', 'reply', { place: { channel, threadTs: found?.ts ?? '' } });
  await deliverUntilIdle('reply');
  expect(await known()).toEqual([[], [found?.ts]]);
});

test.each(['before', 'after'] as const)(
  'a fallback whose answer was lost, %s it took effect, is posted once',
  async (when) => {
    const { slack, deliverUntilIdle } = await open();
    slack.refuses.charts = true;
    const series = [{ name: 'A', data: [{ label: 'Mon', value: 3 }] }];
    const bars = { type: 'bar' as const, series, axis_config: { categories: ['Mon'] } };
    const chart = { type: 'data_visualization' as const, title: 'A', chart: bars };
    const forms = { message: compose([chart], ['A']), fallback: message([['Mon: 3']]) };
    const place = { channel: slack.channel('#docs').id };
    await anOutbox(redis.client).publish('T0ACME', { key: 'm1', place, kind: 'state', ...forms }, 1);
    strikeAt([slack], { call: () => true, phase: 'after' }, () => {
      slack.wire.order('chat.postMessage', { kind: 'reset', when });
    });
    await deliverUntilIdle('m1');
    expect(slack.messages.map((one) => slack.read(one))).toEqual(['Mon: 3']);
  },
);

test('a message in the thread of one that waits is due after that one', async () => {
  const { want, deliver } = await open();
  await want('card');
  await redis.client.zadd(keys.activeRuns(), Date.now() + 20_000, 'outbox card');
  await want('ending', 'ending', { place: { under: 'card' } });
  const waitMs = (await deliver('ending')) ?? 0;
  expect(waitMs).toBeGreaterThan(15_000);
  expect(waitMs).toBeLessThanOrEqual(20_000);
});

test('a message in the thread of one that has expired goes to its person', async () => {
  const { slack, want, deliver, deliverUntilIdle, messages } = await open();
  const fallbackRecipient = 'U0ANA';
  await want('ending', 'ending', { place: { under: 'card' }, fallbackRecipient });
  expect(await deliver('ending')).toBe(1000);
  await redis.client.hset(keys.message('ending'), 'behindSinceMs', Date.now() - 6 * 60_000);
  await deliverUntilIdle('ending');
  expect(await messages.state('ending')).toMatchObject({ kind: 'shown' });
  expect(slack.messages[0]?.channel).toMatch(/^D/);
});

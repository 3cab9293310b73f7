import { afterEach, beforeEach, expect, test } from 'vitest';
import { chartBlock, compose, type Message, message } from '../../src/slack/blocks.ts';
import type { Outbox, OutboxMessage } from '../../src/slack/outbox.ts';
import { redisForTests } from '../support/redis.ts';
import { anOutbox, createDeliveryWorld } from '../support/slack/world.ts';

const redis = redisForTests();
let world: Awaited<ReturnType<typeof createDeliveryWorld>>;
let outbox: Outbox;
let version: number;
beforeEach(async () => {
  version = 0;
  world = await createDeliveryWorld(redis, { aheadMs: 0 });
  outbox = anOutbox(redis.client);
});
afterEach(() => world.close());

const withChart = (head: string) =>
  compose(
    [[`${head}: 3 views`]],
    [
      message([[head]]),
      chartBlock({ title: 'Views', series: [{ name: 'People', values: [3] }], labels: ['Mon'] }),
    ],
  );
const table = (text = 'Mon: 3') => message([[text]]);
const CHART = 'Views\nPeople: Mon 3';

/** Publishes the next form, and delivers it. Returns what Slack shows, and whether that is the fallback. */
async function publish(fallback?: Message, head = 'Digest', more: Partial<OutboxMessage> = {}) {
  version += 1;
  const place = { channel: world.slack.channel('#docs').id };
  const form = { message: withChart(head), ...(fallback && { fallback }) };
  await outbox.publish('T0ACME', { key: 'm1', place, kind: 'state', ...form, ...more }, version);
  await world.deliverUntilIdle('m1');
  const state = await outbox.deliveryState('m1');
  const [sent] = world.slack.messages;
  return [sent && world.slack.read(sent), state.kind === 'shown' && state.fellBack === true];
}
const calls = () => world.calls('chat.postMessage') + world.calls('chat.update');

test('where Slack refuses the blocks, the fallback is shown; each new form is tried with its own blocks again', async () => {
  world.slack.refuses.charts = true;
  expect(await publish(table())).toEqual(['Mon: 3', true]);
  await world.deliverUntilIdle('m1');
  expect(calls()).toBe(2);
  expect(await publish(table('Mon: three'))).toEqual(['Mon: three', true]);
  expect(await publish(table('Mon: 3, again'), 'Again')).toEqual(['Mon: 3, again', true]);
  delete world.slack.refuses.charts;
  expect(await publish(table(), 'Later')).toEqual([`Later\n${CHART}`, false]);
  expect(calls()).toBe(7);
});

test.each([
  ['Slack refuses the fallback as well', withChart('Also')],
  ['there is no fallback', undefined],
])('where %s, the text alone is shown, and the next form is tried again', async (_, fallback) => {
  world.slack.refuses.charts = true;
  expect(await publish(fallback)).toEqual(['Digest: 3 views', false]);
  expect(await publish(table(), 'Next')).toEqual(['Mon: 3', true]);
});

test.each(['before', 'after'] as const)(
  'a fallback whose answer was lost, %s it took effect, is posted once',
  async (when) => {
    world.slack.refuses.charts = true;
    const { slack } = world;
    slack.wire.onCall(({ n }, phase) => {
      if (n === 1 && phase === 'after') slack.wire.order('chat.postMessage', { kind: 'reset', when });
    });
    expect(await publish(table())).toEqual(['Mon: 3', true]);
    expect(slack.messages).toHaveLength(1);
  },
);

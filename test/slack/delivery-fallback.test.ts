import { afterEach, beforeEach, expect, test } from 'vitest';
import { chartBlock, compose, type Message, message } from '../../src/slack/blocks.ts';
import type { Outbox } from '../../src/slack/outbox.ts';
import { redisForTests } from '../support/redis.ts';
import { anOutbox, createDeliveryWorld } from '../support/slack/world.ts';

const redis = redisForTests();
let world: Awaited<ReturnType<typeof createDeliveryWorld>>;
let outbox: Outbox;
let version: number;
const clock = { aheadMs: 0 };
beforeEach(async () => {
  clock.aheadMs = 0;
  version = 0;
  world = await createDeliveryWorld(redis, clock);
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
const table = message([['Mon: 3']]);
const CHART = 'Views\nPeople: Mon 3';

/** Says how the message is to look, and delivers it. */
async function publish(shown: { head?: string; fallback?: Message }) {
  version += 1;
  const { head = 'Digest', ...rest } = shown;
  const place = { channel: world.slack.channel('#docs').id };
  await outbox.publish(
    'T0ACME',
    { key: 'm1', place, kind: 'state', message: withChart(head), ...rest },
    version,
  );
  await world.deliverUntilIdle('m1');
}
const reads = () => world.slack.messages.map((sent) => world.slack.read(sent));
const sent = () => world.calls('chat.postMessage') + world.calls('chat.update');
const fellBack = async () => {
  const state = await outbox.deliveryState('m1');
  return state.kind === 'shown' ? (state.fellBack ?? false) : state;
};

test('where Slack takes the blocks, the fallback is not used', async () => {
  await publish({ fallback: table });
  expect([reads(), sent(), await fellBack()]).toEqual([[`Digest\n${CHART}`], 1, false]);
});

test('where Slack refuses the blocks, the fallback is shown at once, and it is known', async () => {
  world.slack.refuses.charts = true;
  await publish({ fallback: table });
  expect([reads(), sent(), await fellBack()]).toEqual([['Mon: 3'], 2, true]);
  await world.deliverUntilIdle('m1');
  expect(sent()).toBe(2);
});

test('what is published next is tried with its own blocks again', async () => {
  world.slack.refuses.charts = true;
  await publish({ fallback: table });
  await publish({ head: 'Again', fallback: message([['Mon: 3, again']]) });
  expect([reads(), sent(), await fellBack()]).toEqual([['Mon: 3, again'], 4, true]);
  delete world.slack.refuses.charts;
  await publish({ head: 'Later', fallback: table });
  expect([reads(), sent(), await fellBack()]).toEqual([[`Later\n${CHART}`], 5, false]);
});

test('a fallback that changes is shown, though the message is the same', async () => {
  world.slack.refuses.charts = true;
  await publish({ fallback: table });
  await publish({ fallback: message([['Mon: three']]) });
  expect([reads(), await fellBack()]).toEqual([['Mon: three'], true]);
});

test('where Slack refuses the fallback as well, the text alone is shown, and the next is tried again', async () => {
  world.slack.refuses.charts = true;
  await publish({ fallback: withChart('Also') });
  expect([reads(), sent(), await fellBack()]).toEqual([['Digest: 3 views'], 3, false]);
  await publish({ head: 'Next', fallback: table });
  expect([reads(), await fellBack()]).toEqual([['Mon: 3'], true]);
});

test('without a fallback, the text alone is shown, and the next is tried again', async () => {
  world.slack.refuses.charts = true;
  await publish({});
  expect([reads(), sent(), await fellBack()]).toEqual([['Digest: 3 views'], 2, false]);
  delete world.slack.refuses.charts;
  await publish({ head: 'Next' });
  expect([reads(), sent(), await fellBack()]).toEqual([[`Next\n${CHART}`], 3, false]);
});

test.each(['before', 'after'] as const)(
  'a fallback whose answer was lost, %s it took effect, is posted once',
  async (when) => {
    world.slack.refuses.charts = true;
    const { slack } = world;
    slack.wire.onCall(({ n }, phase) => {
      if (n === 1 && phase === 'after') slack.wire.order('chat.postMessage', { kind: 'reset', when });
    });
    await publish({ fallback: table });
    expect([reads(), await fellBack()]).toEqual([['Mon: 3'], true]);
  },
);

test('a message that is moved to a direct message falls back there', async () => {
  world.slack.refuses.charts = true;
  const place = { channel: world.slack.channel('#elsewhere').id };
  const shown = { key: 'm1', place, kind: 'state', message: withChart('Digest'), fallback: table } as const;
  await outbox.publish('T0ACME', { ...shown, fallbackRecipient: 'U0ANA' }, 1);
  await world.deliverUntilIdle('m1');
  expect(reads()).toEqual([expect.stringMatching(/^I couldn't post this in the channel.*\nMon: 3$/s)]);
});

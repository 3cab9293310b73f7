import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { redisForTests } from '../support/redis.ts';
import { createDeliveryWorld } from '../support/slack/world.ts';
import { noteDelivery } from '../support/store/builders.ts';

const redis = redisForTests();
let world: Awaited<ReturnType<typeof createDeliveryWorld>>;
beforeEach(async () => {
  world = await createDeliveryWorld(redis);
});
afterEach(() => world.close());

const settled = undefined;
const atOnce = 0;

test('a delivery that is held in the line for slots while another posts does not post', async () => {
  const { want, deliver, stopAtSlot, texts } = world;
  await want('m1');
  const line = stopAtSlot();
  const held = deliver('m1');
  await line.reached;
  expect(await deliver('m1')).toEqual(settled);
  line.release();
  expect(await held).toEqual(atOnce);
  expect(await deliver('m1')).toEqual(settled);
  expect(texts()).toEqual(['m1']);
});

test('nor while another has sent a post and waits for its answer', async () => {
  const { slack, want, deliver, stopAtSlot, deliverUntilIdle, texts } = world;
  await want('m1');
  const line = stopAtSlot();
  const held = deliver('m1');
  await line.reached;
  slack.wire.order('chat.postMessage', { kind: 'reset', when: 'after' });
  expect(await deliver('m1')).toBeGreaterThan(0);
  line.release();
  expect(await held).toEqual(atOnce);
  await deliverUntilIdle('m1');
  expect(texts()).toEqual(['m1']);
});

test('an older edit that is held in the line for slots is not made after a newer one', async () => {
  const { want, deliver, stopAtSlot, deliverUntilIdle, texts, calls } = world;
  await want('m1', 'first');
  await deliverUntilIdle('m1');
  await want('m1', 'second');
  const line = stopAtSlot();
  const held = deliver('m1');
  await line.reached;
  await want('m1', 'third');
  expect(await deliver('m1')).toEqual(settled);
  line.release();
  expect(await held).toEqual(atOnce);
  expect(await deliver('m1')).toEqual(settled);
  expect(texts()).toEqual(['third']);
  expect(calls('chat.update')).toBe(1);
});

test('after an edit that may still arrive, the next one is made when it cannot any more', async () => {
  const { messages, want, deliver, deliverUntilIdle, texts, calls } = world;
  await want('m1', 'first');
  await deliverUntilIdle('m1');
  const mark = { unclearUntilMs: Date.now() + 12_000 };
  await noteDelivery(messages, 'm1', mark);
  // It may be shown as an edit that another process began.
  expect(await deliver('m1')).toBeGreaterThan(10_000);
  await want('m1', 'second');
  expect(await deliver('m1')).toBeGreaterThan(10_000);
  await deliverUntilIdle('m1');
  expect([texts(), calls('chat.update')]).toEqual([['second'], 1]);
});

test('a call that is not made, since its mark took too long, leaves no doubt behind', async () => {
  const { want, deliver, slowMark, texts, calls } = world;
  await want('m1', 'first');
  slowMark(defaultTiming.callMarginMs + 1);
  expect(await deliver('m1')).toEqual(atOnce);
  expect(texts()).toEqual([]);
  expect(await deliver('m1')).toEqual(settled);
  expect(calls('conversations.history')).toBe(0);
  await want('m1', 'second');
  slowMark(defaultTiming.callMarginMs + 1);
  expect(await deliver('m1')).toEqual(atOnce);
  expect(await deliver('m1')).toEqual(settled);
  expect([texts(), calls('chat.postMessage'), calls('chat.update')]).toEqual([['second'], 1, 1]);
});

test('a call of a process that froze before it was sent, for so long that others may make it, is not sent', async () => {
  const { want, deliver, deliverUntilIdle, freezeIn, texts, calls } = world;
  await want('m1', 'first');
  freezeIn('chat.postMessage', defaultTiming.callMarginMs + 1);
  expect(await deliver('m1')).toBeGreaterThan(0);
  expect([texts(), calls('chat.postMessage')]).toEqual([[], 0]);
  await deliverUntilIdle('m1');
  // It was certainly not sent, so it is not searched for.
  expect([texts(), calls('conversations.history')]).toEqual([['first'], 0]);
  await want('m1', 'second');
  freezeIn('chat.update', defaultTiming.callMarginMs + 1);
  expect(await deliver('m1')).toBeGreaterThan(0);
  expect([texts(), calls('chat.update')]).toEqual([['first'], 0]);
  await deliverUntilIdle('m1');
  expect([texts(), calls('chat.update')]).toEqual([['second'], 1]);
});

import { beforeAll, describe, expect, test } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import {
  createMessageStore,
  type DeliveryChanges,
  type DeliveryState,
  type MessageStore,
} from '../../src/store/messages.ts';
import { redisForTests } from '../support/redis.ts';
import { aMessage, noteDelivery } from '../support/store/builders.ts';

const redis = redisForTests();
let messages: MessageStore;
beforeAll(() => {
  messages = createMessageStore(redis.client);
});

const running = aMessage();
const done = aMessage({ text: 'Done', hash: 'done', kind: 'ending', fallbackRecipient: 'U0ANA' });
const wanted = async () => (await messages.load('m1'))?.wanted;
const undelivered = () => redis.client.zrange(keys.undelivered(), '0', '-1');
const livesMs = () => redis.client.pttl(keys.message('m1'));
const known = (changes: DeliveryChanges) => noteDelivery(messages, 'm1', changes);

describe('publishing a message', () => {
  test('keeps it as long as its run, and lists it as undelivered', async () => {
    expect(await messages.publish('m1', done, 1)).toBe(true);
    expect(await wanted()).toEqual(done);
    expect(await undelivered()).toEqual(['m1']);
    expect(await redis.client.zrange(keys.activeRuns(), '0', '-1')).toEqual(['outbox m1']);
    expect(await livesMs()).toBeGreaterThan(retention.runMs - 60_000);
    expect(await livesMs()).toBeLessThanOrEqual(retention.runMs);
  });

  test.each([
    ['a later version', 10, 11, done],
    ['the same version, as a job may show twice what it saved once', 3, 3, done],
    ['an older version', 10, 9, running],
  ])('with %s', async (_, first, second, result) => {
    await messages.publish('m1', running, first);
    await messages.publish('m1', done, second);
    expect(await wanted()).toEqual(result);
  });

  test('that looks the same is no change, but makes its version known', async () => {
    await messages.publish('m1', running, 1);
    await messages.markIdle('m1', 1);
    expect(await messages.publish('m1', running, 5)).toBe(false);
    expect(await messages.publish('m1', done, 4)).toBe(false);
    expect(await wanted()).toEqual(running);
    expect(await undelivered()).toEqual([]);
  });

  test('wakes its delivery where none is to come, or a less urgent one', async () => {
    await messages.publish('m1', running, 1);
    expect(await messages.publish('m1', { ...running, hash: 'further' }, 2)).toBe(false);
    await redis.client.zadd(keys.activeRuns(), 9e12, 'outbox m1');
    expect(await messages.publish('m1', done, 3)).toBe(true);
    expect(Number(await redis.client.zscore(keys.activeRuns(), 'outbox m1'))).toBeLessThan(9e12);
    expect(await messages.publish('m1', running, 4)).toBe(false);
  });

  test('without end lasts, as long as it is wanted so', async () => {
    const permanent = aMessage({ permanent: true });
    await messages.publish('m1', running, 1);
    await messages.publish('m1', permanent, 2);
    await known({ ts: '1.1' });
    expect(await livesMs()).toBe(-1);
    await messages.publish('m1', running, 3);
    await messages.publish('m1', permanent, 2);
    expect(await livesMs()).toBeGreaterThan(0);
  });
});

test('a save over that of another process is refused', async () => {
  await messages.publish('m1', running, 1);
  const record = await messages.load('m1');
  if (record === undefined) throw new Error('not published');
  await known({ ts: '1.1' });
  expect(await messages.save(record, { ts: '2.2' })).toBeUndefined();
  expect(await messages.load('m1')).toMatchObject({ ts: '1.1' });
});

describe('how far a message has got', () => {
  const shown = { channel: 'C0DOCS', ts: '1.1' };
  const refused = { refusal: 'is_archived' };

  test.each<[DeliveryChanges, DeliveryState]>([
    [
      { ...shown, deliveredHash: 'running' },
      { kind: 'shown', ...shown },
    ],
    [
      { ...shown, deliveredHash: 'running', refusedHash: 'earlier', form: 'fallback' },
      { kind: 'shown', ...shown },
    ],
    [{ channel: 'C0DOCS' }, { kind: 'waiting' }],
    [
      { ...refused, deliveredHash: 'running' },
      { kind: 'refused', code: 'is_archived' },
    ],
    [{ ...refused, deliveredHash: 'earlier' }, { kind: 'waiting' }],
    [
      { ...shown, deliveredHash: 'running', ...refused, movedTo: 'U0ANA' },
      { kind: 'shown', ...shown },
    ],
  ])('with %j known: %j', async (changes, state) => {
    await messages.publish('m1', running, 1);
    await known(changes);
    expect(await messages.state('m1')).toMatchObject(state);
  });
});

test('a waiting message says when it is due', async () => {
  expect(await messages.state('m1')).toEqual({ kind: 'waiting' });
  await messages.publish('m1', running, 1);
  await redis.client.zadd(keys.activeRuns(), Date.now() + 20_000, 'outbox m1');
  expect(await messages.state('m1')).toEqual({ kind: 'waiting', dueInMs: expect.closeTo(20_000, -4) });
});

test('a delivered message is not listed, unless something newer is wanted', async () => {
  await messages.publish('m1', running, 1);
  await messages.publish('m1', done, 2);
  expect(await messages.markIdle('m1', 1)).toBe(false);
  expect(await undelivered()).toEqual(['m1']);
  expect(await messages.markIdle('m1', 2)).toBe(true);
  expect(await undelivered()).toEqual([]);
  await messages.publish('gone', running, 1);
  await redis.client.del(keys.message('gone'));
  expect(await messages.markIdle('gone', 0)).toBe(true);
});

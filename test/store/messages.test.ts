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
import { aMessage } from '../support/store/builders.ts';
import { dueIds } from '../support/store/world.ts';

const redis = redisForTests();
let messages: MessageStore;
beforeAll(() => {
  messages = createMessageStore(redis.client);
});

const running = aMessage();
const done = aMessage({ text: 'Done', hash: 'done', kind: 'ending', fallbackRecipient: 'U0ANA' });

describe('wanting a message', () => {
  test('keeps it and lists it as undelivered', async () => {
    expect(await messages.setWanted('m1', done, 1, 1000)).toBe(0);
    expect(await messages.load('m1')).toEqual({ wanted: done, behindSinceMs: 1000 });
    expect(await dueIds(redis, 'messages')).toEqual(['m1']);
  });

  test('with a later version replaces it', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    await messages.setWanted('m1', done, 2, 2000);
    expect((await messages.load('m1'))?.wanted).toEqual(done);
  });

  test('with an older version changes nothing', async () => {
    await messages.setWanted('m1', done, 10, 1000);
    expect(await messages.setWanted('m1', running, 9, 2000)).toBeUndefined();
    expect((await messages.load('m1'))?.wanted).toEqual(done);
  });

  test('with the same version again is taken: a job may show twice what it saved once', async () => {
    await messages.setWanted('m1', running, 3, 1000);
    await messages.setWanted('m1', done, 3, 2000);
    expect((await messages.load('m1'))?.wanted).toEqual(done);
  });

  test('that looks the same is no change, but makes its version known', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    expect(await messages.setWanted('m1', running, 5, 2000)).toBeUndefined();
    expect(await messages.setWanted('m1', done, 4, 3000)).toBeUndefined();
    expect((await messages.load('m1'))?.wanted).toEqual(running);
  });

  test('that looks the same and was delivered is not listed again', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    await messages.markDelivered('m1', 'running');
    await messages.setWanted('m1', running, 2, 2000);
    expect(await dueIds(redis, 'messages')).toEqual([]);
  });

  test('has a delivery begin where none is under way, and not before it may be edited again', async () => {
    await messages.setWanted('m1', running, 1, 1000, 3000);
    expect(await messages.setWanted('m1', { ...running, hash: 'further' }, 2, 1500, 3000)).toBeUndefined();
    await messages.update('m1', { channel: 'C0DOCS', ts: '1.1', deliveredHash: 'further', editedAtMs: 2000 });
    await messages.markDelivered('m1', 'further');
    expect(await messages.setWanted('m1', running, 3, 2500, 3000)).toBe(2500);
    expect(await redis.client.zscore(keys.undelivered(), 'm1')).toBe('5000');
    await messages.markDelivered('m1', 'running');
    expect(await messages.setWanted('m1', done, 4, 9000, 3000)).toBe(0);
  });

  test('waits no longer than that where a clock was ahead', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    await messages.update('m1', { deliveredHash: 'running', editedAtMs: 9e12 });
    await messages.markDelivered('m1', 'running');
    expect(await messages.setWanted('m1', done, 2, 2000, 3000)).toBe(3000);
  });

  test('keeps what is known of its delivery', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    await messages.update('m1', { channel: 'C0DOCS', ts: '1.1', deliveredHash: 'running' });
    await messages.setWanted('m1', done, 2, 2000);
    expect(await messages.load('m1')).toEqual({
      wanted: done,
      behindSinceMs: 2000,
      channel: 'C0DOCS',
      ts: '1.1',
      deliveredHash: 'running',
    });
  });

  test('lists those that were first wanted long ago first, whatever came after', async () => {
    await messages.setWanted('late', running, 1, 2000);
    await messages.setWanted('early', running, 1, 1000);
    await messages.setWanted('early', done, 2, 3000);
    expect(await dueIds(redis, 'messages')).toEqual(['early', 'late']);
  });

  test('keeps it as long as its run', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    const livesMs = await redis.client.pttl(keys.message('m1'));
    expect(livesMs).toBeGreaterThan(retention.runMs - 60_000);
    expect(livesMs).toBeLessThanOrEqual(retention.runMs);
  });
});

describe('a message that lasts', () => {
  const lasting = aMessage({ lasting: true });
  const livesMs = () => redis.client.pttl(keys.message('m1'));

  test('has no end, as long as it is wanted so', async () => {
    await messages.setWanted('m1', lasting, 1, 1000);
    expect(await livesMs()).toBe(-1);
    expect((await messages.load('m1'))?.wanted).toEqual(lasting);
    await messages.update('m1', { ts: '1.1' });
    expect(await livesMs()).toBe(-1);
    await messages.setWanted('m1', running, 2, 2000);
    expect(await livesMs()).toBeGreaterThan(retention.runMs - 60_000);
  });

  test('may become one that had an end, though it looks the same', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    expect(await messages.setWanted('m1', lasting, 2, 2000)).toBeUndefined();
    expect(await livesMs()).toBe(-1);
  });

  test('keeps its end against an older version', async () => {
    await messages.setWanted('m1', running, 2, 1000);
    await messages.setWanted('m1', lasting, 1, 2000);
    expect(await livesMs()).toBeGreaterThan(0);
  });
});

test.each([
  { channel: 'C0DOCS', threadTs: '1758376800.000100' },
  { channel: 'C0DOCS' },
  { user: 'U0ANA' },
  { under: 'm0' },
])('a place comes back as it was: %j', async (place) => {
  await messages.setWanted('m1', aMessage({ place }), 1, 1000);
  expect((await messages.load('m1'))?.wanted.place).toEqual(place);
});

describe('what is known of a delivery', () => {
  test('comes back as it was written, each field in its type', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    const known = {
      deliveredHash: '1',
      channel: 'C0DOCS',
      ts: '1758376800.000100',
      postedAtMs: 1,
      checkAtMs: 2,
      editedAtMs: 3,
      failures: 4,
      refusedHash: 'h1',
      form: 'text' as const,
      movedTo: 'U0ANA',
      refusal: 'is_archived',
      deleted: true,
    };
    await messages.update('m1', known);
    expect(await messages.load('m1')).toEqual({ wanted: running, behindSinceMs: 1000, ...known });
  });

  test('is forgotten field by field', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    await messages.update('m1', { postedAtMs: 1, checkAtMs: 2, failures: 3 });
    await messages.update('m1', { postedAtMs: undefined, checkAtMs: undefined, ts: '1.1' });
    expect(await messages.load('m1')).toEqual({
      wanted: running,
      behindSinceMs: 1000,
      failures: 3,
      ts: '1.1',
    });
  });

  test('an update without a change is none', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    await messages.update('m1', {});
    expect(await messages.load('m1')).toEqual({ wanted: running, behindSinceMs: 1000 });
  });
});

describe('how far a message has got', () => {
  test.each<[DeliveryChanges, DeliveryState]>([
    [
      { channel: 'C0DOCS', ts: '1.1', deliveredHash: 'running' },
      { kind: 'shown', channel: 'C0DOCS', ts: '1.1' },
    ],
    [
      { channel: 'C0DOCS', ts: '1.1', deliveredHash: 'earlier' },
      { kind: 'shown', channel: 'C0DOCS', ts: '1.1' },
    ],
    [
      { channel: 'C0DOCS', ts: '1.1', deliveredHash: 'running', refusedHash: 'running', form: 'fallback' },
      { kind: 'shown', channel: 'C0DOCS', ts: '1.1', fellBack: true },
    ],
    [
      { channel: 'C0DOCS', ts: '1.1', deliveredHash: 'earlier', refusedHash: 'earlier', form: 'fallback' },
      { kind: 'shown', channel: 'C0DOCS', ts: '1.1', fellBack: true },
    ],
    [
      { channel: 'C0DOCS', ts: '1.1', deliveredHash: 'running', refusedHash: 'earlier', form: 'fallback' },
      { kind: 'shown', channel: 'C0DOCS', ts: '1.1' },
    ],
    [{ channel: 'C0DOCS' }, { kind: 'waiting' }],
    [{}, { kind: 'waiting' }],
    [
      { refusal: 'is_archived', deliveredHash: 'running' },
      { kind: 'refused', code: 'is_archived' },
    ],
    [{ refusal: 'is_archived', deliveredHash: 'earlier' }, { kind: 'waiting' }],
    [
      { channel: 'D0ANA', ts: '1.2', deliveredHash: 'running', refusal: 'is_archived', movedTo: 'U0ANA' },
      { kind: 'shown', channel: 'D0ANA', ts: '1.2' },
    ],
  ])('with %j known: %j', async (known, state) => {
    await messages.setWanted('m1', running, 1, 1000);
    await messages.update('m1', known);
    expect(await messages.state('m1')).toEqual(state);
  });

  test('an unknown message waits, and has no record', async () => {
    expect(await messages.state('never')).toEqual({ kind: 'waiting' });
    expect(await messages.load('never')).toBeUndefined();
  });
});

describe('marking delivered', () => {
  test('takes a message from the undelivered ones', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    expect(await messages.markDelivered('m1', 'running')).toBe(true);
    expect(await dueIds(redis, 'messages')).toEqual([]);
  });

  test('when something newer is wanted by now says so, and leaves it listed', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    await messages.setWanted('m1', done, 2, 2000);
    expect(await messages.markDelivered('m1', 'running')).toBe(false);
    expect(await dueIds(redis, 'messages')).toEqual(['m1']);
  });

  test('of an older state puts a message back whose newer one was delivered meanwhile', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    await messages.setWanted('m1', done, 2, 2000);
    expect(await messages.markDelivered('m1', 'done')).toBe(true);
    expect(await messages.markDelivered('m1', 'running')).toBe(false);
    expect(await dueIds(redis, 'messages')).toEqual(['m1']);
  });

  test('a message without a record is forgotten', async () => {
    await messages.setWanted('m1', running, 1, 1000);
    await redis.client.del(keys.message('m1'));
    expect(await messages.markDelivered('m1', undefined)).toBe(true);
    expect(await dueIds(redis, 'messages')).toEqual([]);
  });
});

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createDueStore, type DueStore } from '../../src/store/due.ts';
import { keys } from '../../src/store/keys.ts';
import { createMessageStore, type MessageStore } from '../../src/store/messages.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { redisForTests } from '../support/redis.ts';
import { aMessage } from '../support/store/builders.ts';

const redis = redisForTests();
let due: DueStore;
let messages: MessageStore;
let nowMs: number;
beforeAll(() => {
  due = createDueStore(redis.client);
  messages = createMessageStore(redis.client);
});
beforeEach(async () => {
  nowMs = await createRunStore(redis.client).timeMs();
});

test('the oldest run of each job that is due is known', async () => {
  const list = { 'export a': -90_000, 'export b': -5000, 'link c': -30_000, 'agent-thread d': 60_000 };
  for (const [member, inMs] of Object.entries(list))
    await redis.client.zadd(keys.activeRuns(), nowMs + inMs, member);
  const found = await due.dueFor('runs');
  expect([...found.keys()]).toEqual(['export', 'link']);
  expect(found.get('export')).toBeGreaterThanOrEqual(90_000);
  expect(found.get('export')).toBeLessThan(150_000);
});

test('so is that of a list, though one that was missing from it is due since the beginning of time', async () => {
  expect((await due.dueFor('messages')).get('')).toBeUndefined();
  await redis.client.zadd(keys.undelivered(), 0, 'missing', nowMs - 7000, 'old', nowMs + 60_000, 'later');
  expect((await due.dueFor('messages')).get('')).toBeGreaterThanOrEqual(7000);
  expect((await due.dueFor('messages')).get('')).toBeLessThan(67_000);
});

test('a message is behind since it was first wanted otherwise than Slack shows it', async () => {
  const want = (hash: string, atMs: number) => messages.setWanted('m1', aMessage({ hash }), atMs, atMs);
  await want('one', 1000);
  await want('two', 2000);
  expect(await messages.behindSince()).toEqual({ state: 1000 });
  await messages.update('m1', { deliveredHash: 'two' });
  await want('three', 3000);
  expect(await messages.behindSince()).toEqual({ state: 3000 });
  expect(await messages.load('m1')).toMatchObject({ behindSinceMs: 3000 });
});

test('the oldest of each urgency counts', async () => {
  const want = (key: string, atMs: number, more: Parameters<typeof aMessage>[0]) =>
    messages.setWanted(key, aMessage(more), 1, atMs);
  await want('e1', 5000, { kind: 'ending' });
  await want('e2', 4000, { kind: 'ending', interactive: true });
  await want('c', 3000, { interactive: true });
  await want('p', 2000, { kind: 'progress' });
  await want('u', 1000, { kind: 'ending', lowPriority: true });
  expect(await messages.behindSince()).toEqual({
    ending: 4000,
    clicked: 3000,
    progress: 2000,
    lowPriority: 1000,
  });
  await messages.markDelivered('p', 'running');
  expect(await messages.behindSince()).not.toHaveProperty('progress');
});

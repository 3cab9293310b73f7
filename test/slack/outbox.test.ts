import { beforeAll, beforeEach, expect, test } from 'vitest';
import { message } from '../../src/slack/blocks.ts';
import type { Outbox, OutboxMessage } from '../../src/slack/outbox.ts';
import { createMessageStore, type MessageStore } from '../../src/store/messages.ts';
import { redisForTests } from '../support/redis.ts';
import { anOutbox } from '../support/slack/world.ts';

const redis = redisForTests();
let messages: MessageStore;
let outbox: Outbox;
/** Keys of the messages that somebody was told to deliver. */
let woken: string[];
beforeAll(() => {
  messages = createMessageStore(redis.client);
});
beforeEach(() => {
  woken = [];
  outbox = anOutbox(redis.client, async ({ id }) => void woken.push(id));
});

const place = { channel: 'C0DOCS', threadTs: '1.1' };
const shown = (changes: Partial<OutboxMessage> = {}): OutboxMessage => ({
  key: 'm1',
  place,
  kind: 'state',
  message: message([['Idle']]),
  ...changes,
});

test('what should be shown is kept as it was said, and somebody delivers it', async () => {
  await outbox.publish('T0ACME', shown({ fallbackRecipient: 'U0ANA', lasting: true }), 1);
  expect((await messages.load('m1'))?.wanted).toMatchObject({
    teamId: 'T0ACME',
    place,
    kind: 'state',
    text: 'Idle',
    fallbackRecipient: 'U0ANA',
    lasting: true,
  });
  expect(woken).toEqual(['m1']);
});

const isDelivered = async () => messages.markIdle('m1', (await messages.load('m1'))?.wakes ?? 0);

test('what is published again is delivered when it looks different, or belongs elsewhere', async () => {
  await outbox.publish('T0ACME', shown(), 1);
  await isDelivered();
  await outbox.publish('T0ACME', shown({ lasting: true }), 2);
  expect(woken).toEqual(['m1']);
  await outbox.publish('T0ACME', shown({ message: message([['Working']]) }), 3);
  await isDelivered();
  await outbox.publish('T0ACME', shown({ message: message([['Working']]), place: { channel: 'C0DOCS' } }), 4);
  expect(woken).toEqual(['m1', 'm1', 'm1']);
});

test('whoever delivers an earlier state delivers the next one, too', async () => {
  await outbox.publish('T0ACME', shown(), 1);
  await outbox.publish('T0ACME', shown({ message: message([['Working']]) }), 2);
  expect(woken).toEqual(['m1']);
});

test('the next attempt is delivered though it looks the same, and a first one is as if none was said', async () => {
  await outbox.publish('T0ACME', shown(), 1);
  await isDelivered();
  await outbox.publish('T0ACME', shown({ attempt: 1 }), 2);
  expect(woken).toEqual(['m1']);
  await outbox.publish('T0ACME', shown({ attempt: 2 }), 3);
  await outbox.publish('T0ACME', shown({ attempt: 2 }), 4);
  expect(woken).toEqual(['m1', 'm1']);
});

test('what is to be shown where Slack refuses the blocks is kept, and a new one is delivered', async () => {
  const publish = (fallback: string, version: number) =>
    outbox.publish('T0ACME', shown({ fallback: message([[fallback]]) }), version);
  await outbox.publish('T0ACME', shown(), 1);
  await isDelivered();
  await publish('Quiet', 2);
  expect((await messages.load('m1'))?.wanted.fallback).toEqual(message([['Quiet']]));
  await publish('Quiet', 3);
  expect(woken).toEqual(['m1', 'm1']);
  await isDelivered();
  await publish('Silent', 4);
  expect(woken).toEqual(['m1', 'm1', 'm1']);
});

import { beforeEach, expect, test } from 'vitest';
import { message } from '../../src/slack/blocks.ts';
import type { OutboxMessage } from '../../src/slack/outbox.ts';
import { createMessageStore } from '../../src/store/messages.ts';
import { redisForTests } from '../support/redis.ts';
import { anOutbox } from '../support/slack/world.ts';

const redis = redisForTests();
const place = { channel: 'C0DOCS', threadTs: '1.1' };
const shown: OutboxMessage = { key: 'm1', place, kind: 'state', message: message([['Idle']]) };

/** Keys of the messages whose delivery was woken. */
let woken: string[];
let version: number;
beforeEach(() => {
  woken = [];
  version = 0;
});

/** Publishes a form, and returns whether its delivery was woken; everything before is delivered. */
async function publish(changes: Partial<OutboxMessage> = {}): Promise<boolean> {
  const messages = createMessageStore(redis.client);
  const outbox = anOutbox(redis.client, async ({ id }) => void woken.push(id));
  await messages.markIdle('m1', (await messages.load('m1'))?.wakes ?? 0);
  woken = [];
  version += 1;
  await outbox.publish('T0ACME', { ...shown, ...changes }, version);
  return woken.length > 0;
}

test('a message is stored as it was published, and delivered', async () => {
  const more = { fallbackRecipient: 'U0ANA', lasting: true, fallback: message([['Quiet']]) } as const;
  expect(await publish(more)).toBe(true);
  const { wanted } = (await createMessageStore(redis.client).load('m1')) ?? {};
  expect(wanted).toMatchObject({ teamId: 'T0ACME', place, kind: 'state', text: 'Idle', ...more });
});

test.each<[string, Partial<OutboxMessage>]>([
  ['looks different', { message: message([['Working']]) }],
  ['belongs elsewhere', { place: { channel: 'C0DOCS' } }],
  ['has another attempt', { attempt: 2 }],
  ['has another fallback', { fallback: message([['Quiet']]) }],
])('what is published again is delivered when it %s', async (_, changes) => {
  expect(await publish()).toBe(true);
  expect(await publish({ attempt: 1, lasting: true })).toBe(false);
  expect(await publish(changes)).toBe(true);
  expect(await publish(changes)).toBe(false);
});

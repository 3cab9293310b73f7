import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Log } from '../../src/runtime/log.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { connectForRequests } from '../../src/store/redis/connections.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { createThreadStore } from '../../src/store/threads.ts';
import { redisForTests } from '../support/redis.ts';
import { keptLog } from '../support/runtime/log.ts';
import { aThread, place } from '../support/store/builders.ts';

const TEXT = 'Delete the pricing page of the secret launch';
const thread = aThread({ note: TEXT });
const instruction = { event: { text: TEXT }, dedupeKey: '1.1' };

const redis = redisForTests();
let connection: Redis;
let log: Log;
let text: () => string;
afterEach(() => connection.disconnect());
beforeEach(async () => {
  const runs = createRunStore(redis.client);
  await runs.accept(thread, { deadlineMs: (await runs.timeMs()) + 10_000 });
  await createThreadStore(redis.client).follow(thread, place);
  connection = connectForRequests({ url: redis.url }, { ...defaultTiming, intakeMs: 100 }, () => {}) as Redis;
  await once(connection, 'ready');
  ({ log, text } = keptLog());
});

/** Everything that writes what people wrote. */
const writes: Record<string, () => Promise<unknown>> = {
  'a new thread': () => createRunStore(connection).accept({ ...thread, id: 't2' }),
  'the next state of a thread': () => createRunStore(connection).saveStep(thread),
  'a reply in a followed thread': () =>
    createThreadStore(connection).appendToThread(place, instruction, false),
};

const troubles: [string, RegExp, (run: () => Promise<void>) => Promise<void>][] = [
  [
    'is a replica',
    /READONLY/,
    async (run) => {
      await redis.client.replicaof('127.0.0.1', 1);
      await run().finally(() => redis.client.replicaof('NO', 'ONE'));
    },
  ],
  [
    'does not answer in time',
    /timed out/i,
    async (run) => {
      redis.freeze();
      await run().finally(() => redis.thaw());
    },
  ],
];

describe.each(troubles)('while Redis %s', (_, says, during) => {
  test.each(Object.keys(writes))('no log holds the text of %s', async (name) => {
    await during(async () => {
      const error = await writes[name]?.().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(String(error)).toMatch(says);
      log.error({ err: error }, 'a request failed');
      log.warn({ err: new Error('around it', { cause: error }), errors: [error] });
    });
    expect(text()).toMatch(says);
    expect(text()).not.toContain('pricing');
  });
});

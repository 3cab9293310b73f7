import { expect, test } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { createKeyWatch, createRejectedKeyStore } from '../../src/store/rejected-keys.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();

test('a key is rejected since it first was, until it works', async () => {
  const store = createRejectedKeyStore(redis.client);
  expect(await store.reject('one', 1000)).toBe(1000);
  expect(await store.reject('one', 5000)).toBe(1000);
  expect(await store.since(['other', 'one'])).toEqual([undefined, 1000]);
  expect(await store.since([])).toEqual([]);
  await store.accept('one');
  expect(await store.since(['one'])).toEqual([undefined]);
});

test('it is forgotten a week after the last call', async () => {
  const store = createRejectedKeyStore(redis.client);
  await store.reject('one', 1000);
  await redis.client.pexpire(keys.rejectedKey('one'), 5000);
  await store.reject('one', 2000);
  expect(await redis.client.pttl(keys.rejectedKey('one'))).toBeGreaterThan(retention.rejectedKeyMs - 60_000);
});

test('of many calls only what is new is kept, and what stays as it is once an hour', async () => {
  let nowMs = 1000;
  const kept: string[] = [];
  const watch = createKeyWatch(
    {
      async reject(keyId) {
        kept.push(`${keyId} rejected`);
        return nowMs;
      },
      async accept(keyId) {
        kept.push(`${keyId} accepted`);
      },
    },
    () => nowMs,
    () => {},
  );
  for (const accepted of [true, true, false, false]) watch('one', accepted);
  watch('two', false);
  expect(kept.splice(0)).toEqual(['one accepted', 'one rejected', 'two rejected']);
  nowMs += 3_600_000;
  watch('one', false);
  watch('one', true);
  watch('one', true);
  nowMs += 3_600_000;
  watch('one', true);
  watch('one', true);
  expect(kept).toEqual(['one rejected', 'one accepted', 'one accepted']);
});

test('what could not be kept is kept after the next call', async () => {
  const problems: Error[] = [];
  let calls = 0;
  const watch = createKeyWatch(
    {
      reject: async () => 0,
      accept() {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error('Redis is away')) : Promise.resolve();
      },
    },
    () => 0,
    (problem) => problems.push(problem),
  );
  watch('one', true);
  await expect.poll(() => problems.length).toBe(1);
  watch('one', true);
  watch('one', true);
  expect(calls).toBe(2);
});

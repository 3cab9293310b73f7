import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { threadClaim } from '../../src/store/threads.ts';
import { aThread, place } from '../support/store/builders.ts';
import { threadStoresForTests } from '../support/store/threads.ts';

const stores = threadStoresForTests();
const { redis, claim, said, tell, post, accept, open, heard, texts, lives, following, settled } = stores;

describe('what happens in a thread', () => {
  test('waits for the run that follows it, oldest first', async () => {
    await following();
    expect(await tell('one')).toEqual({ kind: 'kept', runId: 't1' });
    expect(await tell('two', true)).toEqual({ kind: 'kept', runId: 't1' });
    expect(await heard()).toEqual(texts('one', 'two'));
  });

  test('finds the run that claimed the thread when it was accepted', async () => {
    await accept(aThread({ claim }));
    expect(await tell('one')).toEqual({ kind: 'kept', runId: 't1' });
  });

  test('has an idle run stepped', async () => {
    await settled();
    await tell('one');
    expect(await stores.runs.active()).toEqual([{ job: 'agent-thread', id: 't1' }]);
  });

  test('keeps a run from becoming idle that is just about to', async () => {
    await following();
    const opened = await open();
    await tell('one');
    expect(await stores.runs.markIdle(aThread(), false, opened?.wakes)).toBe(false);
    expect(await stores.runs.active()).toHaveLength(1);
    expect(await stores.runs.markIdle(aThread(), false, (await open())?.wakes)).toBe(true);
    expect(await stores.runs.active()).toEqual([]);
  });

  test('is kept once, however often it is told, also when it was taken long ago', async () => {
    await following();
    await tell('one');
    await stores.runs.saveStep(aThread(), { consumed: 1 });
    expect(await tell('one')).toEqual({ kind: 'repeated' });
    expect(await heard()).toEqual([]);
    expect(await tell('two')).toEqual({ kind: 'kept', runId: 't1' });
  });

  test('under the same name in two threads is two things', async () => {
    await following();
    await tell('one');
    const other = { ...place, rootTs: '2.2' };
    await accept(aThread({ id: 't2', claim: threadClaim(other) }));
    expect(await stores.threads.appendToThread(other, said('one'), false)).toMatchObject({
      runId: 't2',
    });
  });

  test('is known by its name for seven days', async () => {
    await following();
    await tell('one');
    expect(await lives(keys.seenEvents(claim))).toBeGreaterThan(retention.dedupeMs - 30_000);
    expect(await lives(keys.seenEvents(claim))).toBeLessThanOrEqual(retention.dedupeMs);
    const day = 24 * 3_600_000;
    await redis.client.zincrby(keys.seenEvents(claim), -6.9 * day, 'one');
    expect(await tell('one')).toEqual({ kind: 'repeated' });
    await redis.client.zincrby(keys.seenEvents(claim), -0.2 * day, 'one');
    await tell('two');
    expect(await redis.client.zrange(keys.seenEvents(claim), '0', '-1')).toEqual(['two']);
    expect(await tell('one')).toMatchObject({ kind: 'kept' });
  });

  test('is nobody’s when no run follows, and leaves nothing behind', async () => {
    expect(await tell('one')).toEqual({ kind: 'notFollowed' });
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('is nobody’s when the record of its run is gone; the thread is free then', async () => {
    await following();
    await redis.client.del(keys.run('t1'));
    expect(await tell('one', true)).toEqual({ kind: 'notFollowed' });
    expect(await redis.client.exists(keys.claim(claim), keys.seenEvents(claim), keys.inbox('t1'))).toBe(0);
    expect(await stores.threads.followed('T0ACME')).toEqual([]);
  });
});

describe('what comes under a message of ours before its run knows', () => {
  test('is kept once, for ten minutes', async () => {
    expect(await tell('one', true)).toEqual({ kind: 'early' });
    expect(await tell('one', true)).toEqual({ kind: 'repeated' });
    expect(await redis.client.llen(keys.early(claim))).toBe(1);
    expect(await lives(keys.early(claim))).toBeLessThanOrEqual(10 * 60_000);
    expect(await lives(keys.early(claim))).toBeGreaterThan(9.5 * 60_000);
  });

  test('comes to the run before all else, in order, and wakes it', async () => {
    await accept();
    for (const text of ['one', 'two', 'three']) await tell(text, true);
    await post('posted');
    const wakes = (await open())?.wakes;
    await stores.threads.follow(aThread(), place);
    await tell('four');
    expect(await heard()).toEqual(texts('one', 'two', 'three', 'posted', 'four'));
    expect(await redis.client.exists(keys.early(claim))).toBe(0);
    expect(await lives(keys.inbox('t1'))).toBe(-1);
    expect(await stores.runs.markIdle(aThread(), false, wakes)).toBe(false);
  });

  test('wakes a run that is idle', async () => {
    await accept();
    await stores.runs.markIdle(aThread(), false);
    await tell('one', true);
    await stores.threads.follow(aThread(), place);
    expect(await stores.runs.active()).toEqual([{ job: 'agent-thread', id: 't1' }]);
  });
});

describe('what is posted to a run', () => {
  test('waits for it, once, and wakes it', async () => {
    await settled();
    expect(await post('one')).toBe('kept');
    expect(await post('one')).toBe('repeated');
    expect(await open()).toEqual({ run: aThread(), inbox: texts('one'), wakes: 1 });
    expect(await stores.runs.active()).toEqual([{ job: 'agent-thread', id: 't1' }]);
  });

  test('after its deadline is refused, and nothing is written', async () => {
    await settled();
    expect(await post('one', (await stores.runs.timeMs()) - 0.5)).toBe('late');
    expect(await open()).toEqual({ run: aThread(), inbox: [], wakes: 0 });
    expect(await stores.runs.active()).toEqual([]);
    expect(await post('one')).toBe('kept');
  });

  test('that was kept is a repeat also after the deadline: it is not told as refused', async () => {
    await following();
    await post('one');
    expect(await post('one', (await stores.runs.timeMs()) - 0.5)).toBe('repeated');
    expect(await heard()).toEqual(texts('one'));
  });

  test('to one that is gone leaves nothing behind', async () => {
    expect(await post('one')).toBe('gone');
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('that has an end ends with it', async () => {
    await accept(aThread({ lasting: false }));
    await redis.client.pexpire(keys.run('t1'), 5000);
    await post('one');
    expect(await lives(keys.inbox('t1'))).toBeGreaterThan(0);
    expect(await lives(keys.inbox('t1'))).toBeLessThanOrEqual(5000);
  });
});

describe('opening', () => {
  test('gives a hundred at most, the oldest', async () => {
    await following();
    const all = Array.from({ length: 103 }, (_, index) => String(index));
    for (const text of all) await tell(text);
    expect(await heard()).toEqual(texts(...all.slice(0, 100)));
    await stores.runs.saveStep(aThread(), { consumed: 100 });
    expect(await heard()).toEqual(texts('100', '101', '102'));
  });

  test('one that is gone gives nothing', async () => {
    expect(await open()).toBeUndefined();
  });

  test('a damaged one rejects', async () => {
    await following();
    await redis.client.hset(keys.run('t1'), 'json', JSON.stringify({ ...aThread(), note: 1 }));
    await expect(open()).rejects.toThrow(z.ZodError);
  });
});

import { describe, expect, test } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { threadClaim } from '../../src/store/threads.ts';
import { aThread, place } from '../support/store/builders.ts';
import { threadStoresForTests } from '../support/store/threads.ts';

const stores = threadStoresForTests();
const { redis, claim, said, tell, post, accept, open, heard, texts, lives, following, settled } = stores;
const active = async () => (await stores.runs.active()).map(({ id }) => id);
const other = { ...place, rootTs: '2.2' };

describe('what happens in a thread', () => {
  test('waits for the run that follows it, oldest first, and wakes it', async () => {
    await settled();
    expect(await tell('one')).toEqual({ kind: 'kept', runId: 't1' });
    expect(await active()).toEqual(['t1']);
    const opened = await open();
    await tell('two', true);
    expect(await stores.runs.markIdle(aThread(), false, opened?.wakes)).toBe(false);
    expect(await heard()).toEqual(texts('one', 'two'));
  });

  test('is kept once in seven days, also when it was consumed long ago, for each thread', async () => {
    await following();
    await tell('one');
    await stores.runs.saveStep(aThread(), { consumed: 1 });
    expect(await tell('one')).toEqual({ kind: 'repeated' });
    expect(await lives(keys.seenEvent(claim, 'one'))).toBeGreaterThan(retention.dedupeMs - 30_000);
    await accept(aThread({ id: 't2', claim: threadClaim(other) }));
    expect(await stores.threads.appendToThread(other, said('one'), false)).toMatchObject({ runId: 't2' });
    await redis.client.pexpire(keys.seenEvent(claim, 'one'), 0);
    expect(await tell('one')).toMatchObject({ kind: 'kept' });
  });

  test('is nobody’s when no run follows, or its record is gone', async () => {
    expect(await tell('one')).toEqual({ kind: 'notFollowed' });
    expect(await redis.client.keys('*')).toEqual([]);
    await following();
    await redis.client.del(keys.run('t1'));
    expect(await tell('one', true)).toEqual({ kind: 'notFollowed' });
    expect(await redis.client.exists(keys.seenEvent(claim, 'one'), keys.inbox('t1'))).toBe(0);
  });
});

describe('what comes under a message of ours before its run knows', () => {
  test('is kept once, for ten minutes', async () => {
    expect(await tell('one', true)).toEqual({ kind: 'early' });
    expect(await tell('one', true)).toEqual({ kind: 'repeated' });
    expect(await redis.client.llen(keys.early(claim))).toBe(1);
    expect(await lives(keys.early(claim))).toBeLessThanOrEqual(10 * 60_000);
  });

  test('comes to the run before all else, in order, and wakes it', async () => {
    await accept();
    for (const text of ['one', 'two']) await tell(text, true);
    await post('posted');
    await stores.runs.markIdle(aThread(), false);
    await stores.threads.follow(aThread(), place);
    await tell('three');
    expect(await heard()).toEqual(texts('one', 'two', 'posted', 'three'));
    expect(await redis.client.exists(keys.early(claim))).toBe(0);
    expect(await lives(keys.inbox('t1'))).toBe(-1);
    expect(await active()).toEqual(['t1']);
  });
});

describe('what is appended to the inbox of a run', () => {
  test('waits for it, once, and wakes it', async () => {
    await settled();
    expect([await post('one'), await post('one')]).toEqual(['kept', 'repeated']);
    expect(await open()).toEqual({ run: aThread(), inbox: texts('one'), wakes: 1 });
    expect(await active()).toEqual(['t1']);
  });

  test('after its deadline is refused, unless it was kept before', async () => {
    await settled();
    const lateMs = (await stores.runs.timeMs()) - 0.5;
    await expect(post('one', lateMs)).rejects.toThrow('LATE');
    expect([await heard(), await active()]).toEqual([[], []]);
    expect([await post('one'), await post('one', lateMs)]).toEqual(['kept', 'repeated']);
  });

  test('to one that is gone leaves nothing behind, and ends with one that has an end', async () => {
    expect(await post('one')).toBe('gone');
    expect(await redis.client.keys('*')).toEqual([]);
    await accept(aThread({ permanent: false }));
    await redis.client.pexpire(keys.run('t1'), 5000);
    await post('one');
    expect(await lives(keys.inbox('t1'))).toBeGreaterThan(0);
    expect(await lives(keys.inbox('t1'))).toBeLessThanOrEqual(5000);
  });

  test('comes in batches of a hundred; a save drops what was consumed, and no more', async () => {
    await following();
    const all = Array.from({ length: 103 }, (_, index) => String(index));
    for (const text of all) await tell(text);
    expect(await heard()).toEqual(texts(...all.slice(0, 100)));
    const saved = await stores.runs.saveStep(aThread({ note: 'second' }), { consumed: 100 });
    const next = aThread({ rev: 2, note: 'second' });
    expect(saved).toEqual({ run: next, inbox: texts('100', '101', '102'), wakes: 103 });
    expect(await open()).toEqual(saved);
    // Of a state that is not the latest, nothing is saved or dropped.
    expect(await stores.runs.saveStep(aThread(), { consumed: 3 })).toBeUndefined();
    expect(await open()).toEqual(saved);
  });
});

describe('following', () => {
  const follow = (changes = {}) => stores.threads.follow(aThread(changes), place);
  const holder = () => redis.client.get(keys.claim(claim));

  test('takes the thread without end, lists the run, and is safe to repeat', async () => {
    await following();
    await tell('one');
    const before = await open();
    expect(await follow()).toBeUndefined();
    expect(await open()).toEqual(before);
    expect([await holder(), await lives(keys.claim(claim))]).toEqual(['t1', -1]);
    expect(await stores.threads.followed('T0ACME')).toEqual(['t1']);
  });

  test('a thread that another run follows answers that one, unless it is gone', async () => {
    await following();
    await accept(aThread({ id: 't2' }));
    expect([await follow({ id: 't2' }), await holder()]).toEqual(['t1', 't1']);
    await redis.client.del(keys.run('t1'));
    expect([await follow({ id: 't2' }), await holder()]).toEqual([undefined, 't2']);
    await redis.client.flushall();
    expect(await follow()).toBeUndefined();
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('lists what is needed to choose among them, as it was last saved', async () => {
    const run = { ...aThread(), project: 'acme', ephemerals: ['not listed'] };
    await accept(run);
    await stores.threads.follow(run, place);
    await stores.runs.saveStep({ ...run, agentJobId: 'aj_1' });
    const entry = { id: 't1', job: 'agent-thread', project: 'acme', agentJobId: 'aj_1' };
    expect(await stores.runs.indexed('agent-thread', 'T0ACME')).toEqual([entry]);
    await stores.threads.unfollow('T0ACME', 't1');
    await stores.runs.saveStep({ ...run, rev: 2 });
    expect(await redis.client.exists(keys.index('agent-thread', 'T0ACME'))).toBe(0);
  });

  test('by a run that has an end ends with it, with what waits for it, and with the save that frees the thread', async () => {
    const own = [keys.run('t1'), keys.inbox('t1'), keys.claim(claim)];
    const ends = () => Promise.all(own.map(async (key) => (await lives(key)) > 0));
    await accept(aThread({ permanent: false }));
    await tell('early', true);
    await follow({ permanent: false });
    expect(await ends()).toEqual([true, true, true]);
    await stores.runs.saveStep(aThread({ claim }));
    expect(await ends()).toEqual([false, false, false]);
    await stores.runs.saveStep(aThread({ claim, rev: 2, permanent: false }));
    expect(await ends()).toEqual([true, true, true]);
    await stores.runs.saveStep(aThread({ claim, rev: 3, permanent: false }), { release: true });
    expect(await tell('one')).toEqual({ kind: 'notFollowed' });
  });
});

import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { createRunStore, type RunStore, UnreadableRun } from '../../src/store/runs.ts';
import { createThreadStore, type ThreadStore, threadClaim } from '../../src/store/threads.ts';
import { redisForTests } from '../support/redis.ts';
import { aThread, place, thread } from '../support/store/builders.ts';

const redis = redisForTests();
let runs: RunStore;
let threads: ThreadStore;
/** On the clock of Redis, a minute from now. */
let inTime: number;
beforeAll(() => {
  runs = createRunStore(redis.client);
  threads = createThreadStore(redis.client);
});
beforeEach(async () => {
  inTime = (await runs.timeMs()) + 60_000;
});

const claim = threadClaim(place);
const said = (text: string) => ({ event: { text }, dedupeKey: text });
const tell = (text: string, underOurs = false) =>
  threads.appendToThread('agent-thread', place, said(text), underOurs);
const post = (text: string, deadlineMs = inTime) =>
  threads.appendToInbox('agent-thread', 't1', said(text), deadlineMs);
const accept = (run = aThread()) => runs.accept(run, inTime, 60_000, undefined);
const open = (id = 't1') => threads.loadWithInbox(id, thread);
const heard = async (id = 't1') => (await open(id))?.inbox;
const texts = (...all: string[]) => all.map((text) => ({ text }));
const lives = (key: string) => redis.client.pttl(key);

async function following(run = aThread()) {
  await accept(run);
  await threads.follow(run, place);
  return run;
}

/** Somebody had a look at the run, and settled it. */
async function settled() {
  await following();
  expect(await runs.markIdle(aThread(), false)).toBe(true);
}

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

  test('says who follows it, until an event finds nobody', async () => {
    const store = createThreadStore(redis.client);
    const hear = (text: string) => store.appendToThread('agent-thread', place, said(text), false);
    await following();
    expect(store.lastFollower(place)).toBe(undefined);
    await hear('one');
    await hear('one');
    expect(store.lastFollower(place)).toBe('t1');
    await redis.client.del(keys.run('t1'));
    await hear('two');
    expect(store.lastFollower(place)).toBe(undefined);
  });

  test('has an idle run stepped', async () => {
    await settled();
    await tell('one');
    expect(await runs.active()).toEqual([{ job: 'agent-thread', id: 't1' }]);
  });

  test('keeps a run from becoming idle that is just about to', async () => {
    await following();
    const opened = await open();
    await tell('one');
    expect(await runs.markIdle(aThread(), false, opened?.wakes)).toBe(false);
    expect(await runs.active()).toHaveLength(1);
    expect(await runs.markIdle(aThread(), false, (await open())?.wakes)).toBe(true);
    expect(await runs.active()).toEqual([]);
  });

  test('is kept once, however often it is told, also when it was taken long ago', async () => {
    await following();
    await tell('one');
    await threads.save(aThread(), 1);
    expect(await tell('one')).toEqual({ kind: 'repeated' });
    expect(await heard()).toEqual([]);
    expect(await tell('two')).toEqual({ kind: 'kept', runId: 't1' });
  });

  test('under the same name in two threads is two things', async () => {
    await following();
    await tell('one');
    const other = { ...place, rootTs: '2.2' };
    await accept(aThread({ id: 't2', claim: threadClaim(other) }));
    expect(await threads.appendToThread('agent-thread', other, said('one'), false)).toMatchObject({
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
    expect(await threads.followed('T0ACME')).toEqual([]);
  });
});

describe('what comes under a message of ours before its run knows', () => {
  test('is kept as long as a run, and once; for ten minutes from when a worker is there', async () => {
    expect(await tell('one', true)).toEqual({ kind: 'early' });
    expect(await tell('one', true)).toEqual({ kind: 'repeated' });
    expect(await redis.client.llen(keys.early(claim))).toBe(1);
    expect(await lives(keys.early(claim))).toBeGreaterThan(29 * 24 * 3_600_000);
    await threads.startEarlyExpiry();
    expect(await lives(keys.early(claim))).toBeLessThanOrEqual(10 * 60_000);
    expect(await lives(keys.early(claim))).toBeGreaterThan(9.5 * 60_000);
  });

  test('comes to the run before all else, in order, and wakes it', async () => {
    await accept();
    for (const text of ['one', 'two', 'three']) await tell(text, true);
    await post('posted');
    const wakes = (await open())?.wakes;
    await threads.follow(aThread(), place);
    await tell('four');
    expect(await heard()).toEqual(texts('one', 'two', 'three', 'posted', 'four'));
    expect(await redis.client.exists(keys.early(claim))).toBe(0);
    expect(await lives(keys.inbox('t1'))).toBe(-1);
    expect(await runs.markIdle(aThread(), false, wakes)).toBe(false);
  });

  test('wakes a run that is idle', async () => {
    await accept();
    await runs.markIdle(aThread(), false);
    await tell('one', true);
    await threads.follow(aThread(), place);
    expect(await runs.active()).toEqual([{ job: 'agent-thread', id: 't1' }]);
  });
});

describe('what is posted to a run', () => {
  test('waits for it, once, and wakes it', async () => {
    await settled();
    expect(await post('one')).toBe('kept');
    expect(await post('one')).toBe('repeated');
    expect(await open()).toEqual({ run: aThread(), inbox: texts('one'), wakes: 1 });
    expect(await runs.active()).toEqual([{ job: 'agent-thread', id: 't1' }]);
  });

  test('after its deadline is refused, and nothing is written', async () => {
    await settled();
    expect(await post('one', (await runs.timeMs()) - 0.5)).toBe('late');
    expect(await open()).toEqual({ run: aThread(), inbox: [], wakes: 0 });
    expect(await runs.active()).toEqual([]);
    expect(await post('one')).toBe('kept');
  });

  test('that was kept is a repeat also after the deadline: it is not told as refused', async () => {
    await following();
    await post('one');
    expect(await post('one', (await runs.timeMs()) - 0.5)).toBe('repeated');
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
    await threads.save(aThread(), 100);
    expect(await heard()).toEqual(texts('100', '101', '102'));
  });

  test('one that is gone gives nothing', async () => {
    expect(await open()).toBeUndefined();
  });

  test('one that cannot be read rejects', async () => {
    await following();
    await redis.client.hset(keys.run('t1'), 'json', JSON.stringify({ ...aThread(), note: 1 }));
    await expect(open()).rejects.toThrow(UnreadableRun);
  });
});

describe('saving', () => {
  test('keeps the next state and forgets what was taken, and no more', async () => {
    await following();
    for (const text of ['one', 'two', 'three']) await tell(text);
    const next = aThread({ rev: 2, note: 'second' });
    const found = { run: next, inbox: texts('three'), wakes: 3 };
    expect(await threads.save(aThread({ note: 'second' }), 2)).toEqual({ kind: 'saved', ...found });
    expect(await open()).toEqual(found);
  });

  test('with nothing taken forgets nothing', async () => {
    await following();
    await tell('one');
    await threads.save(aThread(), 0);
    expect(await heard()).toEqual(texts('one'));
  });

  test('of a state that is not the latest changes nothing', async () => {
    await following();
    await tell('one');
    await threads.save(aThread({ note: 'second' }), 0);
    expect(await threads.save(aThread({ note: 'other' }), 1)).toEqual({ kind: 'stale' });
    expect(await open()).toMatchObject({ run: { note: 'second' }, inbox: texts('one') });
  });

  test('of a run that is gone brings nothing back', async () => {
    expect(await threads.save(aThread(), 0)).toEqual({ kind: 'stale' });
    expect(await redis.client.keys('*')).toEqual([]);
  });

  describe('together with another run', () => {
    const other = (changes: object = {}) => aThread({ id: 'w1', claim: undefined, ...changes });
    const both = (wakes: boolean, rev = 1, otherRev = 1) =>
      threads.saveWith(aThread({ rev, note: 'second' }), other({ rev: otherRev, note: 'other' }), wakes);
    const kept = async () => [(await open())?.run.note, await open('w1')];
    beforeEach(async () => {
      await following();
      await accept(other());
      await runs.markIdle(other(), false);
      await tell('one');
    });

    test('keeps both, and tells what the next step finds', async () => {
      const found = { run: aThread({ rev: 2, note: 'second' }), inbox: texts('one'), wakes: 1 };
      expect(await both(false)).toEqual({ kind: 'saved', ...found });
      const saved = { run: other({ rev: 2, note: 'other' }), inbox: [], wakes: 0 };
      expect(await kept()).toEqual(['second', saved]);
      expect((await runs.active()).map(({ id }) => id)).toEqual(['t1']);
    });

    test('wakes that one in the same write', async () => {
      await both(true);
      expect((await open('w1'))?.wakes).toBe(1);
      expect((await runs.active()).map(({ id }) => id)).toEqual(['t1', 'w1']);
    });

    test.each([
      ['stale', 2, 1],
      ['otherStale', 1, 2],
    ])('where one is not the latest (%s), changes neither', async (kind, rev, otherRev) => {
      const before = await kept();
      expect(await both(true, rev, otherRev)).toEqual({ kind });
      expect(await kept()).toEqual(before);
    });
  });

  test('of one that is to last no more gives it, its inbox and its claim an end, and takes that back', async () => {
    await following();
    await tell('one');
    const own = [keys.run('t1'), keys.inbox('t1'), keys.claim(claim)];
    const ends = () => Promise.all(own.map(async (key) => (await lives(key)) > retention.runMs - 30_000));
    expect(await ends()).toEqual([false, false, false]);
    await threads.save(aThread({ claim, lasting: false }), 0);
    expect(await ends()).toEqual([true, true, true]);
    await threads.save(aThread({ claim, rev: 2 }), 0);
    expect(await Promise.all(own.map(lives))).toEqual([-1, -1, -1]);
  });
});

describe('saving with a slot of a limit', () => {
  const limit = { name: 'acme', count: 1, windowMs: 3_600_000 };
  const spend = (id: string) => ({ limit, id, sinceMs: 1 });

  test('counts the use, once for each name', async () => {
    await following();
    expect(await threads.save(aThread(), 0, spend('a'))).toMatchObject({ kind: 'saved' });
    expect(await threads.save(aThread({ rev: 2 }), 0, spend('a'))).toMatchObject({ kind: 'saved' });
    expect(await redis.client.zrange(keys.windowLimit('acme'), '0', '-1')).toEqual(['a']);
  });

  test('that is not to be had saves nothing and takes nothing', async () => {
    await following();
    await tell('one');
    await threads.save(aThread(), 0, spend('a'));
    const answer = await threads.save(aThread({ rev: 2, note: 'sent' }), 1, spend('b'));
    expect(answer).toEqual({ kind: 'limited', inMs: expect.any(Number), onHold: false });
    expect(await open()).toMatchObject({ run: aThread({ rev: 2 }), inbox: texts('one') });
  });

  test('of a state that is not the latest uses nothing, and stands in no line', async () => {
    await following();
    await threads.save(aThread(), 0, spend('a'));
    expect(await threads.save(aThread(), 0, spend('b'))).toEqual({ kind: 'stale' });
    expect(await redis.client.exists(keys.windowLimit('acme:order'))).toBe(0);
  });
});

describe('following', () => {
  test('takes the thread without end, and lists the run', async () => {
    await accept();
    expect(await threads.follow(aThread(), place)).toBeUndefined();
    expect(await redis.client.get(keys.claim(claim))).toBe('t1');
    expect(await lives(keys.claim(claim))).toBe(-1);
    expect(await threads.followed('T0ACME')).toEqual(['t1']);
  });

  test('again changes nothing', async () => {
    await following();
    await tell('one');
    const before = await open();
    expect(await threads.follow(aThread(), place)).toBeUndefined();
    expect(await open()).toEqual(before);
    expect(await threads.followed('T0ACME')).toEqual(['t1']);
  });

  test('a thread that another run follows answers that one', async () => {
    await following();
    await accept(aThread({ id: 't2' }));
    expect(await threads.follow(aThread({ id: 't2' }), place)).toBe('t1');
    expect(await redis.client.get(keys.claim(claim))).toBe('t1');
    expect(await threads.followed('T0ACME')).toEqual(['t1']);
  });

  test('a thread whose run is gone is free', async () => {
    await following();
    await redis.client.del(keys.run('t1'));
    await accept(aThread({ id: 't2' }));
    expect(await threads.follow(aThread({ id: 't2' }), place)).toBeUndefined();
    expect(await redis.client.get(keys.claim(claim))).toBe('t2');
  });

  test('by a run that is gone takes nothing', async () => {
    expect(await threads.follow(aThread(), place)).toBeUndefined();
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('lists the latest first, until they follow no more', async () => {
    for (const [index, id] of ['b', 'a', 'c'].entries()) {
      const before = await runs.timeMs();
      await vi.waitUntil(async () => (await runs.timeMs()) > before, { interval: 1 });
      await accept(aThread({ id }));
      await threads.follow(aThread({ id }), { ...place, rootTs: String(index) });
    }
    await threads.follow(aThread({ id: 'b' }), { ...place, rootTs: '0' });
    expect(await threads.followed('T0ACME')).toEqual(['c', 'a', 'b']);
    await threads.unfollow('T0ACME', 'a');
    expect(await threads.followed('T0ACME')).toEqual(['c', 'b']);
    expect(await threads.followed('T0OTHER')).toEqual([]);
  });

  test('lists what is needed to choose among them, as it was last saved', async () => {
    const run = { ...aThread(), project: 'acme', state: 'following', notes: ['not listed'] };
    await accept(run);
    await threads.follow(run, place);
    expect(await threads.followedIndex('T0ACME')).toEqual([
      { id: 't1', job: 'agent-thread', project: 'acme', state: 'following' },
    ]);
    await threads.save({ ...run, agentJobId: 'aj_1' }, 0);
    expect(await threads.followedIndex('T0ACME')).toMatchObject([{ id: 't1', agentJobId: 'aj_1' }]);
    await threads.unfollow('T0ACME', 't1');
    expect(await threads.followedIndex('T0ACME')).toEqual([]);
    await threads.save({ ...run, rev: 2 }, 0);
    expect(await redis.client.exists(keys.followedIndex('T0ACME'))).toBe(0);
  });

  test('lists what an older process followed, too, and reads its record once', async () => {
    await following();
    await redis.client.del(keys.followedIndex('T0ACME'));
    expect(await threads.followedIndex('T0ACME')).toMatchObject([{ id: 't1' }]);
    await redis.client.hset(keys.run('t1'), 'json', 'not read any more');
    expect(await threads.followedIndex('T0ACME')).toMatchObject([{ id: 't1' }]);
  });

  test('lists no run that is gone, once somebody wrote in its thread', async () => {
    await following();
    await redis.client.del(keys.run('t1'));
    await tell('one');
    expect(await threads.followedIndex('T0ACME')).toEqual([]);
    expect(await redis.client.exists(keys.followedIndex('T0ACME'))).toBe(0);
  });

  test('by a run that has an end ends with it, and so does what waits for it', async () => {
    await accept(aThread({ lasting: false }));
    await redis.client.pexpire(keys.run('t1'), 5000);
    await tell('early', true);
    await threads.follow(aThread({ lasting: false }), place);
    const ends = async (key: string) => (await lives(key)) > 0 && (await lives(key)) <= 5000;
    expect(await ends(keys.claim(claim))).toBe(true);
    expect(await ends(keys.inbox('t1'))).toBe(true);
    await redis.client.del(keys.inbox('t1'));
    await tell('one');
    expect(await ends(keys.inbox('t1'))).toBe(true);
  });

  test('ends with the save that frees the thread', async () => {
    const run = await following(aThread({ claim }));
    await runs.save({ ...run, lasting: false }, true);
    expect(await tell('one')).toEqual({ kind: 'notFollowed' });
  });
});

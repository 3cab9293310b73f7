import { describe, expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { aThread, place } from '../support/store/builders.ts';
import { threadStoresForTests } from '../support/store/threads.ts';

const stores = threadStoresForTests();
const { redis, claim, tell, accept, open, lives, following } = stores;

describe('following', () => {
  test('takes the thread without end, and lists the run', async () => {
    await accept();
    expect(await stores.threads.follow(aThread(), place)).toBeUndefined();
    expect(await redis.client.get(keys.claim(claim))).toBe('t1');
    expect(await lives(keys.claim(claim))).toBe(-1);
    expect(await stores.threads.followed('T0ACME')).toEqual(['t1']);
  });

  test('again changes nothing', async () => {
    await following();
    await tell('one');
    const before = await open();
    expect(await stores.threads.follow(aThread(), place)).toBeUndefined();
    expect(await open()).toEqual(before);
    expect(await stores.threads.followed('T0ACME')).toEqual(['t1']);
  });

  test('a thread that another run follows answers that one', async () => {
    await following();
    await accept(aThread({ id: 't2' }));
    expect(await stores.threads.follow(aThread({ id: 't2' }), place)).toBe('t1');
    expect(await redis.client.get(keys.claim(claim))).toBe('t1');
    expect(await stores.threads.followed('T0ACME')).toEqual(['t1']);
  });

  test('a thread whose run is gone is free', async () => {
    await following();
    await redis.client.del(keys.run('t1'));
    await accept(aThread({ id: 't2' }));
    expect(await stores.threads.follow(aThread({ id: 't2' }), place)).toBeUndefined();
    expect(await redis.client.get(keys.claim(claim))).toBe('t2');
  });

  test('by a run that is gone takes nothing', async () => {
    expect(await stores.threads.follow(aThread(), place)).toBeUndefined();
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('lists the latest first, until they follow no more', async () => {
    for (const [index, id] of ['b', 'a', 'c'].entries()) {
      const run = { ...aThread({ id }), sinceMs: index };
      await accept(run);
      await stores.threads.follow(run, { ...place, rootTs: String(index) });
    }
    const listed = async () => (await stores.threads.followedIndex('T0ACME')) as { id: string }[];
    expect((await listed()).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
    await stores.threads.unfollow('T0ACME', 'a');
    expect((await listed()).map(({ id }) => id)).toEqual(['c', 'b']);
    expect(await stores.threads.followed('T0OTHER')).toEqual([]);
  });

  test('lists what is needed to choose among them, as it was last saved', async () => {
    const run = { ...aThread(), project: 'acme', state: 'following', ephemerals: ['not listed'] };
    await accept(run);
    await stores.threads.follow(run, place);
    expect(await stores.threads.followedIndex('T0ACME')).toEqual([
      { id: 't1', job: 'agent-thread', project: 'acme', state: 'following' },
    ]);
    await stores.runs.saveStep({ ...run, agentJobId: 'aj_1' });
    expect(await stores.threads.followedIndex('T0ACME')).toMatchObject([{ id: 't1', agentJobId: 'aj_1' }]);
    await stores.threads.unfollow('T0ACME', 't1');
    expect(await stores.threads.followedIndex('T0ACME')).toEqual([]);
    await stores.runs.saveStep({ ...run, rev: 2 });
    expect(await redis.client.exists(keys.followedIndex('T0ACME'))).toBe(0);
  });

  test('lists no run that is gone, once somebody wrote in its thread', async () => {
    await following();
    await redis.client.del(keys.run('t1'));
    await tell('one');
    expect(await stores.threads.followedIndex('T0ACME')).toEqual([]);
    expect(await redis.client.exists(keys.followedIndex('T0ACME'))).toBe(0);
  });

  test('by a run that has an end ends with it, and so does what waits for it', async () => {
    await accept(aThread({ lasting: false }));
    await redis.client.pexpire(keys.run('t1'), 5000);
    await tell('early', true);
    await stores.threads.follow(aThread({ lasting: false }), place);
    const ends = async (key: string) => (await lives(key)) > 0 && (await lives(key)) <= 5000;
    expect(await ends(keys.claim(claim))).toBe(true);
    expect(await ends(keys.inbox('t1'))).toBe(true);
    await redis.client.del(keys.inbox('t1'));
    await tell('one');
    expect(await ends(keys.inbox('t1'))).toBe(true);
  });

  test('ends with the save that frees the thread', async () => {
    const run = await following(aThread({ claim }));
    await stores.runs.save({ ...run, lasting: false }, true);
    expect(await tell('one')).toEqual({ kind: 'notFollowed' });
  });
});

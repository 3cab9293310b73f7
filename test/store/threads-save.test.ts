import { describe, expect, test } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { aThread } from '../support/store/builders.ts';
import { threadStoresForTests } from '../support/store/threads.ts';

const stores = threadStoresForTests();
const { redis, claim, tell, open, heard, texts, lives, following } = stores;

describe('saving', () => {
  test('keeps the next state and forgets what was taken, and no more', async () => {
    await following();
    for (const text of ['one', 'two', 'three']) await tell(text);
    const next = aThread({ rev: 2, note: 'second' });
    const found = { run: next, inbox: texts('three'), wakes: 3 };
    expect(await stores.runs.saveStep(aThread({ note: 'second' }), { consumed: 2 })).toEqual(found);
    expect(await open()).toEqual(found);
  });

  test('with nothing taken forgets nothing', async () => {
    await following();
    await tell('one');
    await stores.runs.saveStep(aThread());
    expect(await heard()).toEqual(texts('one'));
  });

  test('of a state that is not the latest changes nothing', async () => {
    await following();
    await tell('one');
    await stores.runs.saveStep(aThread({ note: 'second' }));
    expect(await stores.runs.saveStep(aThread({ note: 'other' }), { consumed: 1 })).toBeUndefined();
    expect(await open()).toMatchObject({ run: { note: 'second' }, inbox: texts('one') });
  });

  test('of a run that is gone brings nothing back', async () => {
    expect(await stores.runs.saveStep(aThread())).toBeUndefined();
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('of one that is to last no more gives it, its inbox and its claim an end, and takes that back', async () => {
    await following();
    await tell('one');
    const own = [keys.run('t1'), keys.inbox('t1'), keys.claim(claim)];
    const ends = () => Promise.all(own.map(async (key) => (await lives(key)) > retention.runMs - 30_000));
    expect(await ends()).toEqual([false, false, false]);
    await stores.runs.saveStep(aThread({ claim, lasting: false }));
    expect(await ends()).toEqual([true, true, true]);
    await stores.runs.saveStep(aThread({ claim, rev: 2 }));
    expect(await Promise.all(own.map(lives))).toEqual([-1, -1, -1]);
  });
});

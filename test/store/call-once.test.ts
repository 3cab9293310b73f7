import { beforeEach, describe, expect, test } from 'vitest';
import { createCallOnce } from '../../src/store/call-once.ts';
import { keys } from '../../src/store/keys.ts';
import { createRunStore, type RunBase } from '../../src/store/runs.ts';
import { redisForTests } from '../support/redis.ts';

const LIMIT_MS = 14_500;
const MARGIN_MS = 500;
const refused = new Error('connection refused');
const lost = new Error('no answer');
const run: RunBase = { id: 'r1', teamId: 'T1', job: 'export', rev: 1, people: [] };

const redis = redisForTests();
let nowMs: number;
let tokens: number;
beforeEach(async () => {
  nowMs = 1_000_000;
  tokens = 0;
  const runs = createRunStore(redis.client);
  await runs.accept(run, { deadlineMs: (await runs.timeMs()) + 10_000 });
});

/** As another process would make it: nothing is shared but Redis and the time. */
const process = (newToken = () => `token ${++tokens}`) =>
  createCallOnce(redis.client, {
    stopping: new AbortController().signal,
    marginMs: MARGIN_MS,
    didNotHappen: (error) => error === refused,
    newToken,
    now: () => nowMs,
  });

const once = <T>(call: (isTooLate: () => boolean) => Promise<T>, step = 'start') =>
  process().callOnce(run, step, LIMIT_MS, call);

const forbidden = async () => {
  throw new Error('made twice');
};

/** A call that is answered when the test says so. */
function aCall() {
  const begun = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const call = () => {
    begun.resolve();
    return answer.promise;
  };
  return { call, begun: begun.promise, answer: answer.resolve, fail: answer.reject };
}

test.each([{ jobId: 'se_1', pages: [1, { two: 2 }] }, null])(
  'a result is returned on every re-entry, also much later: %j',
  async (result) => {
    expect(await once(async () => result)).toEqual({ kind: 'done', value: result });
    nowMs += 100 * LIMIT_MS;
    expect(await once(forbidden)).toEqual({ kind: 'done', value: result });
    expect(await process().callResult('r1', 'start')).toEqual({ result });
    expect(await once(async () => 'another', 'start.2')).toEqual({ kind: 'done', value: 'another' });
  },
);

describe('a call that fails', () => {
  test('with proof that it did not happen may be made again at once', async () => {
    expect(await once(() => Promise.reject(refused))).toEqual({ kind: 'notHappened', error: refused });
    expect(await once(async () => 'started')).toEqual({ kind: 'done', value: 'started' });
  });

  test('without that proof stays unknown: it is not made again, now or later', async () => {
    expect(await once(() => Promise.reject(lost))).toEqual({ kind: 'unknown', error: lost });
    expect(await once(forbidden)).toMatchObject({ kind: 'inFlight' });
    nowMs += LIMIT_MS + MARGIN_MS;
    expect(await once(forbidden)).toEqual({ kind: 'unknown' });
    expect(await process().callResult('r1', 'start')).toBeUndefined();
  });
});

describe('a call that somebody else has made', () => {
  test('is waited for until its limit, to the millisecond, and unknown from then on', async () => {
    const { call, begun } = aCall();
    void once(call);
    await begun;
    nowMs -= 100 * LIMIT_MS;
    const longest = { kind: 'inFlight', forMs: LIMIT_MS + MARGIN_MS };
    expect(await once(forbidden), 'a clock that was set back').toEqual(longest);
    nowMs += 100 * LIMIT_MS + LIMIT_MS + MARGIN_MS - 1;
    expect(await once(forbidden)).toEqual({ kind: 'inFlight', forMs: 1 });
    nowMs += 1;
    expect(await once(forbidden)).toEqual({ kind: 'unknown' });
  });

  test('and whose answer comes late is done after all, and its idle run is due again', async () => {
    const runs = createRunStore(redis.client);
    const { call, begun, answer } = aCall();
    const answered = once(call);
    await begun;
    nowMs += 2 * LIMIT_MS;
    expect(await once(forbidden)).toEqual({ kind: 'unknown' });
    await runs.markIdle(run, false);
    expect(await runs.active()).toEqual([]);
    answer('late');
    expect(await answered).toEqual({ kind: 'done', value: 'late' });
    expect(await once(forbidden)).toEqual({ kind: 'done', value: 'late' });
    expect(await runs.active()).toEqual([{ job: 'export', id: 'r1' }]);
  });

  test('at the same instant is made by one of them alone', async () => {
    let made = 0;
    const call = async () => {
      made += 1;
      return 'started';
    };
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => once(call)));
    expect(made).toBe(1);
    expect(outcomes).toContainEqual({ kind: 'done', value: 'started' });
  });
});

test('a result is kept while Redis waits for a replica, as after a failover', async () => {
  const refusing = (most: number) => redis.client.config('SET', 'min-replicas-to-write', most);
  const { call, begun, answer } = aCall();
  const made = once(call);
  await begun;
  await refusing(1);
  answer('se_1');
  // The refusal has come once a write behind it on the same connection is refused.
  await expect(redis.client.set('x', 1)).rejects.toThrow('NOREPLICAS');
  await refusing(0);
  expect(await made).toEqual({ kind: 'done', value: 'se_1' });
  expect(await once(forbidden)).toEqual({ kind: 'done', value: 'se_1' });
});

test('an intent whose answer got lost on the way back is our own: the call is made', async () => {
  const ours = process(() => 'same');
  void ours.callOnce(run, 'start', LIMIT_MS, () => new Promise(() => {}));
  expect(await ours.callOnce(run, 'start', LIMIT_MS, async () => 'started')).toMatchObject({ kind: 'done' });
});

test('a process with an old revision does not make a call that was made and forgotten', async () => {
  await once(async () => 'started');
  await createRunStore(redis.client).saveStep(run);
  await process().forgetCall('r1', 'start');
  expect(await once(forbidden)).toEqual({ kind: 'inFlight', forMs: 0 });
});

test('without a run no call is made, and nothing is left behind', async () => {
  const gone = { ...run, id: 'gone' };
  const outcome = await process().callOnce(gone, 'start', LIMIT_MS, forbidden);
  expect(outcome).toEqual({ kind: 'inFlight', forMs: 0 });
  expect(await redis.client.exists(keys.run('gone'))).toBe(0);
});

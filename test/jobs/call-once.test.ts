import { once as onceHeard } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import { type CallOnce, createCallOnce } from '../../src/jobs/call-once.ts';
import { Stopping } from '../../src/runtime/stopping.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { type CallOnceStore, createCallOnceStore } from '../../src/store/calls.ts';
import { connectForWork } from '../../src/store/redis/connections.ts';
import { redisForTests } from '../support/redis.ts';

const LIMIT_MS = 15_000;
const MARGIN_MS = 500;
const refused = new Error('connection refused');
const lost = new Error('no answer');

const redis = redisForTests();
let nowMs: number;
let tokens: number;
let once: CallOnce;
let stopping: AbortController;
beforeEach(() => {
  nowMs = 1_000_000;
  tokens = 0;
  stopping = new AbortController();
  once = onceWith(createCallOnceStore(redis.client));
});

/** As another process would make it: nothing is shared but Redis and the time. */
function onceWith(steps: CallOnceStore): CallOnce {
  return createCallOnce({
    stopping: stopping.signal,
    steps,
    callMs: LIMIT_MS - MARGIN_MS,
    marginMs: MARGIN_MS,
    didNotHappen: (error) => error === refused,
    newToken: () => `token ${++tokens}`,
    now: () => nowMs,
  });
}

/** A call that is answered when the test says so, and counts how often it was made. */
function aCall() {
  const made: PromiseWithResolvers<unknown>[] = [];
  const begun = Promise.withResolvers<void>();
  const call = () => {
    const answer = Promise.withResolvers<unknown>();
    made.push(answer);
    begun.resolve();
    return answer.promise;
  };
  return {
    call,
    begun: begun.promise,
    made: () => made.length,
    answers(value: unknown) {
      for (const answer of made) answer.resolve(value);
    },
    fails: (error: Error) => made.at(-1)?.reject(error),
  };
}

/** A call that must not be made; it is answered at once, so that nobody waits for it when it is. */
function aSecondCall() {
  let made = 0;
  const call = async () => {
    made += 1;
    return 'made twice';
  };
  return { call, made: () => made };
}

test('the result of a call is returned on every re-entry, also much later and elsewhere', async () => {
  const job = { jobId: 'se_1', pages: [1, { two: 2 }] };
  expect(await once('r1', 'start', async () => job)).toEqual({ kind: 'done', value: job });
  nowMs += 100 * LIMIT_MS;
  const elsewhere = onceWith(createCallOnceStore(redis.client));
  const call = aSecondCall();
  expect(await elsewhere('r1', 'start', call.call)).toEqual({ kind: 'done', value: job });
  expect(call.made()).toBe(0);
});

test('a result that says nothing is a result all the same', async () => {
  await once('r1', 'start', async () => undefined);
  const call = aSecondCall();
  expect((await once('r1', 'start', call.call)).kind).toBe('done');
  expect(call.made()).toBe(0);
});

test('other steps and other runs are calls of their own', async () => {
  const made: string[] = [];
  for (const [run, step] of [
    ['r1', 'start.1'],
    ['r1', 'start.2'],
    ['r2', 'start.1'],
  ] as const)
    await once(run, step, async () => made.push(`${run} ${step}`));
  expect(made).toEqual(['r1 start.1', 'r1 start.2', 'r2 start.1']);
});

describe('a call that fails', () => {
  test('with proof that it did not happen may be made again at once', async () => {
    const failing = () => Promise.reject(refused);
    expect(await once('r1', 'start', failing)).toEqual({ kind: 'notHappened', error: refused });
    expect(await once('r1', 'start', async () => 'started')).toEqual({ kind: 'done', value: 'started' });
  });

  test('without that proof stays unknown: it is not made again, now or later', async () => {
    expect(await once('r1', 'start', () => Promise.reject(lost))).toEqual({ kind: 'unknown', error: lost });
    const again = aSecondCall();
    expect(await once('r1', 'start', again.call)).toMatchObject({ kind: 'inFlight' });
    nowMs += LIMIT_MS;
    expect(await once('r1', 'start', again.call)).toEqual({ kind: 'unknown' });
    nowMs += 1000 * LIMIT_MS;
    expect(await once('r1', 'start', again.call)).toEqual({ kind: 'unknown' });
    expect(again.made()).toBe(0);
  });

  test('with an error that is thrown at once counts the same', async () => {
    const throwing = () => {
      throw lost;
    };
    expect(await once('r1', 'start', throwing)).toEqual({ kind: 'unknown', error: lost });
  });
});

describe('a process that is to stop', () => {
  test('makes no call, and leaves no intent of one', async () => {
    stopping.abort(new Stopping());
    const call = aSecondCall();
    await expect(once('r1', 'start', call.call)).rejects.toThrow(Stopping);
    expect(call.made()).toBe(0);
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('takes back the intent of a call that it did not make any more', async () => {
    const call = async () => {
      stopping.abort(new Stopping());
      stopping.signal.throwIfAborted();
    };
    await expect(once('r1', 'start', call)).rejects.toThrow(Stopping);
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('still keeps the result of a call that was under way', async () => {
    const first = aCall();
    const answered = once('r1', 'start', first.call);
    await first.begun;
    stopping.abort(new Stopping());
    first.answers('started');
    expect(await answered).toEqual({ kind: 'done', value: 'started' });
  });
});

describe('a call that somebody else has made', () => {
  test('is waited for until its limit, to the millisecond, and unknown from then on', async () => {
    const first = aCall();
    void once('r1', 'start', first.call);
    await first.begun;
    const second = aSecondCall();
    nowMs += 5000;
    expect(await once('r1', 'start', second.call)).toEqual({ kind: 'inFlight', forMs: LIMIT_MS - 5000 });
    nowMs += LIMIT_MS - 5001;
    expect(await once('r1', 'start', second.call)).toEqual({ kind: 'inFlight', forMs: 1 });
    nowMs += 1;
    expect(await once('r1', 'start', second.call)).toEqual({ kind: 'unknown' });
    expect(second.made()).toBe(0);
  });

  test('and whose answer comes late is done after all', async () => {
    const first = aCall();
    const answered = once('r1', 'start', first.call);
    await first.begun;
    nowMs += 2 * LIMIT_MS;
    const second = aSecondCall();
    expect(await once('r1', 'start', second.call)).toEqual({ kind: 'unknown' });
    first.answers('late');
    expect(await answered).toEqual({ kind: 'done', value: 'late' });
    expect(await once('r1', 'start', second.call)).toEqual({ kind: 'done', value: 'late' });
    expect(await createCallOnceStore(redis.client).result('r1', 'start')).toEqual({ value: 'late' });
    expect(second.made()).toBe(0);
  });

  test('and which late turns out not to have happened may be made again', async () => {
    const first = aCall();
    const answered = once('r1', 'start', first.call);
    await first.begun;
    nowMs += 2 * LIMIT_MS;
    first.fails(refused);
    expect(await answered).toEqual({ kind: 'notHappened', error: refused });
    expect(await once('r1', 'start', async () => 'started')).toMatchObject({ kind: 'done' });
  });

  test('at the same instant is made by one of them alone', async () => {
    const calls = aCall();
    const entered = Array.from({ length: 10 }, () => once('r1', 'start', calls.call));
    await calls.begun;
    // One command behind theirs: by then Redis has answered all of them.
    await redis.client.ping();
    expect(calls.made()).toBe(1);
    calls.answers('started');
    const outcomes = await Promise.all(entered);
    expect(outcomes.filter(({ kind }) => kind === 'done')).toEqual([{ kind: 'done', value: 'started' }]);
    expect(outcomes.filter(({ kind }) => kind === 'inFlight')).toHaveLength(9);
    expect(calls.made()).toBe(1);
  });
});

test('a call can ask, until it is made, whether others may take it for lost', async () => {
  const seen: boolean[] = [];
  const outcome = await once('run', 'start', async (isTooLate) => {
    seen.push(isTooLate());
    nowMs += MARGIN_MS + 1;
    seen.push(isTooLate());
    throw refused;
  });
  expect(outcome).toEqual({ kind: 'notHappened', error: refused });
  expect(seen).toEqual([false, true]);
});

test('an intent that took too long to write makes no call: others may take it for lost', async () => {
  const steps = createCallOnceStore(redis.client);
  const slow: CallOnceStore = {
    ...steps,
    async begin(...intent) {
      const begun = await steps.begin(...intent);
      nowMs += MARGIN_MS + 1;
      return begun;
    },
  };
  const call = aSecondCall();
  expect(await onceWith(slow)('r1', 'start', call.call)).toEqual({ kind: 'inFlight', forMs: 0 });
  expect(call.made()).toBe(0);
  expect(await once('r1', 'start', call.call)).toMatchObject({ kind: 'done' });
});

test('a clock that was set back keeps nobody waiting longer than the limit', async () => {
  const first = aCall();
  void once('r1', 'start', first.call);
  await first.begun;
  nowMs -= 100 * LIMIT_MS;
  expect(await once('r1', 'start', aSecondCall().call)).toEqual({ kind: 'inFlight', forMs: LIMIT_MS });
});

describe('the record of a step', () => {
  test('is not cleared by a proof about another intent', async () => {
    const steps = createCallOnceStore(redis.client);
    await steps.begin('r1', 'start', 'mine', nowMs);
    await steps.clear('r1', 'start', 'theirs');
    expect(await steps.begin('r1', 'start', 'other', nowMs)).toEqual({ kind: 'open', sinceMs: nowMs });
  });

  test('is not cleared once there is a result', async () => {
    const steps = createCallOnceStore(redis.client);
    await steps.begin('r1', 'start', 'mine', nowMs);
    await steps.finish('r1', 'start', 'started');
    await steps.clear('r1', 'start', 'mine');
    expect(await steps.result('r1', 'start')).toEqual({ value: 'started' });
  });

  test('without a result answers none', async () => {
    const steps = createCallOnceStore(redis.client);
    expect(await steps.result('r1', 'start')).toBeUndefined();
    await steps.begin('r1', 'start', 'mine', nowMs);
    expect(await steps.result('r1', 'start')).toBeUndefined();
  });
});

test('an intent whose answer got lost on the way back is our own: the call is made, once', async () => {
  const between = await aLossyWay(redis.url, 'begun');
  const connection = connectForWork({ url: between.url }, defaultTiming, () => {});
  try {
    let made = 0;
    const outcome = await onceWith(createCallOnceStore(connection))('r1', 'start', async () => {
      made += 1;
      return 'started';
    });
    expect(between.lost()).toBe(1);
    expect(outcome).toEqual({ kind: 'done', value: 'started' });
    expect(made).toBe(1);
  } finally {
    connection.disconnect();
    between.close();
  }
});

/** A way to Redis on which the first answer that contains `word` is lost, with the connection. */
async function aLossyWay(url: string, word: string) {
  let lostAnswers = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect(Number(new URL(url).port), '127.0.0.1');
    for (const socket of [client, behind]) {
      open.add(socket);
      socket.on('error', () => {});
    }
    client.pipe(behind);
    client.on('close', () => behind.destroy());
    behind.on('close', () => client.destroy());
    behind.on('data', (answer) => {
      if (lostAnswers > 0 || !answer.includes(word)) return client.write(answer);
      lostAnswers += 1;
      client.destroy();
    });
  }).listen(0, '127.0.0.1');
  await onceHeard(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost: () => lostAnswers,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

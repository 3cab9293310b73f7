import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { connectForRequests, connectForWork } from '../../../src/store/redis/connections.ts';
import { luaScript } from '../../../src/store/redis/lua.ts';
import { startRedisPair } from '../../support/flows/redis-pair.ts';
import { openWay, type RedisWay } from '../../support/flows/redis-way.ts';
import { redisForTests } from '../../support/redis.ts';

const timing = {
  ...defaultTiming,
  redisRequestSocketMs: 300,
  redisWorkSocketMs: 500,
  redisBlockingSocketMs: 600,
};
const BULLMQ_LONGEST_WAIT_MS = 10_000;

const redis = redisForTests();
let way: RedisWay;
beforeEach(async () => {
  way = await openWay(redis.url);
});
afterEach(() => way.close());

const kinds = { requests: connectForRequests, work: connectForWork };

/** A connection of each kind, and one as BullMQ makes it. It is ready. */
async function connected(
  kind: keyof typeof kinds | 'BullMQ',
  url = way.url,
  limits: Partial<typeof timing> = {},
): Promise<Redis> {
  const connection = open(kind, url, limits);
  await ready(connection);
  return connection;
}

/** Unlike `once`, it lives through errors: on a busy machine, the first tries may be given up. */
const ready = (connection: Redis) =>
  new Promise<void>((resolve) => {
    if (connection.status === 'ready') resolve();
    else connection.once('ready', resolve);
  });

function open(
  kind: keyof typeof kinds | 'BullMQ',
  url = way.url,
  limits: Partial<typeof timing> = {},
): Redis {
  const connection = kinds[kind === 'BullMQ' ? 'work' : kind](
    { url },
    { ...timing, ...limits },
    () => {},
  ) as Redis;
  onTestFinished(() => connection.disconnect());
  if (kind !== 'BullMQ') return connection;
  const duplicate = connection.duplicate({ connectionName: 'blocks' });
  duplicate.on('error', () => {});
  onTestFinished(() => duplicate.disconnect());
  return duplicate;
}

describe.for(['requests', 'work', 'BullMQ'] as const)('a connection for %s', (kind) => {
  test('whose Redis is no longer the primary moves to the one that is', async () => {
    const { primary, replica, swap } = await startRedisPair();
    way.leadTo(primary.url);
    const connection = await connected(kind);
    await connection.set('before', '1');
    await expect.poll(() => replica.client.get('before'), { timeout: 10_000 }).toBe('1');

    await swap();
    way.leadTo(replica.url);
    const script = luaScript("redis.call('SET', KEYS[1], ARGV[1])");
    await expect.poll(() => script(connection, ['after'], ['2']).catch(String), { timeout: 5000 }).toBeNull();
    expect(await replica.client.get('after')).toBe('2');
  });

  test.each([
    "READONLY You can't write against a read only replica.",
    "ERR Error running script (call to f_12): @user_script:3: @user_script: 3: -READONLY You can't write against a read only replica.",
    'LOADING Redis is loading the dataset in memory',
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  ])('is made again after: %s', async (message) => {
    const connection = await connected(kind);
    const closed = once(connection, 'close');
    const answer = connection.eval('return redis.error_reply(ARGV[1])', 0, message);
    await expect(answer).rejects.toThrow(message.slice(0, 20));
    await closed;
    await ready(connection);
    await expect.poll(() => connection.ping().catch(String), { timeout: 5000 }).toBe('PONG');
  });

  test('never gets ready in a database that Redis does not have, and writes nothing elsewhere', async () => {
    const connection = open(kind, `${way.url}/99`);
    let refused = 0;
    const refusedOften = new Promise<void>((resolve) => {
      connection.on('error', (error: Error) => {
        if (/out of range/.test(error.message)) refused += 1;
        if (refused === 3) resolve();
      });
    });
    let ready = 0;
    connection.on('ready', () => {
      ready += 1;
    });
    connection.set('written', 'yes').catch(() => {});
    await refusedOften;
    expect(ready).toBe(0);
    expect(await redis.client.dbsize()).toBe(0);
  });

  test('that went silent is given up, and works again', async () => {
    const connection = await connected(kind);
    way.goSilent();
    const saidAtMs = performance.now();
    await expect.poll(() => connection.ping().catch(() => 'no answer'), { timeout: 5000 }).toBe('PONG');
    expect(performance.now() - saidAtMs).toBeLessThan(4000);
  });
});

test('a blocking read goes on elsewhere as soon as the connection for work does', async () => {
  const limits = { ...timing, redisWorkSocketMs: 500, redisBlockingSocketMs: 600_000 };
  const work = connectForWork({ url: way.url }, limits, () => {}) as Redis;
  const blocking = work.duplicate({ connectionName: 'blocks' });
  blocking.on('error', () => {});
  onTestFinished(() => {
    for (const connection of [work, blocking]) connection.disconnect();
  });
  await work.ping();
  const read = blocking.bzpopmin('marker', 600);
  await expect.poll(() => redis.client.client('LIST')).toMatch(/cmd=bzpopmin/);
  way.goSilent();
  await work.zadd('marker', 7, 'found');
  expect(await read).toEqual(['marker', 'found', '7']);
});

describe('while nothing comes', () => {
  test.each(['requests', 'work', 'BullMQ'] as const)(
    'one for %s that waits for nothing stays',
    async (kind) => {
      const connection = await connected(kind);
      const made = way.connections();
      await expect(once(connection, 'close', { signal: AbortSignal.timeout(1000) })).rejects.toThrow();
      expect(await connection.ping()).toBe('PONG');
      expect(way.connections()).toBe(made);
    },
  );

  test('the limits are longer than BullMQ waits for a job, and leave time to be back within 15 s', () => {
    expect(defaultTiming.redisBlockingSocketMs).toBeGreaterThan(BULLMQ_LONGEST_WAIT_MS + 1000);
    expect(defaultTiming.redisBlockingSocketMs).toBeLessThan(14_000);
    expect(defaultTiming.redisWorkSocketMs).toBeLessThan(7000);
    expect(defaultTiming.redisRequestSocketMs).toBeGreaterThan(defaultTiming.intakeMs);
  });
});

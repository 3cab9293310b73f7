import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import type { RedisClient } from '../../../src/store/redis/client.ts';
import { connectForRequests, connectForWork } from '../../../src/store/redis/connections.ts';
import { lastingScript } from '../../../src/store/redis/lua.ts';
import { infoFields } from '../../../src/store/redis/primary-connector.ts';
import { primaryOf } from '../../../src/store/redis/primary-of.ts';
import { isReplaced } from '../../../src/store/redis/replaced.ts';
import {
  closeReplicas,
  type IsReplaced,
  NoPrimary,
  noteReplicas,
  untilCopied,
} from '../../../src/store/redis/replicas.ts';
import { startRedisPair } from '../../support/flows/redis-pair.ts';
import { openWay } from '../../support/flows/redis-way.ts';
import {
  type GroupNode,
  type RedisGroup,
  startCluster,
  startSentinels,
} from '../../support/store/redis-groups.ts';

const groups = { Sentinel: () => startSentinels(), 'a cluster': () => startCluster(2) };
const kinds = { requests: connectForRequests, work: connectForWork };
const KEY = '{docket}:written';
const setScript = lastingScript<string>(`redis.call('SET', KEYS[1], ARGV[1]) return ARGV[1]`);
const set = (client: RedisClient, value: string) => setScript(client, [KEY], [value]);
const LIST = '{docket}:all';
const addScript = lastingScript<string>(`redis.call('SADD', KEYS[1], ARGV[1]) return ARGV[1]`);
const add = (client: RedisClient, value: string) => addScript(client, [LIST], [value]);

/** Notes what the primary says of its replicas, as the watch does every second. Returns how many follow. */
async function note(
  client: RedisClient,
  url: string,
  ask: IsReplaced = (primary, replicas) => isReplaced(primary, { url }, replicas),
): Promise<number> {
  const info = infoFields(String(await primaryOf(client)?.info('replication')));
  noteReplicas(client, info, ask);
  return closeReplicas(info).length;
}

/** A connection that has written, so that a replica has it. */
async function written(url: string, kind: keyof typeof kinds, ask?: IsReplaced) {
  const client = kinds[kind]({ url }, defaultTiming, () => {});
  onTestFinished(() => client.disconnect());
  if (client.status !== 'ready') await once(client, 'ready');
  await client.set('{docket}:first', '1');
  // One that has just begun to follow takes its time with the first answer.
  expect(await primaryOf(client)?.wait(1, 10_000)).toBeGreaterThan(0);
  await expect.poll(() => note(client, url, ask), { timeout: 10_000 }).toBeGreaterThan(0);
  expect(await set(client, 'first')).toBe('first');
  let ends = 0;
  client.on('close', () => {
    ends += 1;
  });
  return { client, ends: () => ends };
}

/** The primary freezes, and comes back when another one has taken over, which nobody tells it for a while. */
async function replace(group: RedisGroup, meanwhile = async () => {}) {
  const before = await group.replacePrimary(async (primary) => {
    primary.freeze();
    await meanwhile();
  });
  before.thaw();
}

const isReplica = async ({ client }: GroupNode) => /^role:slave/m.test(await client.info('replication'));

const atPrimary = async (group: RedisGroup) => (await group.primary()).client.get(KEY);

describe.each(['Sentinel', 'a cluster'] as const)('with %s, a primary that froze was replaced', (how) => {
  test('what was written to it meanwhile is written to the new one', async () => {
    const group = await groups[how]();
    onTestFinished(() => group.close());
    const { client } = await written(group.url, 'work');
    let answer: Promise<string> | undefined;
    await replace(group, async () => {
      answer = set(client, 'meanwhile');
    });
    expect(await answer).toBe('meanwhile');
    expect(await atPrimary(group)).toBe('meanwhile');
  }, 60_000);

  test('what is written after it came back is written to the new one', async () => {
    const group = await groups[how]();
    onTestFinished(() => group.close());
    const { client } = await written(group.url, 'work');
    await replace(group);
    // The old one may be gone for this connection already.
    await note(client, group.url).catch(() => {});
    expect(await set(client, 'after')).toBe('after');
    expect(await atPrimary(group)).toBe('after');
  }, 60_000);

  test('a request is not told that it was kept by it', async () => {
    const group = await groups[how]();
    onTestFinished(() => group.close());
    const { client } = await written(group.url, 'requests');
    await replace(group);
    const isKept = await set(client, 'after').then(
      () => true,
      () => false,
    );
    if (isKept) expect(await atPrimary(group)).toBe('after');
    await expect.poll(() => set(client, 'later').catch(String), { timeout: 10_000 }).toBe('later');
    expect(await atPrimary(group)).toBe('later');
  }, 60_000);
});

describe.each(['Sentinel', 'a cluster'] as const)('with %s, another one is promoted', (how) => {
  test('what a primary at work is told meanwhile, the new one has', async () => {
    const group = await groups[how]();
    onTestFinished(() => group.close());
    const { client } = await written(group.url, 'work');
    const counted: string[] = [];
    const over = new AbortController();
    const writing = (async () => {
      while (!over.signal.aborted) counted.push(await add(client, `${counted.length}`));
    })();
    await group.replacePrimary(() => group.promoteAnother());
    const seen = counted.length;
    await vi.waitUntil(() => counted.length > seen, 20_000);
    over.abort();
    await writing;
    const kept = new Set(await (await group.primary()).client.smembers(LIST));
    expect(counted.filter((value) => !kept.has(value))).toEqual([]);
  }, 60_000);
});

test.each(['are gone', 'hang'] as const)(
  'where all replicas %s, the primary is stayed with, and its answer counts',
  async (what) => {
    const group = await startSentinels();
    onTestFinished(() => group.close());
    const { client, ends } = await written(group.url, 'work');
    const primary = await group.primary();
    const replicas = group.nodes.filter((node) => node !== primary);
    if (what === 'hang') for (const replica of replicas) replica.freeze();
    else await Promise.all(replicas.map((replica) => replica.kill()));
    expect(await set(client, 'alone')).toBe('alone');
    expect(await primary.client.get(KEY)).toBe('alone');
    expect(ends()).toBe(0);
  },
  60_000,
);

test('a node of a cluster that ends the connection while copies are waited for is connected to again', async () => {
  const group = await startCluster(2);
  onTestFinished(() => group.close());
  const { client } = await written(group.url, 'work');
  const primary = await group.primary();
  for (const node of group.nodes) if (await isReplica(node)) node.freeze();
  let runs = 0;
  const write = async () => {
    runs += 1;
    const answer = await client.set(KEY, 'again');
    if (runs === 1) void primary.client.call('CLIENT', 'KILL', 'TYPE', 'normal');
    return answer;
  };
  expect(await untilCopied(client, write)).toBe('OK');
  expect(runs).toBeGreaterThan(1);
}, 60_000);

test('an address that leads to another primary by now is followed there', async () => {
  const { primary, replica } = await startRedisPair();
  const way = await openWay(primary.url);
  onTestFinished(() => way.close());
  const { client } = await written(way.url, 'work');
  // The old one is told nothing, and goes on.
  await replica.client.replicaof('NO', 'ONE');
  way.leadTo(replica.url);
  expect(await set(client, 'after')).toBe('after');
  expect(await replica.client.get(KEY)).toBe('after');
});

test('a replica that was promoted is known before anybody names it', async () => {
  const { primary, replica } = await startRedisPair();
  const way = await openWay(primary.url);
  onTestFinished(() => way.close());
  const { client, ends } = await written(way.url, 'work');
  await replica.client.replicaof('NO', 'ONE');
  const answer = set(client, 'after');
  await expect.poll(ends).toBeGreaterThan(0);
  way.leadTo(replica.url);
  expect(await answer).toBe('after');
  expect(await replica.client.get(KEY)).toBe('after');
});

test('replicas with addresses of any kind are counted, and one that lags is not', () => {
  const info = infoFields(
    [
      '# Replication',
      'role:master',
      'slave0:ip=fd00::1:2,port=6379,state=online,offset=42,lag=0',
      'slave1:ip=redis-2.example,port=6380,state=online,offset=42,lag=1',
      'slave2:ip=10.0.0.3,port=6379,state=online,offset=7,lag=30',
      'slave3:ip=10.0.0.4,port=6379,state=wait_bgsave,offset=0,lag=0',
    ].join('\r\n'),
  );
  expect(info.role).toBe('master');
  expect(closeReplicas(info)).toEqual([
    { host: 'fd00::1:2', port: 6379 },
    { host: 'redis-2.example', port: 6380 },
  ]);
});

test('a server that every new connection leads to is stayed with, whatever others say', async () => {
  const { primary, replica } = await startRedisPair();
  const { client, ends } = await written(primary.url, 'work', async () => true);
  await replica.client.replicaof('NO', 'ONE');
  expect(await set(client, 'here')).toBe('here');
  const left = ends();
  expect(left).toBeGreaterThan(3);
  expect(await set(client, 'here too')).toBe('here too');
  expect(ends()).toBe(left);
});

test('a write that finds no primary to stay with ends', async () => {
  const { primary } = await startRedisPair();
  const { client } = await written(primary.url, 'work');
  let runs = 0;
  const write = async () => {
    runs += 1;
    client.emit('close');
  };
  await expect(untilCopied(client, write)).rejects.toThrow(NoPrimary);
  expect(runs).toBeGreaterThan(3);
});

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { within } from '../../../src/runtime/within.ts';
import { checkRedis } from '../../../src/store/redis/check.ts';
import type { RedisClient } from '../../../src/store/redis/client.ts';
import { askTime } from '../../../src/store/redis/clock.ts';
import { connectForRequests, connectForWork } from '../../../src/store/redis/connections.ts';
import { temporaryFolder } from '../../support/flows/world.ts';
import { makeCertificates } from '../../support/store/certificates.ts';
import { type RedisGroup, startCluster, startSentinels } from '../../support/store/redis-groups.ts';

const starts = { sentinel: () => startSentinels(), cluster: () => startCluster(2) };
const kinds = { requests: connectForRequests, work: connectForWork };
const errors: Error[] = [];

async function connected(url: string, kind: keyof typeof kinds): Promise<RedisClient> {
  const connection = kinds[kind]({ url }, defaultTiming, (error) => errors.push(error));
  onTestFinished(() => connection.disconnect());
  if (connection.status !== 'ready') await once(connection, 'ready');
  return connection;
}

describe.for(['sentinel', 'cluster'] as const)('with %s', (how) => {
  let group: RedisGroup;
  beforeAll(async () => {
    group = await starts[how]();
  }, 60_000);
  afterAll(() => group.close());

  test('nothing is wrong', async () => {
    expect(await checkRedis({ url: group.url })).toEqual([]);
  });

  test('a primary that is killed is followed to the one that takes over', async () => {
    const [requests, work] = [await connected(group.url, 'requests'), await connected(group.url, 'work')];
    expect(await askTime(requests)).toBeGreaterThan(1e12);
    await work.set('{docket}:a', '1');
    let waits: Promise<number> | undefined;
    await group.replacePrimary(async (primary) => {
      await primary.kill();
      waits = work.incr('{docket}:a');
      await expect(requests.get('{docket}:a')).rejects.toThrow();
    });
    await expect.poll(() => requests.get('{docket}:a').catch(String), { timeout: 15_000 }).toBe('2');
    expect(await waits).toBe(2);
  }, 40_000);

  test.runIf(how === 'cluster')(
    'a blocking read that a frozen primary never answers counts as empty',
    async () => {
      const work = await connected(group.url, 'work');
      await work.get('{docket}:a');
      const primary = await group.primary();
      primary.freeze();
      onTestFinished(() => primary.thaw());
      // BullMQ takes a connection down a second after its own limit.
      expect(await within(2000, work.bzpopmin('{docket}:b', 1))).toBeNull();
    },
  );
});

const kindsAt = async (address: Parameters<typeof checkRedis>[0]) =>
  (await checkRedis(address)).map(({ kind, fatal }) => (fatal ? `${kind}!` : kind));

describe('what an address of several hosts gets wrong is named', () => {
  test('with Sentinel', async () => {
    const group = await startSentinels();
    onTestFinished(() => group.close());
    const protect = ['SETUSER', 'default', 'resetpass', '>s3cret'];
    await Promise.all(group.sentinels.map(({ client }) => client.call('ACL', ...protect)));
    const right = { url: group.url, sentinelPassword: 's3cret' };
    expect(await kindsAt(right)).toEqual([]);
    expect(await kindsAt({ url: group.url })).toEqual(['sentinel-password!']);
    expect(await kindsAt({ ...right, url: group.url.replace(/[^/]+$/, 'nobody') })).toEqual([
      'sentinel-name!',
    ]);
    expect(await kindsAt({ ...right, url: group.url.replace('redis+', 'rediss+') })).toEqual(['no-tls!']);
    expect(await kindsAt({ ...right, url: group.url.replace('://', '://nobody:wrong@') })).toEqual([
      'password!',
    ]);
    const [sentinel] = group.sentinels;
    expect(await kindsAt({ url: `redis://:s3cret@127.0.0.1:${sentinel?.port}` })).toEqual(['is-sentinel!']);
    const [primary, replica] = group.nodes;
    expect(await kindsAt({ url: `redis+sentinel://127.0.0.1:${primary?.port}/name` })).toEqual([
      'not-sentinel!',
    ]);
    expect(await kindsAt({ url: `redis+cluster://127.0.0.1:${primary?.port}` })).toEqual(['not-cluster!']);
    expect(await kindsAt({ url: `redis://127.0.0.1:${replica?.port}` })).toEqual(['read-only']);
    await Promise.all(group.sentinels.map((one) => one.kill()));
    expect(await kindsAt(right)).toEqual(['unreachable']);
  }, 60_000);

  test('with a cluster, which also has no replica', async () => {
    const group = await startCluster();
    onTestFinished(() => group.close());
    expect(await kindsAt({ url: group.url })).toEqual(['no-replica']);
    expect(await kindsAt({ url: `redis://127.0.0.1:${group.nodes[0]?.port}` })).toEqual(['is-cluster!']);
    await (await group.primary()).kill();
    expect(await kindsAt({ url: group.url })).toEqual(['unreachable']);
  }, 60_000);
});

describe('with TLS', () => {
  test.each(['sentinel', 'cluster'] as const)(
    '%s is reached, and what is wrong with certificates is named',
    async (how) => {
      const folder = temporaryFolder();
      onTestFinished(folder.remove);
      const tls = makeCertificates(folder.path);
      const group = await (how === 'sentinel' ? startSentinels({ tls }) : startCluster(1, { tls }));
      onTestFinished(() => group.close());
      const ca = readFileSync(tls.ca, 'utf8');
      expect(await kindsAt({ url: group.url, ca })).toEqual([]);
      const connection = connectForRequests({ url: group.url, ca }, defaultTiming, () => {});
      onTestFinished(() => connection.disconnect());
      if (connection.status !== 'ready') await once(connection, 'ready');
      expect(await connection.set('{docket}:x', '1')).toBe('OK');
      expect(await kindsAt({ url: group.url })).toEqual(['certificate!']);
      const text = async (url: string) => (await checkRedis({ url, ca }))[0]?.text;
      expect(await text(group.url.replaceAll('127.0.0.1', 'localhost'))).toContain('names other hosts');
      expect(await text(group.url.replace('rediss', 'redis'))).toContain('If it expects TLS, write rediss');
    },
    60_000,
  );

  test('a certificate that has expired is named', async () => {
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    const tls = makeCertificates(folder.path, { days: -1 });
    const server = createServer({ key: readFileSync(tls.key), cert: readFileSync(tls.cert) }).listen(
      0,
      '127.0.0.1',
    );
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const url = `rediss://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [problem] = await checkRedis({ url, ca: readFileSync(tls.ca, 'utf8') });
    expect(problem).toMatchObject({ kind: 'certificate', fatal: true });
    expect(problem?.text).toContain('has expired');
  });
});

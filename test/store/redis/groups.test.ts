import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { checkRedis, isFatal, type RedisProblem } from '../../../src/store/redis/check.ts';
import { connectForRequests } from '../../../src/store/redis/connections.ts';
import { temporaryFolder } from '../../support/flows/world.ts';
import { makeCertificates } from '../../support/store/certificates.ts';
import { startCluster, startSentinels } from '../../support/store/redis-groups.ts';

const labelOf = (problem: RedisProblem) => (isFatal(problem) ? `${problem.kind}!` : problem.kind);

const kindsAt = async (address: Parameters<typeof checkRedis>[0]) =>
  (await checkRedis(address)).problems.map(labelOf);

test('the address of sentinels is checked', async () => {
  const group = await startSentinels();
  onTestFinished(() => group.close());
  const protect = ['SETUSER', 'default', 'resetpass', '>s3cret'];
  await Promise.all(group.sentinels.map(({ client }) => client.call('ACL', ...protect)));
  const right = { url: group.url, sentinelPassword: 's3cret' };
  expect(await kindsAt(right)).toEqual([]);
  expect(await kindsAt({ url: group.url })).toEqual(['password!']);
  expect(await kindsAt({ ...right, url: group.url.replace(/[^/]+$/, 'nobody') })).toEqual(['address!']);
  expect(await kindsAt({ ...right, url: group.url.replace('://', '://nobody:wrong@') })).toEqual([
    'password!',
  ]);
  const port = group.sentinels[0]?.port;
  expect(await kindsAt({ url: `redis://:s3cret@127.0.0.1:${port}` })).toEqual(['address!']);
  const [primary, replica] = group.nodes;
  expect(await kindsAt({ url: `redis+sentinel://127.0.0.1:${primary?.port}/name` })).toEqual(['address!']);
  expect(await kindsAt({ url: `redis+cluster://127.0.0.1:${primary?.port}` })).toEqual(['address!']);
  expect(await kindsAt({ url: `redis://127.0.0.1:${replica?.port}` })).toEqual(['read-only']);
  await primary?.client.config('SET', 'min-replicas-to-write', '0');
  expect(await kindsAt(right)).toEqual(['min-replicas']);
  await Promise.all(group.sentinels.map((one) => one.kill()));
  expect(await kindsAt(right)).toEqual(['unreachable']);
}, 60_000);

test.each(['sentinel', 'cluster'] as const)(
  '%s is reached with TLS',
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
    expect(await kindsAt({ url: group.url.replace('rediss', 'redis') })).toEqual(['unreachable']);
  },
  60_000,
);

import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../demo/ports.ts';
import { SCHEMA } from '../../src/store/schema.ts';
import older from '../fixtures/data-of-schema-5.json' with { type: 'json' };
import { readData, restoreData } from '../support/data.ts';
import { openWay } from '../support/flows/redis-way.ts';
import { startDocket } from '../support/processes.ts';
import { startTestRedis } from '../support/redis.ts';

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends it in order', async (signal) => {
  const redis = await startTestRedis();
  onTestFinished(() => redis.close());
  const { child, ended, output } = startDocket({ PORT: '0', REDIS_URL: redis.url });
  await expect.poll(output, { timeout: 20_000 }).toContain('Docket is up');
  child.kill(signal);
  expect(await ended).toBe(0);
  expect(output()).toContain(`"signal":"${signal}","msg":"stopping"`);
});

test('a DATA_DIR that cannot be used ends it with 1 and a sentence', async () => {
  const file = new URL('../../package.json', import.meta.url).pathname;
  const { ended, output } = startDocket({ PORT: '0', DATA_DIR: file });
  expect(await ended).toBe(1);
  expect(output()).toContain(`DATA_DIR ${file} cannot be used (EEXIST at ${file}). Set it to a folder`);
});

// As with a terminal that is gone, nothing can be written there.
test.runIf(existsSync('/dev/full'))('it works and ends in order where it cannot log', async () => {
  const redis = await startTestRedis();
  onTestFinished(() => redis.close());
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const port = await freePort();
  const { child, ended, output } = startDocket({ PORT: String(port), REDIS_URL: redis.url }, full);
  const ready = () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status, String);
  await expect.poll(ready, { timeout: 20_000 }).toBe(200);
  child.kill('SIGHUP');
  expect(await ended).toBe(0);
  expect(output()).toBe('');
});

test('a port that is taken ends it with 1 and a sentence', async () => {
  const server = createServer().listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { ended, output } = startDocket({ PORT: String(port), REDIS_URL: 'redis://127.0.0.1:9' });
  expect(await ended).toBe(1);
  expect(output()).toBe(
    `Port ${port} is taken by another program. Stop that one, or set PORT to a free port.\n`,
  );
});

test('a Redis that is not fit ends it with 1 and sentences, and nothing is written', async () => {
  const redis = await startTestRedis();
  onTestFinished(() => redis.close());
  await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await redis.client.config('SET', 'appendonly', 'no');
  const { ended, output } = startDocket({ PORT: '0', REDIS_URL: redis.url });
  expect(await ended).toBe(1);
  expect(output()).toMatch(
    /^Docket can't start with this Redis:\n {2}- Redis drops keys .*\n {2}- Redis keeps no append-only file: .*\n$/,
  );
  expect(await redis.client.dbsize()).toBe(0);
});

describe('data of another schema', () => {
  const refusalOf = (schema: string) =>
    `These data have schema ${schema}; this Docket reads ${SCHEMA}. Run the matching release, or empty the data (docs/upgrade.md).\n`;
  const other = String(Number(SCHEMA) + 1);

  test('end the start with 1 and what to do, and nothing is written', async () => {
    const redis = await startTestRedis();
    onTestFinished(() => redis.close());
    await redis.client.set('{docket}:schema', other);
    const { ended, output } = startDocket({ PORT: '0', REDIS_URL: redis.url });
    expect(await ended).toBe(1);
    expect(output()).toBe(refusalOf(other));
    expect(await redis.client.keys('*')).toEqual(['{docket}:schema']);
  });

  test('as an older Docket left them end the start, and stay as they are', async () => {
    const redis = await startTestRedis();
    onTestFinished(() => redis.close());
    await restoreData(redis.client, older);
    const before = await readData(redis.client);
    expect(before).toEqual(older);
    const { ended, output } = startDocket({ PORT: '0', REDIS_URL: redis.url });
    expect(await ended).toBe(1);
    expect(output()).toBe(refusalOf('5'));
    expect(await readData(redis.client)).toEqual(before);
  });

  test('in a Redis that was away at the start end Docket once it is there', async () => {
    const redis = await startTestRedis();
    onTestFinished(() => redis.close());
    await redis.client.set('{docket}:schema', other);
    const port = await freePort();
    const { ended, output } = startDocket({ PORT: '0', REDIS_URL: `redis://127.0.0.1:${port}` });
    await expect.poll(output, { timeout: 20_000 }).toContain('Docket is up');
    const way = await openWay(redis.url, port);
    onTestFinished(() => way.close());
    expect(await ended).toBe(1);
    expect(output()).toContain(refusalOf(other));
  });
});

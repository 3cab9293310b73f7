import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { infoFields } from '../../../src/store/redis/client.ts';
import { connectForWork } from '../../../src/store/redis/connections.ts';
import { noteReplicas, waitForReplica } from '../../../src/store/redis/lua.ts';
import { startRedisPair } from '../../support/flows/redis-pair.ts';

/** A connection whose primary was asked for its replicas. */
async function asked(url: string): Promise<Redis> {
  const client = connectForWork({ url }, defaultTiming, () => {}) as Redis;
  onTestFinished(() => client.disconnect());
  if (client.status !== 'ready') await once(client, 'ready');
  noteReplicas(client, infoFields(await client.info('replication')));
  return client;
}

test('a write is answered once a replica has it', async () => {
  const { primary, replica } = await startRedisPair();
  const client = await asked(primary.url);
  for (let n = 0; n < 200; n += 1) {
    await waitForReplica(client, () => client.set('n', n));
    expect(await replica.client.get('n')).toBe(String(n));
  }
});

test('a replica that hangs is waited for briefly', async () => {
  const { primary, replica } = await startRedisPair();
  const client = await asked(primary.url);
  replica.freeze();
  onTestFinished(() => replica.thaw());
  const fromMs = performance.now();
  expect(await waitForReplica(client, () => client.set('n', 1))).toBe('OK');
  expect(performance.now() - fromMs).toBeLessThan(1000);
});

test('a write whose connection ends before a replica has it is made again, at most three times', async () => {
  const { primary } = await startRedisPair();
  const client = await asked(primary.url);
  let ends = 1;
  let writes = 0;
  const write = async () => {
    writes += 1;
    if (writes <= ends) {
      client.disconnect(true);
      await once(client, 'ready');
    }
    return writes;
  };
  expect(await waitForReplica(client, write)).toBe(2);
  ends = 100;
  await expect(waitForReplica(client, write)).rejects.toThrow('keep ending');
  expect(writes).toBe(5);
});

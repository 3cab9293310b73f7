import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../src/runtime/log.ts';
import { OperatorError } from '../../src/runtime/operator-error.ts';
import { createShutdownHooks } from '../../src/runtime/stopping.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { startQueueDashboard } from '../../src/server/queue-dashboard.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();

function partsOf() {
  const closers = createShutdownHooks(createLog('silent', []));
  onTestFinished(async () => {
    closers.stop();
    await closers.closeAll();
  });
  return { address: { url: redis.url }, timing: defaultTiming, closers, onRedisError: () => {} };
}

async function shown() {
  const port = await startQueueDashboard(0, partsOf());
  return (path: string, { method = 'GET', ...headers }: Record<string, string> = {}) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      asked.on('error', reject).end();
    });
}

test('this machine sees the queues', async () => {
  const ask = await shown();
  expect(await ask('/')).toMatchObject({ status: 200, text: expect.stringContaining('Docket') });
  // Its connection to Redis may need a moment.
  await expect.poll(async () => (await ask('/api/queues')).status).toBe(200);
  const { text } = await ask('/api/queues');
  const { queues } = JSON.parse(text);
  expect(queues.map(({ name }: { name: string }) => name)).toEqual([
    'docs-export',
    'docs-agent',
    'docs-analytics',
    'slack-outbox',
  ]);
  expect(queues.every(({ readOnlyMode }: { readOnlyMode: boolean }) => readOnlyMode)).toBe(true);
});

test('nothing can be changed', async () => {
  const ask = await shown();
  for (const method of ['PUT', 'POST', 'PATCH', 'DELETE'])
    expect((await ask('/api/queues/docs-export/pause', { method })).status).toBe(405);
  expect(await redis.client.hget('{docket}:docs-export:meta', 'paused')).toBeNull();
});

test('nobody sees them through a proxy, or under another name', async () => {
  const ask = await shown();
  const others = [
    { 'x-forwarded-for': '127.0.0.1' },
    { forwarded: 'for=1' },
    { 'cf-connecting-ip': '127.0.0.1' },
    { 'true-client-ip': '127.0.0.1' },
    { origin: 'https://evil.example' },
    { host: 'rebound.evil.example' },
  ];
  for (const headers of others)
    expect(await ask('/api/queues', headers as never)).toEqual({ status: 403, text: '' });
});

test('without the packages, the start says which', async () => {
  const started = startQueueDashboard(0, partsOf(), () => Promise.reject(new Error('Cannot find package')));
  await expect(started).rejects.toThrow(OperatorError);
  await expect(started).rejects.toThrow('npm install --no-save @bull-board/express@9.10.1');
});

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { OperatorError } from '../src/runtime/operator-error.ts';
import { startTestApp } from './support/app.ts';
import { redisForTests } from './support/redis.ts';
import { signatureOf } from './support/sign.ts';

const SECRET = '0123456789abcdef0123456789abcdef';

const redis = redisForTests();

async function app(env: NodeJS.ProcessEnv) {
  const docket = await startTestApp({ REDIS_URL: redis.url, ...env });
  onTestFinished(() => docket.stop());
  return docket;
}

async function takenPort(): Promise<string> {
  const server = createServer().listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return String((server.address() as AddressInfo).port);
}

test.each(['all', 'web', 'worker'])('the role %s answers health checks', async (role) => {
  const { get } = await app({ DOCKET_ROLE: role });
  expect(await get('/healthz')).toEqual({ status: 200, body: { alive: true } });
  await expect
    .poll(() => get('/readyz?from=probe'))
    .toMatchObject({
      status: 200,
      body: { ready: true, parts: { redis: 'up', docs: 'unknown' }, problems: [] },
    });
  expect((await get('/nothing')).status).toBe(404);
});

test('a worker answers health checks on HEALTH_PORT, and takes no requests', async () => {
  const PORT = await takenPort();
  const { port } = await app({ DOCKET_ROLE: 'worker', PORT, HEALTH_PORT: '0' });
  const { status } = await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST' });
  expect(status).toBe(404);
});

test.each([
  ['all', 'PORT'],
  ['web', 'PORT'],
  ['worker', 'HEALTH_PORT'],
])('with the role %s, a port that is taken ends the start with the fix', async (role, setting) => {
  const PORT = await takenPort();
  await expect(app({ DOCKET_ROLE: role, PORT })).rejects.toThrow(
    new OperatorError(
      `Port ${PORT} is taken by another program. Stop that one, or set ${setting} to a free port.`,
    ),
  );
});

test('requests that are not signed with the secret are a problem in /readyz until one is', async () => {
  const { get, port } = await app({ SLACK_SIGNING_SECRET: SECRET });
  const problems = async () => (await get('/readyz')).body.problems;
  const posts = (secret: string) => {
    const body = JSON.stringify({ type: 'url_verification', challenge: 'abc' });
    return fetch(`http://127.0.0.1:${port}/slack/events`, {
      method: 'POST',
      headers: signatureOf(body, secret),
      body,
    });
  };
  expect((await posts('another')).status).toBe(401);
  expect(await problems()).toEqual([
    {
      name: 'slack_signature',
      level: 'error',
      text: "A request isn't signed with SLACK_SIGNING_SECRET. If no command works, copy the secret again. If commands work, the request isn't from Slack: do nothing.",
    },
  ]);
  expect((await posts(SECRET)).status).toBe(200);
  expect(await problems()).toEqual([]);
});

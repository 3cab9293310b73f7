import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../demo/ports.ts';
import { startDocket } from '../support/processes.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { signatureOf } from '../support/sign.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const CONNECTIONS = 300;
const UPDATE = 'msg_0123456789abcdef01234567_1_1';

/** What Slack waits for at most. */
const ANSWER_MS = 3000;
/** Of three floods. Without a bound, one takes 500 MB. */
const GROWTH_MB = 100;

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.close());

/** Docket with little memory, on a port of its own. */
async function start(env: NodeJS.ProcessEnv) {
  const port = await freePort();
  const docket = startDocket({
    NODE_OPTIONS: '--max-old-space-size=256',
    REDIS_URL: redis.url,
    LOG_LEVEL: 'warn',
    PORT: String(port),
    HEALTH_PORT: String(port),
    ...env,
  });
  onTestFinished(async () => {
    docket.child.kill('SIGKILL');
    await docket.ended;
  });
  const ready = () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status, String);
  await expect.poll(ready, { timeout: 20_000 }).toBe(200);
  return { ...docket, port };
}

/** Sends head and body in one write on all connections at once. Resolves when Docket has closed them. */
async function flood(port: number, path: string, headers: object) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\nhost: docket\r\ntransfer-encoding: chunked\r\n${lines.join('')}\r\n`;
  const sent = Buffer.from(`${head}${'1\r\nx\r\n'.repeat(130_000 / 6)}`);
  const closed = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    return new Promise((resolve) =>
      socket
        .on('error', () => {})
        .on('close', resolve)
        .resume(),
    );
  });
  await Promise.all(closed);
}

/** How long a signed request waits for its answer. */
async function acknowledgement(port: number): Promise<number> {
  const body = JSON.stringify({ type: 'url_verification', challenge: 'x' });
  const headers = { 'content-type': 'application/json', ...signatureOf(body, SECRET) };
  const sentMs = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', headers, body });
  expect(await answer.json()).toEqual({ challenge: 'x' });
  return performance.now() - sentMs;
}

const residentMb = (pid: number | undefined, what: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

describe.runIf(existsSync('/proc/self/status'))('bodies in chunks of a byte, on 300 connections', () => {
  test('delay no request of Slack, and take little memory', async () => {
    const { child, port } = await start({ DOCKET_ROLE: 'web' });
    const before = residentMb(child.pid, 'VmRSS');
    for (const [path, headers] of [
      ['/none', {}],
      ['/slack/events', signatureOf('', 'somebody')],
      [`/deployments/${UPDATE}`, { 'webhook-id': UPDATE }],
    ] as const) {
      const floods = flood(port, path, headers);
      expect
        .soft([path, await acknowledgement(port)])
        .toEqual([path, expect.toSatisfy((ms) => ms < ANSWER_MS)]);
      await floods;
    }
    const grown = residentMb(child.pid, 'VmHWM') - before;
    expect(grown).toBeLessThan(GROWTH_MB);
  });

  test('take little memory of a worker', async () => {
    const { child, port } = await start({ DOCKET_ROLE: 'worker' });
    const before = residentMb(child.pid, 'VmRSS');
    await flood(port, '/healthz', {});
    const grown = residentMb(child.pid, 'VmHWM') - before;
    expect(grown).toBeLessThan(GROWTH_MB);
  });
});

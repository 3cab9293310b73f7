import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../support/app.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { signatureOf } from '../support/sign.ts';

let redis: TestRedis;
let docket: Awaited<ReturnType<typeof startTestApp>>;
beforeAll(async () => {
  redis = await startTestRedis();
  docket = await startTestApp({ DOCKET_ROLE: 'web', REDIS_URL: redis.url, LOG_LEVEL: 'silent' });
});
afterAll(async () => {
  await docket.stop();
  await redis.close();
});

const CHUNKED = { 'transfer-encoding': 'chunked' };

function sends(request: string, headers: object, port = docket.port) {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const sent = { text: '', socket };
  socket.on('error', () => {}).on('data', (chunk) => (sent.text += chunk));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${request} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}\r\n`);
  return sent;
}

test.each<[string, number, string?, object?]>([
  ['POST /slack/events', 401],
  ['POST /slack/events', 413, 'signed by somebody', signatureOf('', 'somebody')],
  ['POST /slack/events', 413, 'signed an hour ago', signatureOf('', 'somebody', Date.now() - 3_600_000)],
  ['POST /nowhere', 404],
  ['GET /nowhere', 404],
  ['DELETE /healthz', 404],
  ['GET /healthz', 400],
  ['GET /readyz', 400],
  ['GET /metrics', 400],
])(
  'a body of one-byte chunks that never ends is cut off: %s, %i %s',
  async (request, status, _, headers = {}) => {
    const sent = sends(request, { ...CHUNKED, ...headers });
    const { socket } = sent;
    const flood = () => void (socket.writable && socket.write('1\r\nx\r\n'.repeat(2000), flood));
    flood();
    await expect.poll(() => socket.destroyed).toBe(true);
    expect(sent.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(sent.text.toLowerCase()).toContain('\r\nconnection: close\r\n');
  },
);

test('an idle connection stays for 75 s, longer than load balancers keep theirs, or as KEEP_ALIVE_SECONDS says', async () => {
  const idle = (app: typeof docket) =>
    fetch(`http://127.0.0.1:${app.port}/healthz`).then(({ headers }) => headers.get('keep-alive'));
  expect(await idle(docket)).toBe('timeout=75');
  const other = await startTestApp({ DOCKET_ROLE: 'web', REDIS_URL: redis.url, KEEP_ALIVE_SECONDS: '3' });
  onTestFinished(() => other.stop());
  expect(await idle(other)).toBe('timeout=3');
});

test('HOST is the only address that it listens on', async () => {
  const app = await startTestApp({ DOCKET_ROLE: 'web', REDIS_URL: redis.url, HOST: '127.0.0.1' });
  onTestFinished(() => app.stop());
  expect((await fetch(`http://127.0.0.1:${app.port}/healthz`)).status).toBe(200);
  await expect(fetch(`http://127.0.0.2:${app.port}/healthz`)).rejects.toThrow();
});

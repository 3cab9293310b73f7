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

const UPDATE = 'msg_0123456789abcdef01234567_1_1';
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

const SIGNED_BY_SOMEBODY = signatureOf('', 'somebody');
const SIGNED_AN_HOUR_AGO = signatureOf('', 'somebody', Date.now() - 3_600_000);

test.each<[request: string, status?: number | undefined, more?: object]>([
  // Docket would read these bodies: it closes the connection at once.
  ['POST /slack/events'],
  ['POST /slack/events', undefined, SIGNED_BY_SOMEBODY],
  ['POST /slack/events', undefined, SIGNED_AN_HOUR_AGO],
  [`POST /deployments/${UPDATE}`, undefined, { 'webhook-id': UPDATE }],
  ['POST /nowhere', 404],
  ['GET /nowhere', 404],
  ['DELETE /healthz', 404],
  ['GET /healthz', 400],
  ['GET /readyz', 400],
  ['GET /metrics', 400],
])('a body of one-byte chunks that never ends is cut off: %s, %i', async (request, status, more = {}) => {
  const sent = sends(request, { ...CHUNKED, ...more });
  const { socket } = sent;
  const flood = () => void (socket.writable && socket.write('1\r\nx\r\n'.repeat(2000), flood));
  flood();
  await expect.poll(() => socket.destroyed).toBe(true);
  if (status === undefined) expect(sent.text).toBe('');
  else expect(sent.text).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\nconnection: close\r\n`, 'is'));
});

test('a body in chunks of a kilobyte is read, as proxies send it', async () => {
  const piece = `3e8\r\n${'x'.repeat(1000)}\r\n`;
  const sent = sends('POST /slack/events', { ...CHUNKED, ...SIGNED_BY_SOMEBODY });
  sent.socket.write(`${piece.repeat(500)}0\r\n\r\n`);
  // The signature is checked once the whole body is there.
  await expect.poll(() => sent.text).toMatch(/^HTTP\/1.1 401 /);
});

test('requests in one write are answered one after another', async () => {
  const sent = sends(`${'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'.repeat(999)}GET /nowhere`, {});
  await expect.poll(() => sent.text).toContain('HTTP/1.1 404 ');
  expect(sent.text.split('HTTP/1.1 200 ')).toHaveLength(1000);
});

test('connections without a request make room for others', async () => {
  const idle = Array.from({ length: 1000 }, () => sends('GET /healthz', {}));
  await expect.poll(() => idle.every(({ text }) => text.includes('200 OK'))).toBe(true);
  const healthz = () => fetch(`http://127.0.0.1:${docket.port}/healthz`).then(({ status }) => status, String);
  await expect.poll(healthz).toBe(200);
});

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

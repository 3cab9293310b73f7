import { once } from 'node:events';
import { connect } from 'node:net';
import { App } from '@slack/bolt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../src/runtime/log.ts';
import { createHealth } from '../../src/server/health.ts';
import { createHttpReceiver } from '../../src/server/http-receiver.ts';
import { startHttpServer } from '../../src/server/http-server.ts';
import { createSlackLogger } from '../../src/slack/web-calls.ts';
import { unread } from '../support/metrics.ts';
import { signatureOf } from '../support/sign.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const FORM = 'application/x-www-form-urlencoded';

const minute = 60_000;

/** The receiver with a Bolt of its own, which answers `/docs-test` with what `listener` returns. */
async function setting({
  listener = async (): Promise<unknown> => ({ text: 'Done' }),
  arriveMs = 60_000,
} = {}) {
  const lines: { level: number; msg: string }[] = [];
  const log = createLog('debug', [], { write: (line: string) => void lines.push(JSON.parse(line)) });
  const clock = { ms: Date.now() };
  const now = () => clock.ms;
  const server = await startHttpServer('PORT', 0, log, { receiveTimeoutMs: arriveMs });
  onTestFinished(() => server.close());
  const health = createHealth({
    server,
    log,
    now,
    monotonicMs: now,
    afterMs: minute,
    retryMs: minute,
    probeMs: minute,
    slackParts: ['slack'],
    onCall() {},
  });
  const receiver = createHttpReceiver({
    path: '/slack/events',
    signingSecret: SECRET,
    secretName: 'SLACK_SIGNING_SECRET',
    server,
    now,
    metrics: unread,
    health,
    newRef: () => '7f3c1d',
    log,
  });
  const bolt = new App({
    receiver,
    logger: createSlackLogger(log),
    convoStore: false,
    authorize: async () => ({ botToken: 'xoxb-1' }),
  });
  const asked: string[] = [];
  bolt.command('/docs-test', async ({ ack, body }) => {
    asked.push(body.text);
    await ack((await listener()) as never);
  });
  bolt.event('message', async () => void (await listener()));
  await bolt.start();

  const url = `http://127.0.0.1:${server.port}/slack/events`;
  async function posts(body: string, headers: Record<string, string> = signed(body)) {
    const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': FORM, ...headers } });
    return { status: answer.status, text: await answer.text() };
  }
  /** Sends as much as this and leaves the connection open; answers what comes back. */
  function sends(...parts: (string | Buffer)[]) {
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const sent = { text: '', socket };
    socket.on('error', () => {}).on('data', (chunk) => (sent.text += chunk));
    for (const part of parts) socket.write(part);
    return sent;
  }
  const signed = (body: string) => signatureOf(body, SECRET, clock.ms);
  return {
    ...{ posts, sends, signed, asked, lines, clock },
    problem: () => health.problems()[0]?.text,
    said: () => lines.map(({ msg }) => msg),
  };
}

const command = (text = '') =>
  new URLSearchParams({
    command: '/docs-test',
    text,
    team_id: 'T0ACME',
    user_id: 'U0ANA',
    channel_id: 'C0DOCS',
    trigger_id: '1.2.a',
  }).toString();
const json = { 'content-type': 'application/json' };

/** A request's head. */
const head = (headers: Record<string, string | number>) =>
  `POST /slack/events HTTP/1.1\r\nhost: docket\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

describe('a request that Slack signed', () => {
  test('is acknowledged with what the listener says, only once that has finished', async () => {
    const finish = Promise.withResolvers<object>();
    const { posts, asked } = await setting({ listener: () => finish.promise });
    let answered = false;
    const answer = posts(command('x')).finally(() => (answered = true));
    await expect.poll(() => asked).toEqual(['x']);
    expect((await posts('no command')).status).toBe(500);
    expect(answered).toBe(false);
    finish.resolve({ text: 'Hi' });
    expect(await answer).toEqual({ status: 200, text: '{"text":"Hi"}' });
  });

  test.each([
    ['the check of the address', { type: 'url_verification', challenge: 'abc' }, 200, '{"challenge":"abc"}'],
    ['a word that events are held back', { type: 'app_rate_limited', team_id: 'T0ACME' }, 200, ''],
    ['nothing', null, 400, ''],
  ])('%s is answered without a listener', async (_, body, status, text) => {
    const { posts, signed } = await setting();
    const sent = JSON.stringify(body);
    expect(await posts(sent, { ...signed(sent), ...json })).toEqual({ status, text });
  });
});

describe('a request that Slack did not sign just now', () => {
  const now = Date.now();
  const right = signatureOf(command(), SECRET, now);
  test.each<[string, Record<string, string>]>([
    ['without a signature', { 'x-slack-signature': '' }],
    ['with the hash of nothing', { 'x-slack-signature': 'v0=00' }],
    ['with a newer version', { 'x-slack-signature': String(right['x-slack-signature']).replace('v0', 'v1') }],
    ['signed with another secret', signatureOf(command(), 'another', now)],
    ['with another body', signatureOf(command('x'), SECRET, now)],
    ['of six minutes ago', signatureOf(command(), SECRET, now - 6 * minute)],
    ['of six minutes ahead', signatureOf(command(), SECRET, now + 6 * minute)],
    [
      'of another time than it was signed at',
      { 'x-slack-request-timestamp': `${Math.floor(now / 1000) - 1}` },
    ],
    ['at no time', { 'x-slack-request-timestamp': 'soon' }],
    ['at endless time', { 'x-slack-request-timestamp': '1e99' }],
  ])('is refused: %s', async (_, headers) => {
    const { posts, asked, clock } = await setting();
    clock.ms = now;
    expect(await posts(command(), { ...right, ...headers })).toEqual({ status: 401, text: '' });
    expect(asked).toEqual([]);
  });

  test.each([
    ['without a signature', {}],
    ['with one of another form', { 'x-slack-signature': 'v0=1', 'x-slack-request-timestamp': 1 }],
  ])('is refused before its body has come: %s', async (_, headers) => {
    const { sends } = await setting();
    const sent = sends(head({ 'content-length': 1_000_000, ...headers }), 'half');
    await expect.poll(() => sent.text).toContain('HTTP/1.1 401 ');
  });

  test('may only check the certificate, as Slack does without a signature', async () => {
    const { posts } = await setting();
    expect((await posts('ssl_check=1&token=x', {})).status).toBe(200);
    expect((await posts(`ssl_check=1&${command()}&fill=${'x'.repeat(1000)}`, {})).status).toBe(401);
    expect((await posts('ssl_check=2', {})).status).toBe(401);
  });
});

describe('a body', () => {
  const shaped = () => signatureOf('', 'whoever', Date.now());

  test('of a long message is taken', async () => {
    const { posts, asked } = await setting();
    expect((await posts(command('x'.repeat(1_500_000)))).status).toBe(200);
    expect(asked[0]).toHaveLength(1_500_000);
  });

  test.each([
    ['announced', [head({ 'content-length': 2_000_001, ...shaped() })]],
    [
      'sent',
      [
        head({ 'transfer-encoding': 'chunked', ...shaped() }),
        `${(2_000_001).toString(16)}\r\n`,
        Buffer.alloc(2_000_001),
      ],
    ],
  ])('of more than 2 MB is refused as soon as it is %s', async (_, parts) => {
    const { sends } = await setting();
    const sent = sends(...parts);
    await expect.poll(() => sent.text).toContain('HTTP/1.1 413 ');
  });

  test('that is half sent is cut off in time, refused or not', async () => {
    const { sends } = await setting({ arriveMs: 200 });
    const sent = [
      sends(head({ 'content-length': 100, ...shaped() }), 'half'),
      sends(head({ 'content-length': 100 }), 'half'),
      sends('POST /slack/events HTTP/1.1\r\nhost: do'),
    ];
    await Promise.all(sent.map(({ socket }) => socket.closed || once(socket, 'close')));
    expect(sent[0]?.text).toContain('HTTP/1.1 408 ');
  });

  test('beyond 32 MB in all, at all receivers together, is refused unless it is short', async () => {
    const [{ sends, posts }, other] = [await setting(), await setting()];
    const start = head({ 'content-length': 1_900_000, ...shaped() });
    const sent = Array.from({ length: 20 }, (_, n) =>
      (n % 2 === 0 ? sends : other.sends)(start, Buffer.alloc(1_700_000)),
    );
    const refused = () => sent.filter(({ text }) => text.includes('HTTP/1.1 503 ')).length;
    await expect.poll(refused).toBeGreaterThan(0);
    expect((await posts(command())).status).toBe(200);
    expect(refused()).toBeLessThan(20);
  });
});

describe('operators are warned', () => {
  test.each([
    ['behind', 10, "Slack's request is 600 s ahead of this machine's clock. Set the clock (NTP)."],
    ['ahead', -10, "Slack's request is 600 s behind this machine's clock. Set the clock (NTP)."],
  ])('that its clock is %s, once', async (_, minutes, text) => {
    const { posts, clock, said, problem } = await setting();
    const slacks = () => signatureOf(command(), SECRET, clock.ms + minutes * minute);
    clock.ms = 1000 * Math.floor(clock.ms / 1000);
    for (let n = 0; n < 3; n += 1) expect((await posts(command(), slacks())).status).toBe(401);
    await expect.poll(problem).toBe(text);
    expect(said()).toEqual([text]);
    expect((await posts(command())).status).toBe(200);
    await expect.poll(problem).toBeUndefined();
  });
});

test.each([
  `GET http://[${'x'.repeat(15_000)}`,
  `GET /${'@'.repeat(15_000)}`,
  'POST /slack/events/%',
  'PUT /slack/events',
  'OPTIONS *',
])('what cannot be dispatched is answered with 404, and nothing of it is logged: %.30s', async (request) => {
  const { sends, lines } = await setting();
  const sent = sends(`${request} HTTP/1.1\r\nhost: docket\r\n\r\n`);
  await expect.poll(() => sent.text).toContain('HTTP/1.1 404 ');
  expect(lines).toEqual([]);
});

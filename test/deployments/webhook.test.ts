import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSender } from '../../src/deployments/sender.ts';
import { secretsOfWebhook, sendWebhook, signWebhook, verifyWebhook } from '../../src/deployments/webhook.ts';
import { answering, httpServer, tcpServer } from '../support/docs-api/servers.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const nowMs = Date.now();
const link = 'https://files.test/b.tar.gz?X-Signature=5ecret';
const message = { id: 'msg_1', body: JSON.stringify({ type: 'export.ready', data: { bundleUrl: link } }) };

/** What comes of one attempt at an address. */
function sent(url: string, timeoutMs = 5000, stopping = new AbortController().signal) {
  const sender = createSender(undefined, timeoutMs, stopping);
  onTestFinished(() => void sender.close());
  return sendWebhook(sender.send, { url, secret, includeLink: true }, message, nowMs);
}

/** Headers of a message signed at a time. */
function signed(id: string, body: string, ms = nowMs, key = secret) {
  const timestamp = String(Math.floor(ms / 1000));
  const signature = signWebhook(key, { id, body }, timestamp);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}

describe('signatures', () => {
  test.each([24, 32, 64])('with a secret of %i bytes are those of the package standardwebhooks', (bytes) => {
    const key = `whsec_${randomBytes(bytes).toString('base64')}`;
    const body = '{"text":"täglich 🚀"}';
    const headers = signed('msg_2', body, nowMs, key);
    const theirs = new Webhook(key);
    expect(theirs.verify(body, headers)).toEqual({ text: 'täglich 🚀' });
    const given = { ...headers, 'webhook-signature': theirs.sign('msg_2', new Date(nowMs), body) };
    expect(verifyWebhook(key, given, body, nowMs)).toBe(true);
  });

  test('one of several is enough', () => {
    const headers = signed('msg_1', '{}');
    const others = `v1a,${randomBytes(64).toString('base64')} v1,${randomBytes(32).toString('base64')}`;
    const both = { ...headers, 'webhook-signature': `${others} ${headers['webhook-signature']}` };
    expect(verifyWebhook(secret, both, '{}', nowMs)).toBe(true);
    expect(verifyWebhook(secret, { ...headers, 'webhook-signature': others }, '{}', nowMs)).toBe(false);
  });

  test.each([
    [0, true],
    [299_000, true],
    [-299_000, true],
    [302_000, false],
    [-302_000, false],
  ])('%i ms apart: %s', (ms, accepted) => {
    expect(verifyWebhook(secret, signed('msg_1', '{}', nowMs + ms), '{}', nowMs)).toBe(accepted);
  });

  test('of something else are refused', () => {
    const headers = signed('msg_1', '{}');
    const refused: [Record<string, string | string[] | undefined>, string?][] = [
      [headers, '{ }'],
      [{ ...headers, 'webhook-id': 'msg_2' }],
      [{ ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }],
      [{ ...headers, 'webhook-timestamp': 'NaN' }],
      [{ ...headers, 'webhook-timestamp': `${headers['webhook-timestamp']}.0` }],
      [{ ...headers, 'webhook-signature': '' }],
      [{ ...headers, 'webhook-signature': headers['webhook-signature'].slice(0, -1) }],
      [{ ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') }],
      [{ ...headers, 'webhook-signature': undefined }],
      [{ ...headers, 'webhook-id': ['msg_1', 'msg_1'] }],
      [{}],
      [signed('msg_1', '{}', nowMs, `whsec_${randomBytes(32).toString('base64')}`)],
    ];
    for (const [given, body = '{}'] of refused) expect(verifyWebhook(secret, given, body, nowMs)).toBe(false);
  });
});

describe('a message', () => {
  test('arrives as the package standardwebhooks accepts it', async () => {
    const server = await answering(204, '');
    expect(await sent(`${server.url}/docket?tenant=1`)).toEqual({ kind: 'delivered' });
    const [request] = server.requests;
    expect(request).toMatchObject({ line: 'POST /docket?tenant=1', body: message.body });
    expect(request?.headers['content-type']).toBe('application/json');
    const verified = new Webhook(secret).verify(
      request?.body ?? '',
      request?.headers as Record<string, string>,
    );
    expect(verified).toEqual(JSON.parse(message.body));
  });

  test.each([200, 201, 202, 299])('answered with %i is delivered', async (status) => {
    expect(await sent((await answering(status, 'ok')).url)).toEqual({ kind: 'delivered' });
  });

  test.each([400, 401, 403, 404, 410, 422, 451])('answered with %i is refused', async (status) => {
    const result = await sent((await answering(status, '\n no such site \nsecond line')).url);
    expect(result).toEqual({ kind: 'refused', status, text: 'no such site' });
  });

  test.each([300, 301, 302, 307, 308, 408, 409, 425, 429, 500, 502, 503, 599])(
    'answered with %i is tried again, and nothing is followed',
    async (status) => {
      const target = await answering(200, '');
      const server = await answering(status, 'x', { location: target.url, 'retry-after': '90' });
      const again = { kind: 'retry', reason: `status ${status}`, retryAfterMs: 90_000 };
      expect(await sent(server.url)).toEqual(again);
      expect([server.requests.length, target.requests.length]).toEqual([1, 0]);
    },
  );

  test('that nobody takes is tried again', async () => {
    const closed = await tcpServer(() => {});
    await closed.close();
    expect(await sent(closed.url)).toEqual({ kind: 'retry', reason: 'ECONNREFUSED' });
    const dead = await tcpServer((socket) => socket.destroy());
    expect(await sent(dead.url)).toMatchObject({ kind: 'retry' });
    const flood = await answering(410, '', { 'x-long': 'x'.repeat(100_000) });
    expect(await sent(flood.url)).toMatchObject({ kind: 'retry', reason: 'UND_ERR_HEADERS_OVERFLOW' });
    const garbage = await tcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    expect(await sent(garbage.url)).toMatchObject({ kind: 'retry', reason: 'HTTPParserError' });
  });

  test('without an answer in time, or cancelled, is tried again', async () => {
    const silent = await tcpServer(() => {});
    const late = { kind: 'retry', reason: 'no answer in time' };
    expect(await sent(silent.url, 200)).toEqual(late);
    const cancelled = sent(silent.url, 5000, AbortSignal.timeout(50));
    expect(await cancelled).toMatchObject({ kind: 'retry' });
  });

  test.each([200, 410])('whose answer %i never ends is read up to 4 KB', async (status) => {
    let written = 0;
    const server = await httpServer((_, response) => {
      response.writeHead(status);
      const more = () => {
        while (response.writable && response.write('gone '.repeat(1000))) written += 5000;
      };
      response.on('drain', more).on('error', () => {});
      more();
    });
    const text = expect.stringMatching(/^gone (?:gone )+/);
    const result = await sent(server.url);
    expect(result).toEqual(status === 200 ? { kind: 'delivered' } : { kind: 'refused', status, text });
    expect(written).toBeLessThan(20_000_000);
  });

  test.each([200, 410])('whose answer %i stops in the middle has its status', async (status) => {
    const server = await httpServer((_, response) => {
      response.writeHead(status);
      response.write('no such site');
    });
    const result = await sent(server.url, 300);
    const refused = { kind: 'refused', status, text: 'no such site' };
    expect(result).toEqual(status === 200 ? { kind: 'delivered' } : refused);
  });

  test('whose answer comes a byte at a time ends at the time limit', async () => {
    const server = await httpServer((_, response) => {
      response.writeHead(410);
      const drip = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(drip));
    });
    const startMs = performance.now();
    expect(await sent(server.url, 300)).toMatchObject({ kind: 'refused', status: 410 });
    expect(performance.now() - startMs).toBeLessThan(2000);
  });

  test.each([
    ['as it is', link],
    ['with invisible characters in it', [...link].join('\u200b')],
  ])('that is refused with the link in the text, %s, shows no link', async (_, sentBack) => {
    const server = await answering(410, `Gone: ${sentBack} is not for us`);
    expect(await sent(server.url)).toEqual({ kind: 'refused', status: 410, text: 'Gone: … is not for us' });
  });

  test('that is sent back shows neither link nor secret nor signature', async () => {
    const server = await httpServer(({ headers }, response) => {
      const { 'webhook-signature': signature } = headers;
      const echoes = [signature, ...secretsOfWebhook({ url: 'https://x.test/', secret }), message.body];
      const links = [link.replaceAll('/', '\\/'), encodeURIComponent(link), '/b.tar.gz?X-Signature=5ecret'];
      response.writeHead(400);
      response.end(`bad\u0007 ${[...echoes, ...links].join(' ')}`);
    });
    const result = await sent(server.url);
    expect(result).toEqual({
      kind: 'refused',
      status: 400,
      text: 'bad … … … {"type":"export.ready","data":{"bundleUrl":"… … … /b.tar.gz…',
    });
  });

  test.each([
    ['x'.repeat(3000), `${'x'.repeat(199)}…`],
    [`${link}&${'y'.repeat(5000)}`, ''],
    ['\uD83D\uDE80'.repeat(300), `${'\uD83D\uDE80'.repeat(199)}…`],
    ['', ''],
    [`no ${Buffer.from([0xff, 0xfe]).toString('latin1')}`, 'no ÿþ'],
  ])('%#: only the beginning of a long refusal is kept', async (body, text) => {
    expect(await sent((await answering(400, body)).url)).toEqual({ kind: 'refused', status: 400, text });
  });
});

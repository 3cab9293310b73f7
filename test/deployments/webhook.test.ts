import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSender } from '../../src/deployments/sender.ts';
import { createSigner, secretsOfWebhook, sendWebhook } from '../../src/deployments/webhook.ts';
import { configFolder } from '../support/config/builders.ts';
import { answering, httpServer, tcpServer } from '../support/docs-api/servers.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const { fileWith } = configFolder();
const nowMs = Date.now();
const link = 'https://files.test/b.tar.gz?X-Signature=5ecret';
const message = { id: 'msg_1', body: JSON.stringify({ type: 'export.ready', data: { bundleUrl: link } }) };

/** The signer with secrets, each of a file if there are files. */
const signer = (secrets: string[], url = 'https://x.test/', files: string[] = []) =>
  createSigner({
    url,
    secrets: secrets.map((one, index) => ({ secret: one, name: 'HOOK', file: files[index] })),
    includeLink: true,
  });

const verifyWebhook = (key: string, ...given: Parameters<ReturnType<typeof signer>['verify']>) =>
  signer([key]).verify(...given);

/** What comes of one attempt at an address. */
function sent(url: string, timeoutMs = 5000, stopping = new AbortController().signal, about = {}) {
  const sender = createSender(undefined, timeoutMs, stopping);
  onTestFinished(() => void sender.close());
  return sendWebhook(sender.send, signer([secret], url), message, nowMs, about);
}

/** The same of one of a status, as the table has it. */
async function answered(status: number, about = {}) {
  const result = await sent((await answering(status, '')).url, 5000, undefined, about);
  return result.kind === 'retry' ? { kind: result.kind, forMs: result.forMs } : { kind: result.kind };
}

/** Headers of a message signed at a time. */
function signed(id: string, body: string, ms = nowMs, key = secret) {
  const timestamp = String(Math.floor(ms / 1000));
  const signature = signer([key]).sign({ id, body }, timestamp);
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

describe('of two secrets, while one is replaced,', () => {
  const newer = `whsec_${randomBytes(32).toString('base64')}`;
  const asHeaders = (id: string, signature: string) => ({
    ...signed(id, '{}'),
    'webhook-signature': signature,
  });
  const timestamp = String(Math.floor(nowMs / 1000));

  test('each signs a message, and each verifies one', () => {
    const both = signer([newer, secret]);
    const signature = both.sign({ id: 'msg_1', body: '{}' }, timestamp);
    expect(signature.split(' ')).toHaveLength(2);
    for (const key of [newer, secret]) {
      expect(new Webhook(key).verify('{}', asHeaders('msg_1', signature))).toEqual({});
      expect(both.verify(signed('msg_1', '{}', nowMs, key), '{}', nowMs)).toBe(true);
    }
    expect(both.hidden()).toEqual(expect.arrayContaining([newer, secret, newer.slice(6), secret.slice(6)]));
  });

  test('a file is read again when a signature is refused, unless it holds no whole secret', () => {
    const file = fileWith(secret, 'hook');
    const one = signer([secret], undefined, [file]);
    const isTaken = () => one.verify(signed('msg_1', '{}', nowMs, newer), '{}', nowMs);
    for (const broken of ['', 'whsec_', newer.slice(0, 20), `${newer} ${newer}`]) {
      writeFileSync(file, broken);
      expect([broken, isTaken(), one.renew()]).toEqual([broken, false, false]);
    }
    writeFileSync(file, `${newer}\n`);
    expect([isTaken(), one.renew()]).toEqual([true, false]);
    // The one before is no longer taken, and no text shows it.
    expect(one.verify(signed('msg_1', '{}'), '{}', nowMs)).toBe(false);
    expect(one.hidden()).toEqual(expect.arrayContaining([secret, newer]));
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

  const minutes = { kind: 'retry', forMs: 600_000 };
  const hour = { kind: 'retry', forMs: 3_600_000 };
  const untilItsEnd = { kind: 'retry', forMs: Infinity };
  const refused = { kind: 'refused' };
  test.each([
    [[301, 302, 304, 307, 308, 400, 405, 410, 422, 451], refused, refused],
    [[401, 403, 404], minutes, untilItsEnd],
    [[408, 409, 425, 429, 500, 502, 503, 599], hour, hour],
  ])('answered with one of %j has the same end at first and at a renewal', async (all, first, renewal) => {
    for (const status of all) {
      expect([status, await answered(status)]).toEqual([status, first]);
      expect([status, await answered(status, { isRenewal: true })]).toEqual([status, renewal]);
    }
  });

  test('answered with 409 has arrived only if an earlier answer to it was lost', async () => {
    expect(await answered(409, { wasLost: true })).toEqual({ kind: 'delivered' });
    expect(await answered(404, { wasLost: true })).toEqual(minutes);
  });

  test.each([
    ['no answer', undefined, true],
    ['503', 503, true],
    ['429', 429, false],
  ])('answered with %s may have arrived: %s', async (_, status, isLost) => {
    const server = status
      ? await answering(status, '', { 'retry-after': '90' })
      : await tcpServer((socket) => socket.once('data', () => socket.destroy()));
    const retryAfterMs = status && 90_000;
    expect(await sent(server.url)).toMatchObject({ kind: 'retry', status, retryAfterMs, isLost });
  });

  test.each([
    ['https://www.acme.test/docket?token=5ecret', 'www.acme.test/docket'],
    ['https://bob:5ecret@www.acme.test:8443/a', 'www.acme.test:8443/a'],
    ['/moved', 'HOST/moved'],
    [`https://x.test/${secret}/https%3A%2F%2Fy`, 'x.test/…/…'],
    ['javascript:alert(1)', ''],
    ['', ''],
  ])('that is sent on to %j is not, and names the new address', async (location, to) => {
    const target = await answering(200, '');
    const server = await answering(308, 'x', location === '' ? {} : { location });
    const host = new URL(server.url).host;
    const moved = { what: 'address', to: to.replace('HOST', host) };
    expect(await sent(server.url)).toMatchObject({ kind: 'refused', status: 308, moved });
    expect([server.requests.length, target.requests.length]).toEqual([1, 0]);
  });

  test.each<[string, string | Buffer, Record<string, string>?]>([
    ['disk full', '\n disk full \nsecond line'],
    ['disk full', JSON.stringify({ ok: false, message: 'disk full\nsecond' }, null, 2)],
    ['disk full', JSON.stringify({ error: 'disk full' }, null, 2)],
    ['disk full', '{"message":null,"error":{"code":7,"message":"disk full"}}'],
    ['disk full', '{"type":"about:blank","title":"disk full","detail":"more"}'],
    ['disk full', '{"title":"","detail":"disk full"}'],
    ['disk full', JSON.stringify({ error: JSON.stringify({ message: 'disk full' }) })],
    ['', '{"ok":false}'],
    ['disk full', '\u001b[1;31mdisk\u001b[0m full\u001b[K'],
    ['disk full', '{"message":"\\u001b[31mdisk full\\u001b[0m"}'],
    ['404 Not Found', '<html>\r\n<head><title>404 Not Found</title></head>'],
    ['', '<!doctype html><p>gone'],
    ['disk full', gzipSync('{\n  "message": "disk full"\n}'), { 'content-encoding': 'gzip' }],
    ['disk full', brotliCompressSync('disk full'), { 'content-encoding': 'br' }],
    ['disk full', deflateSync('disk full'), { 'content-encoding': 'deflate' }],
    ['', 'disk full', { 'content-encoding': 'gzip' }],
  ])('that is refused because of %j shows it: %#', async (text, body, headers = {}) => {
    const server = await httpServer((_, response) => response.writeHead(422, headers).end(body));
    expect(await sent(server.url)).toMatchObject({ kind: 'refused', status: 422, text });
  });

  test('whose compressed answer has 1 GB is read in part', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000, 'gone '));
    const server = await httpServer((_, response) =>
      response.writeHead(410, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const before = process.memoryUsage().rss;
    expect(await sent(server.url)).toMatchObject({
      kind: 'refused',
      text: expect.stringMatching(/^gone gone/),
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  test('that nobody takes is tried again', async () => {
    const closed = await tcpServer(() => {});
    await closed.close();
    expect(await sent(closed.url)).toMatchObject({ kind: 'retry', reason: 'ECONNREFUSED', isLost: false });
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
    expect(await sent(silent.url, 200)).toMatchObject({ ...late, isLost: true });
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
      const echoes = [
        signature,
        ...secretsOfWebhook({ url: 'https://x.test/', secrets: [{ secret }] }),
        message.body,
      ];
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

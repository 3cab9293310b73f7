import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../test/support/flows/world.ts';
import { gzippedTar } from '../docs-platform/bundle.ts';
import { type Received, startTinyBot } from '../test-support/bot.ts';
import { isSigned, SECRET, type Webhook, webhook } from '../test-support/deployment.ts';
import { listenLocally } from '../wire.ts';
import { startReceiver } from './receiver.ts';

const page = (text: string) => gzippedTar([{ name: 'index.html', content: text }], 0);

/** The receiver, a Docket that takes callbacks, and a server of bundles by path. */
async function started(statuses: number[] = []) {
  const folder = temporaryFolder();
  const bundles = new Map<string, Uint8Array>([['/v1', page('one')]]);
  const held = new Map<string, Promise<void>>();
  /** What was live when a bundle was asked for. */
  const liveAt = new Map<string, string | undefined>();
  const storage = createServer(async (request, response) => {
    const path = request.url ?? '';
    liveAt.set(path, live());
    await held.get(path);
    const bytes = bundles.get(path);
    response.writeHead(bytes ? 200 : 403).end(bytes);
  });
  const { url: storageUrl, close } = await listenLocally(storage);
  const docket = await startTinyBot(() => ({ status: statuses.shift() ?? 204 }));
  const docketUrl = new URL(docket.url).origin;
  const receiver = await startReceiver({ site: folder.path, secret: SECRET, docketUrl });
  onTestFinished(async () => {
    await receiver.stop();
    await close();
    folder.remove();
  });
  const data = (path: string) => ({
    deployment: 'production',
    domain: 'docs.acme.com',
    jobId: `se_${path.slice(1)}`,
    version: path.slice(1),
    bundleUrl: storageUrl + path,
  });
  const send = async ({ path = '/v1', ...rest }: Webhook & { path?: string } = {}) =>
    (await fetch(receiver.url, webhook({ data: data(path), ...rest }))).status;
  const live = () => {
    const current = join(folder.path, 'current', 'index.html');
    return existsSync(current) ? readFileSync(current, 'utf8') : undefined;
  };
  const releases = () => readdirSync(join(folder.path, 'releases'));
  const outcomes = () => docket.received.map(({ body }) => JSON.parse(body));
  return { folder, bundles, held, liveAt, docket, receiver, data, send, live, releases, outcomes };
}

test('a signed webhook is put live, and Docket is called back with a signature', async () => {
  const { folder, docket, send, live } = await started();
  expect(await send()).toBe(202);
  await expect.poll(() => docket.received.length).toBe(1);
  expect(live()).toBe('one');
  const [{ headers, body } = { headers: {}, body: '' } as Received] = docket.received;
  expect(JSON.parse(body)).toEqual({ state: 'live' });
  expect(headers['webhook-id']).toBe('msg_a.1.live');
  expect(isSigned(headers, body)).toBe(true);
  expect(JSON.parse(readFileSync(join(folder.path, 'current', 'docket.json'), 'utf8'))).toEqual({
    jobId: 'se_v1',
    version: 'v1',
    domain: 'docs.acme.com',
  });
});

test('one good signature among several is enough, as while a secret is replaced', async () => {
  const { receiver, data, docket } = await started();
  const signed = webhook({ data: data('/v1') });
  signed.headers['webhook-signature'] = `v1,AAAA v1a,x ${signed.headers['webhook-signature']}`;
  expect((await fetch(receiver.url, signed)).status).toBe(202);
  await expect.poll(() => docket.received.length).toBe(1);
});

test('what is not signed, not fresh or too long changes nothing', async () => {
  const { receiver, data, send, releases, docket } = await started();
  const refused: [string, Webhook][] = [
    ['another secret', { secret: `whsec_${Buffer.alloc(32).toString('base64')}` }],
    ['six minutes old', { atMs: Date.now() - 360_000 }],
    ['six minutes ahead', { atMs: Date.now() + 360_000 }],
    ['another id than the signed one', { headers: { 'webhook-id': 'msg_b' } }],
    ['another time than the signed one', { headers: { 'webhook-timestamp': String(Date.now() / 1000) } }],
    ['no time', { headers: { 'webhook-timestamp': 'soon' } }],
    ['no signature', { headers: { 'webhook-signature': '' } }],
    ['a signature with odd letters', { headers: { 'webhook-signature': `v1,${'é'.repeat(44)}` } }],
    ['an id that climbs', { id: '../msg_a' }],
    ['an id with a folder', { id: 'msg_/../../a' }],
  ];
  for (const [what, sent] of refused) expect([what, await send(sent)]).toEqual([what, 401]);
  const signed = webhook({ data: data('/v1') });
  expect((await fetch(receiver.url, { ...signed, body: signed.body.replace('se_v1', 'se_v2') })).status).toBe(
    401,
  );
  const long = webhook({ data: { text: 'x'.repeat(70_000) } });
  expect((await fetch(receiver.url, long)).status).toBe(413);
  const unsized = { ...signed, body: new Blob([signed.body]).stream(), duplex: 'half' } as RequestInit;
  expect((await fetch(receiver.url, unsized)).status).toBe(413);
  expect(releases()).toEqual([]);
  expect(docket.received).toEqual([]);
});

test('a webhook that comes again is dropped', async () => {
  const { docket, send, releases, bundles } = await started();
  expect(await send()).toBe(202);
  await expect.poll(() => docket.received.length).toBe(1);
  bundles.set('/v2', page('two'));
  expect(await send({ path: '/v2' })).toBe(200);
  expect(await send({ id: 'msg_a.2', path: '/v2' })).toBe(202);
  await expect.poll(() => docket.received.length).toBe(2);
  expect(releases()).toEqual(['msg_a.1', 'msg_a.2']);
  expect(docket.received.map(({ headers }) => headers['webhook-id'])).toEqual([
    'msg_a.1.live',
    'msg_a.2.live',
  ]);
});

test('after a bad bundle the site stays as it was, and Docket hears why', async () => {
  const { folder, bundles, send, live, outcomes, data } = await started();
  bundles.set('/garbage', Buffer.from('<html>no archive</html>'));
  bundles.set('/cut', page('x'.repeat(5000)).subarray(0, 60));
  bundles.set('/empty', gzippedTar([{ name: 'readme.txt', content: 'nothing' }], 0));
  bundles.set(
    '/climbs',
    gzippedTar(
      [
        { name: 'index.html', content: 'bad' },
        { name: '../../evil.txt', content: 'bad' },
      ],
      0,
    ),
  );
  await send();
  await expect.poll(outcomes).toHaveLength(1);
  const paths = ['/garbage', '/cut', '/empty', '/climbs', '/expired'];
  for (const path of paths) expect(await send({ id: `msg_${path.slice(1)}`, path })).toBe(202);
  const { bundleUrl: _, ...linkless } = data('/v1');
  expect(await send({ id: 'msg_linkless', data: linkless })).toBe(202);
  await expect.poll(outcomes).toHaveLength(7);
  const said = outcomes().map(({ state, message }) => `${state} ${message}`);
  expect(said.filter((one) => one.startsWith('failed'))).toHaveLength(6);
  expect(said).toContain('failed The link to the bundle answered 403.');
  expect(said).toContain(
    'failed The webhook has no link: set includeLink to true in the settings of Docket.',
  );
  expect(said.join()).not.toContain('http');
  expect(live()).toBe('one');
  expect(existsSync(join(folder.path, 'evil.txt'))).toBe(false);
});

test('a slow download never replaces a newer export', async () => {
  const { bundles, held, liveAt, send, live, docket } = await started();
  const slow = Promise.withResolvers<void>();
  held.set('/v1', slow.promise);
  bundles.set('/v2', page('two'));
  expect(await send({ id: 'msg_a' })).toBe(202);
  expect(await send({ id: 'msg_b', path: '/v2' })).toBe(202);
  slow.resolve();
  await expect.poll(() => docket.received.length).toBe(2);
  expect(liveAt.get('/v2')).toBe('one');
  expect(live()).toBe('two');
});

test('a callback that Docket could not take is made again', async () => {
  const { docket, send } = await started([503]);
  await send();
  await expect.poll(() => docket.received.length).toBe(2);
  const ids = docket.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual(['msg_a.1.live', 'msg_a.1.live']);
});

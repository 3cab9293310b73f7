import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../test/support/flows/world.ts';
import { gzippedTar } from '../docs-platform/bundle.ts';
import { startTinyBot } from '../test-support/bot.ts';
import { SECRET, signatureOf, type Webhook, webhook } from '../test-support/deployment.ts';
import { listenLocally } from '../wire.ts';
import { startReceiver } from './receiver.ts';

function bundle(...pairs: [name: string, content: string][]) {
  const files = pairs.map(([name, content]) => ({ name, content }));
  return gzippedTar(files, 0);
}

/** Without a length in the headers. */
const chunked = (sent: { body: string }) =>
  ({ ...sent, body: new Blob([sent.body]).stream(), duplex: 'half' }) as RequestInit;

/** The receiver, a Docket that takes callbacks, and a server of bundles by path. */
async function started(statuses: number[] = []) {
  const folder = temporaryFolder();
  const bundles = new Map<string, Uint8Array>([['/v1', bundle(['index.html', 'one'])]]);
  bundles.set('/v2', bundle(['index.html', 'two']));
  const held = new Map<string, Promise<void>>();
  /** What was live when a bundle was asked for. */
  const liveAt = new Map<string, string | undefined>();
  const storage = createServer(async ({ url: path = '' }, response) => {
    if (path === '/moved') return response.writeHead(302, { location: '/v2' }).end();
    liveAt.set(path, live());
    await held.get(path);
    const bytes = bundles.get(path);
    response.writeHead(bytes ? 200 : 403).end(bytes);
  });
  const { url: storageUrl, close } = await listenLocally(storage);
  const docket = await startTinyBot(() => ({ status: statuses.shift() ?? 204 }));
  const docketUrl = new URL(docket.url).origin;
  const receiver = await startReceiver({ site: folder.path, secret: SECRET, docketUrl, maxBytes: 1e6 });
  onTestFinished(async () => {
    await receiver.stop();
    await close();
    folder.remove();
  });
  const data = (path: string) => ({
    jobId: `se_${path.slice(1)}`,
    version: path.slice(1),
    domain: 'docs.acme.com',
    bundleUrl: storageUrl + path,
  });
  const send = async ({ path = '/v1', ...rest }: Webhook & { path?: string } = {}) =>
    (await fetch(receiver.url, webhook({ data: data(path), ...rest }))).status;
  const read = (name: string) => {
    const file = join(folder.path, 'current', name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const live = () => read('index.html');
  const releases = () => readdirSync(join(folder.path, 'releases'));
  const ids = () => docket.received.map(({ headers }) => headers['webhook-id']);
  const outcomes = () => docket.received.map(({ body }) => JSON.parse(body));
  return { folder, bundles, held, liveAt, docket, receiver, data, send, read, live, releases, ids, outcomes };
}

test('a signed webhook is put live, and Docket is called back with a signature', async () => {
  const { docket, receiver, data, read, live, ids, outcomes } = await started();
  const { bundleUrl, ...served } = data('/v1');
  const sent = webhook({ data: { ...served, bundleUrl } });
  // While a secret is replaced, there are several signatures.
  sent.headers['webhook-signature'] = `v1,AAAA v1a,x ${sent.headers['webhook-signature']}`;
  expect((await fetch(receiver.url, chunked(sent))).status).toBe(202);
  await expect.poll(outcomes).toEqual([{ state: 'live' }]);
  expect(live()).toBe('one');
  expect(JSON.parse(read('docket.json') ?? '')).toEqual(served);
  expect(ids()).toEqual(['msg_a_1_0_live']);
  const signatures = docket.received.map(({ headers }) => headers['webhook-signature']);
  expect(signatures).toEqual(docket.received.map(({ headers, body }) => signatureOf(headers, body)));
});

test('what is not signed, not fresh or too long changes nothing', async () => {
  const { receiver, data, send, releases, docket } = await started();
  const aMinuteAgo = Math.floor(Date.now() / 1000) - 60;
  const refused: [string, Webhook][] = [
    ['another secret', { secret: `whsec_${Buffer.alloc(32).toString('base64')}` }],
    ['six minutes old', { atMs: Date.now() - 360_000 }],
    ['six minutes ahead', { atMs: Date.now() + 360_000 }],
    ['another id than the signed one', { headers: { 'webhook-id': 'msg_b' } }],
    ['another time than the signed one', { headers: { 'webhook-timestamp': String(aMinuteAgo) } }],
    ['no time', { headers: { 'webhook-timestamp': 'soon' } }],
    ['no signature', { headers: { 'webhook-signature': '' } }],
    ['a signature with odd letters', { headers: { 'webhook-signature': `v1,${'é'.repeat(44)}` } }],
    ['an id that climbs', { id: '../msg_a' }],
    ['an id with a folder', { id: 'msg_/../../a' }],
  ];
  for (const [what, sent] of refused) expect([what, await send(sent)]).toEqual([what, 401]);
  const sent = webhook({ data: data('/v1') });
  const post = async (changes: RequestInit) => (await fetch(receiver.url, { ...sent, ...changes })).status;
  expect(await post({ body: sent.body.replace('se_v1', 'se_v2') })).toBe(401);
  const long = webhook({ data: { text: 'x'.repeat(70_000) } });
  expect(await post(long)).toBe(413);
  expect(await post(chunked(long))).toBe(413);
  for (const body of ['', 'null', '"text"', '{"type":', '<html>']) expect(await send({ body })).toBe(400);
  expect(releases()).toEqual([]);
  expect(docket.received).toEqual([]);
});

test('a repeated webhook is dropped, a renewed link is not needed, and a failed callback is made again', async () => {
  const { bundles, send, releases, live, ids } = await started([503]);
  expect(await send()).toBe(202);
  await expect.poll(ids).toEqual(['msg_a_1_0_live', 'msg_a_1_0_live']);
  expect(await send({ path: '/v2' })).toBe(200);
  expect(await send({ id: 'msg_a_2_0', path: '/v2' })).toBe(202);
  await expect.poll(ids).toHaveLength(3);
  expect(releases()).toEqual(['msg_a_1_0', 'msg_a_2_0']);
  bundles.clear();
  expect(await send({ id: 'msg_a_2_1', path: '/v2' })).toBe(202);
  await expect.poll(() => ids().at(-1)).toBe('msg_a_2_1_live');
  expect(live()).toBe('two');
});

test('after a bad bundle the site stays as it was, and Docket hears why', async () => {
  const { folder, bundles, send, live, outcomes, data } = await started();
  bundles.set('/garbage', Buffer.from('<html>no archive</html>'));
  bundles.set('/cut', bundle(['index.html', 'x'.repeat(5000)]).subarray(0, 60));
  bundles.set('/empty', bundle(['readme.txt', 'nothing']));
  bundles.set('/climbs', bundle(['index.html', 'bad'], ['../../evil.txt', 'bad']));
  bundles.set('/record', bundle(['index.html', 'bad'], ['docket.json', '{"jobId":"se_v1"}']));
  bundles.set('/huge', bundle(['index.html', 'x'.repeat(1e6)]));
  await send();
  const paths = ['/garbage', '/cut', '/empty', '/climbs', '/record', '/huge', '/moved', '/expired'];
  for (const path of paths) expect(await send({ id: `msg_${path.slice(1)}`, path })).toBe(202);
  const { bundleUrl: _, ...linkless } = data('/v3');
  expect(await send({ id: 'msg_linkless', data: linkless })).toBe(202);
  await expect.poll(outcomes).toHaveLength(10);
  const said = outcomes().map(({ state, message }) => `${state} ${message}`);
  expect(said.filter((one) => one.startsWith('failed'))).toHaveLength(9);
  expect(said).toContain('failed The link to the bundle answered 403.');
  expect(said).toContain('failed The webhook has no link: set includeLink to true.');
  expect(said).toContain('failed There are more than 1000000 bytes.');
  expect(said).toContain('failed unexpected redirect');
  expect(said.join()).not.toContain('http');
  expect(live()).toBe('one');
  expect(existsSync(join(folder.path, 'evil.txt'))).toBe(false);
});

test('a slow download never replaces a newer export', async () => {
  const { held, liveAt, send, live, outcomes } = await started();
  const slow = Promise.withResolvers<void>();
  held.set('/v1', slow.promise);
  expect(await send({ id: 'msg_a' })).toBe(202);
  expect(await send({ id: 'msg_b', path: '/v2' })).toBe(202);
  slow.resolve();
  await expect.poll(outcomes).toHaveLength(2);
  expect(liveAt.get('/v2')).toBe('one');
  expect(live()).toBe('two');
});

test('a link in a bundle publishes and overwrites nothing', async () => {
  const { folder, bundles, send, live, outcomes } = await started();
  const outside = join(folder.path, 'outside.txt');
  const links: Record<string, (site: string) => void> = {
    '/overwrites': (site) => symlinkSync(outside, join(site, 'docket.json')),
    '/publishes': (site) => symlinkSync(outside, join(site, 'secret.html')),
    '/folder': (site) => symlinkSync(folder.path, join(site, 'files')),
    '/hard': (site) => linkSync(join(site, 'index.html'), join(site, 'other.html')),
  };
  writeFileSync(outside, 'private');
  for (const [path, addLink] of Object.entries(links)) {
    const site = join(folder.path, `made${path}`);
    mkdirSync(site, { recursive: true });
    writeFileSync(join(site, 'index.html'), 'bad');
    addLink(site);
    bundles.set(path, execFileSync('tar', ['-czf', '-', '-C', site, '.']));
    expect(await send({ id: `msg_${path.slice(1)}`, path })).toBe(202);
  }
  const failed = { state: 'failed', message: 'The bundle has links or devices.' };
  await expect.poll(outcomes).toEqual(Object.keys(links).map(() => failed));
  expect([live(), readFileSync(outside, 'utf8')]).toEqual([undefined, 'private']);
});

test('what was asked for before the export that is live is dropped, whenever it arrives', async () => {
  const { held, send, live, outcomes, ids } = await started();
  const at = (hour: number) => `2026-11-26T0${hour}:00:00.000Z`;
  const [first, second, third] = [at(1), at(2), at(3)];
  const slow = Promise.withResolvers<void>();
  held.set('/v2', slow.promise);
  expect(await send({ id: 'msg_b', path: '/v2', askedAt: second })).toBe(202);
  // It waits for the newer one, which is still being fetched.
  expect(await send({ id: 'msg_a_1_0', askedAt: first })).toBe(202);
  slow.resolve();
  await expect.poll(live).toBe('two');
  await expect.poll(outcomes).toEqual([{ state: 'live' }]);
  expect(await send({ id: 'msg_a_1_1', askedAt: first })).toBe(200);
  // A renewal of the live one, then the earlier export again, on purpose.
  expect(await send({ id: 'msg_b_1', path: '/v2', askedAt: second })).toBe(202);
  expect(await send({ id: 'msg_a_2_0', askedAt: third })).toBe(202);
  await expect.poll(live).toBe('one');
  expect(await send({ id: 'msg_b_2', path: '/v2', askedAt: second })).toBe(200);
  await expect.poll(ids).toEqual(['msg_b_live', 'msg_b_1_live', 'msg_a_2_0_live']);
});

// Puts each export live that Docket notifies it of, and calls back. `node receiver.mjs`; see docs/deployments.md.
import { execFile } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';

const { DOCKET_URL, DOCKET_WEBHOOK_SECRET = '', SITE = '.', HOST = '127.0.0.1', PORT = 8300 } = process.env;
const { MAX_BYTES = 4e9 } = process.env; // of an unpacked bundle
const secret = Buffer.from(DOCKET_WEBHOOK_SECRET.replace('whsec_', ''), 'base64');
if (secret.length < 24) throw new Error('Set DOCKET_WEBHOOK_SECRET to the same secret as in Docket: whsec_…');
const signatureOf = (...parts) =>
  `v1,${createHmac('sha256', secret).update(parts.join('.')).digest('base64')}`;

function isFromDocket({ 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': all = '' }, body) {
  const [wanted, ...given] = [signatureOf(id, time, body), ...all.split(' ')].map((one) => Buffer.from(one));
  const isSigned = given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
  return isSigned && Math.abs(Date.now() / 1000 - time) <= 300 && /^msg_[\w-]+$/.test(id);
}

/** Counts while it reads: a length in a header may be missing or wrong. */
async function* atMost(limit, chunks) {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw new Error(`There are more than ${limit} bytes.`);
    yield chunk;
  }
}

const parse = async (json) => JSON.parse(json);
const readLive = () =>
  readFile('current/docket.json')
    .then(parse)
    .catch(() => ({}));
/** Webhooks may overtake each other: what was asked for last goes live, not what arrives last. */
const isOutdated = (askedAt, live) => Date.parse(askedAt) < Date.parse(live.askedAt);

async function putLive(folder, { askedAt, data: { bundleUrl, jobId, version, domain } }) {
  const live = await readLive();
  if (isOutdated(askedAt, live)) return undefined;
  // Docket has renewed the link to what is live already.
  if (jobId && jobId === live.jobId && askedAt === live.askedAt) return { state: 'live' };
  if (!bundleUrl) throw new Error('The webhook has no link: set includeLink to true.');
  const bundle = await fetch(bundleUrl, { redirect: 'error', signal: AbortSignal.timeout(600_000) });
  if (!bundle.ok) throw new Error(`The link to the bundle answered ${bundle.status}.`);
  const limit = (chunks) => atMost(MAX_BYTES, chunks);
  await pipeline(bundle.body, createGunzip(), limit, createWriteStream('bundle.tar'));
  const run = promisify(execFile);
  const { stdout: list } = await run('tar', ['-tvf', 'bundle.tar'], { maxBuffer: 1e8 });
  // A link could publish or overwrite any file of this user.
  if (/^[^-d]/m.test(list)) throw new Error('The bundle has links or devices.');
  await run('tar', ['-xof', 'bundle.tar', '-C', folder]);
  await access(`${folder}/index.html`);
  const next = JSON.stringify({ jobId, version, domain, askedAt });
  await writeFile(`${folder}/docket.json`, next, { flag: 'wx' });
  // A rename replaces the link at once: each request finds the old site or the new one.
  await rm('next', { force: true });
  await symlink(folder, 'next');
  await rename('next', 'current');
  return { state: 'live' };
}

async function callBack(id, outcome) {
  const [own, body] = [`${id}_${outcome.state}`, JSON.stringify(outcome)];
  for (const seconds of [0, 1, 5, 20, 60]) {
    await sleep(seconds * 1000);
    const headers = { 'webhook-id': own, 'webhook-timestamp': `${Math.floor(Date.now() / 1000)}` };
    headers['webhook-signature'] = signatureOf(own, headers['webhook-timestamp'], body);
    const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) };
    const answer = await fetch(`${DOCKET_URL}/deployments/${id}`, request).catch(() => undefined);
    if (answer?.status < 500) return;
  }
}

let last = Promise.resolve();
const server = createServer(async (request, response) => {
  const end = (status, why) => response.writeHead(status).end(why);
  const chunks = request.iterator({ destroyOnReturn: false });
  const body = await text(atMost(65_536, chunks)).catch(() => undefined);
  // The rest is dropped, so that the answer arrives.
  if (body === undefined) return request.resume() && end(413, 'The body is too long.');
  if (!isFromDocket(request.headers, body)) return end(401, 'The signature or the clock is wrong.');
  const event = await parse(body).catch(() => undefined);
  if (!event?.data) return end(400, 'The body is not an event in JSON.');
  if (event.type !== 'export.ready') return end(204);
  if (isOutdated(event.askedAt, await readLive())) return end(200);
  const { 'webhook-id': id } = request.headers;
  // The folder also remembers the id, so that a webhook that comes again is dropped.
  const problem = await mkdir(`releases/${id}`).catch(({ code }) => code);
  if (problem) return end(problem === 'EEXIST' ? 200 : 500);
  end(202);
  // One after the other, so that a slow download never replaces a newer export.
  const isLive = last.then(() => putLive(`releases/${id}`, event));
  last = isLive.catch(({ message, cause }) => ({ state: 'failed', message: cause?.message ?? message }));
  const outcome = await last;
  if (outcome) await callBack(id, outcome);
});
process.chdir(SITE);
await mkdir('releases', { recursive: true });
server.listen(PORT, HOST, () => console.log(`Listening on http://${HOST}:${server.address().port}`));

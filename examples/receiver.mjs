// Puts each export live that Docket notifies it of, and calls back. `node receiver.mjs`; see docs/deployments.md.
import { execFile } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { access, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const { DOCKET_URL, DOCKET_WEBHOOK_SECRET = '', SITE = '.', HOST = '127.0.0.1', PORT = 8300 } = process.env;
const secret = Buffer.from(DOCKET_WEBHOOK_SECRET.replace('whsec_', ''), 'base64');
if (secret.length < 24) throw new Error('Set DOCKET_WEBHOOK_SECRET to the same secret as in Docket: whsec_…');
const signatureOf = (...parts) =>
  `v1,${createHmac('sha256', secret).update(parts.join('.')).digest('base64')}`;

function isFromDocket({ 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': all = '' }, body) {
  const [wanted, ...given] = [signatureOf(id, time, body), ...all.split(' ')].map((one) => Buffer.from(one));
  const isSigned = given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
  return isSigned && Math.abs(Date.now() / 1000 - time) <= 300 && /^msg_[\w-]+$/.test(id);
}

async function putLive(folder, { bundleUrl, jobId, version, domain }) {
  // Docket has renewed the link to what is live already.
  const { jobId: liveId } = JSON.parse(await readFile('current/docket.json').catch(() => '{}'));
  if (jobId === liveId) return { state: 'live' };
  if (!bundleUrl) throw new Error('The webhook has no link: set includeLink to true.');
  const bundle = await fetch(bundleUrl, { signal: AbortSignal.timeout(600_000) });
  if (!bundle.ok) throw new Error(`The link to the bundle answered ${bundle.status}.`);
  await writeFile('bundle.tar.gz', bundle.body);
  await promisify(execFile)('tar', ['-xzof', 'bundle.tar.gz', '-C', folder]);
  await access(`${folder}/index.html`);
  await writeFile(`${folder}/docket.json`, JSON.stringify({ jobId, version, domain }));
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
  if (!(request.headers['content-length'] <= 65_536)) return end(413, 'The body is too long.');
  const body = await text(request).catch(() => '');
  if (!isFromDocket(request.headers, body)) return end(401, 'The signature or the clock is wrong.');
  const [id, { type, data }] = [request.headers['webhook-id'], JSON.parse(body)];
  if (type !== 'export.ready') return end(204);
  // The folder also remembers the id, so that a webhook that comes again is dropped.
  const problem = await mkdir(`releases/${id}`).catch(({ code }) => code);
  if (problem) return end(problem === 'EEXIST' ? 200 : 500);
  end(202);
  // One after the other, so that a slow download never replaces a newer export.
  const isLive = last.then(() => putLive(`releases/${id}`, data));
  last = isLive.catch(({ message }) => ({ state: 'failed', message }));
  await callBack(id, await last);
});
process.chdir(SITE);
await mkdir('releases', { recursive: true });
server.listen(PORT, HOST, () => console.log(`Listening on http://${HOST}:${server.address().port}`));

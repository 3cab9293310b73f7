// Puts each export live that Docket tells of, and calls back. `node receiver.mjs`; see docs/deployments.md.
import { execFile } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { access, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const { DOCKET_URL, DOCKET_WEBHOOK_SECRET = '', SITE = '.', HOST = '127.0.0.1', PORT = '8300' } = process.env;
const secret = Buffer.from(DOCKET_WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64');
if (secret.length < 24) throw new Error('Set DOCKET_WEBHOOK_SECRET to the same secret as in Docket: whsec_…');

const sign = (id, timestamp, body) =>
  `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`;

function isFromDocket(
  { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': all = '' },
  body,
) {
  const [wanted, ...given] = [sign(id, timestamp, body), ...all.split(' ')].map((one) =>
    Buffer.from(one, 'latin1'),
  );
  const isSigned = given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
  return isSigned && Math.abs(Date.now() / 1000 - timestamp) <= 300 && /^msg_[\w.-]+$/.test(id);
}

async function putLive(folder, { jobId, version, domain, bundleUrl }) {
  if (!bundleUrl)
    throw new Error('The webhook has no link: set includeLink to true in the settings of Docket.');
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
}

async function callBack(id, outcome) {
  const [own, body] = [`${id}.${outcome.state}`, JSON.stringify(outcome)];
  for (let seconds = 1; seconds <= 64; seconds *= 2) {
    const now = String(Math.floor(Date.now() / 1000));
    const headers = {
      'webhook-id': own,
      'webhook-timestamp': now,
      'webhook-signature': sign(own, now, body),
    };
    const init = { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) };
    const answer = await fetch(`${DOCKET_URL}/deployments/${id}`, init).catch(() => undefined);
    if (answer && answer.status < 500) return;
    await sleep(seconds * 1000);
  }
}

let last = Promise.resolve();
async function receive(request, response) {
  const end = (status, why) => response.writeHead(status).end(why);
  if (!(Number(request.headers['content-length']) <= 65_536)) return end(413, 'The body is too long.');
  const [id, body] = [request.headers['webhook-id'], await text(request)];
  if (!isFromDocket(request.headers, body)) return end(401, 'The signature or the clock is wrong.');
  const { type, data } = JSON.parse(body);
  if (type !== 'export.ready') return end(204);
  const folder = `releases/${id}`;
  // The folder also remembers the id, so that a webhook that comes again is dropped.
  if ((await mkdir(folder).catch(({ code }) => code)) === 'EEXIST') return end(200);
  end(202);
  // One after the other, so that a slow download never replaces a newer export.
  const done = last.then(() => putLive(folder, data));
  last = done.catch(() => undefined);
  const outcome = await done.then(
    () => ({ state: 'live' }),
    ({ message }) => ({ state: 'failed', message }),
  );
  await callBack(id, outcome);
}

process.chdir(SITE);
await mkdir('releases', { recursive: true });
const server = createServer((request, response) => {
  receive(request, response).catch(() => response.writeHead(500).end());
});
server.listen(Number(PORT), HOST, () => console.log(`Listening on http://${HOST}:${server.address().port}`));

// Runs in the build of the image: starts Docket in each way that loads other code, so that NODE_COMPILE_CACHE holds it.
// Slack and the platform are not there.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PORT = '3999';
const LIMIT_MS = 60_000;
const TRY_AGAIN_MS = 50;

const settings = {
  PATH: process.env.PATH,
  NODE_ENV: process.env.NODE_ENV,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  PORT,
  SLACK_BOT_TOKEN: 'xoxb-nobody',
  SLACK_API_URL: 'http://127.0.0.1:9/api/',
  DOCS_API_URL: 'http://127.0.0.1:9/',
  DOCS_API_KEY: 'nobody',
};
const http = { SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef' };
const socket = { SLACK_APP_TOKEN: 'xapp-nobody' };

for (const receiver of [http, socket]) {
  const docket = run('src/app.ts', {
    ...settings,
    ...receiver,
    DATA_DIR: mkdtempSync(join(tmpdir(), 'data-')),
  });
  const ended = docket.then(() => Promise.reject(new Error('Docket ended by itself.')));
  await Promise.race([ready(), ended]);
  await run('src/healthcheck/main.ts', settings);
  docket.child.kill('SIGTERM');
  const code = await docket;
  if (code !== 0) throw new Error(`Docket ended with ${code}.`);
}
// It finds that nobody is there, and ends with 1.
await run('src/doctor/main.ts', { ...settings, ...http });

/** Returns the exit code; the process itself is at `child`. */
function run(file, env) {
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  return Object.assign(ended, { child });
}

async function ready() {
  const endsAt = Date.now() + LIMIT_MS;
  while (Date.now() < endsAt) {
    const answer = await fetch(`http://127.0.0.1:${PORT}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
  }
  throw new Error('Docket did not get ready.');
}

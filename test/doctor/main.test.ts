import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { CHECKS } from '../../src/doctor/checks.ts';
import { endsWithTests } from '../support/flows/children.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
const repository = fileURLToPath(new URL('../../', import.meta.url));
const isRoot = process.getuid?.() === 0;

/** A folder with what the image has of the repository, and no `.env` of a developer's. */
let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'doctor-'));
  chmodSync(root, 0o755);
  for (const name of ['src', 'package.json', 'manifest.yml'])
    cpSync(join(repository, name), join(root, name), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
});
beforeEach(() => rmSync(join(root, '.env'), { force: true }));
afterAll(() => rmSync(root, { recursive: true }));

/** Who owns nothing here. */
const STRANGER = 4321;

async function doctor(env: NodeJS.ProcessEnv, { args = [], uid }: { args?: string[]; uid?: number } = {}) {
  const { PATH } = process.env;
  const child = endsWithTests(
    spawn(process.execPath, ['src/doctor/main.ts', ...args], {
      cwd: root,
      env: { PATH, ...env },
      ...(uid !== undefined && { uid, gid: uid }),
    }),
  );
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

async function rightEnv() {
  const slack = createStandInSlack({ rateLimits: false });
  const platform = createStandInPlatform();
  const servers = [await slack.listen(), await platform.listen()] as const;
  onTestFinished(async () => {
    slack.stop();
    await Promise.all(servers.map(({ close }) => close()));
  });
  return {
    SLACK_BOT_TOKEN: slack.tokens.bot,
    SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
    SLACK_APP_TOKEN: slack.tokens.app,
    SLACK_API_URL: `${servers[0].url}/api/`,
    DOCS_API_URL: servers[1].url,
    DOCS_API_KEY: platform.apiKey,
    DOCS_API_KEY_PREFIX: platform.keyPrefix,
    DOCS_PROJECT_ID: platform.projectId,
    PORT: '0',
    REDIS_URL: redis.url,
  };
}

const secretsOf = (env: Record<string, string>) =>
  ['SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET', 'SLACK_APP_TOKEN', 'DOCS_API_KEY'].map((name) => env[name]);

test('where all is good it ends with 0, a line each, without colours in a pipe', async () => {
  const env = await rightEnv();
  const { code, stdout, stderr } = await doctor(env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.slice(0, -1).map((line) => line.slice(0, 14).trim())).toEqual(CHECKS.map(() => '✔ ok'));
  expect(lines.at(-1)).toBe('0 wrong, 0 to look at, 0 not checked.');
  for (const secret of secretsOf(env)) expect(stdout).not.toContain(secret);
});

test('before anything is set it ends with 1, and each line says what to do', async () => {
  const { code, stdout, stderr } = await doctor({});
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(
    lines.slice(0, -1).map((line) => /^. (ok|wrong|warning|not checked) +(.+?): ./.exec(line)?.[2]),
  ).toEqual(CHECKS.map(({ title }) => title));
  for (const name of ['SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET', 'DOCS_API_URL', 'DOCS_API_KEY'])
    expect(stdout).toMatch(new RegExp(`^✖ wrong .*: ${name} is missing\\. (Copy|Create|Set) `, 'm'));
});

test('--json is for scripts, and holds no secret, also of settings that are wrong', async () => {
  const right = await rightEnv();
  const env = {
    ...right,
    SLACK_BOT_TOKEN: `"${right.SLACK_BOT_TOKEN}"`,
    SLACK_APP_TOKEN: 'xapp-that-nobody-knows',
    DOCS_API_KEY: 'adm_that_nobody_knows',
    REDIS_URL: redis.url.replace('//', '//somebody:not-the-password@'),
    HTTPS_PROXY: 'http://somebody:proxy-password@127.0.0.1:9',
    DOCS_API_URL: 'https://docs-api.test',
  };
  const { code, stdout } = await doctor(env, { args: ['--json'] });
  expect(code).toBe(1);
  const { ok, checks } = JSON.parse(stdout);
  expect(ok).toBe(false);
  expect(checks.map(({ id }: { id: string }) => id)).toEqual(CHECKS.map(({ id }) => id));
  for (const secret of [...secretsOf(env), right.SLACK_BOT_TOKEN, 'not-the-password', 'proxy-password'])
    expect(stdout).not.toContain(secret);
});

test('what it does not know is answered with how to use it', async () => {
  const { code, stdout } = await doctor({}, { args: ['--jsonn'] });
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^Usage: npm run doctor/) });
});

test('it reads .env as a start does, whose settings do not outrank the environment', async () => {
  const { SLACK_BOT_TOKEN, ...rest } = await rightEnv();
  const lines = Object.entries({ ...rest, SLACK_BOT_TOKEN: 'xoxb-of-the-file' }).map((pair) =>
    pair.join('='),
  );
  writeFileSync(join(root, '.env'), `${lines.join('\n')}\n`, { mode: 0o600 });
  expect(await doctor({ SLACK_BOT_TOKEN })).toMatchObject({ code: 0 });
  const { code, stdout } = await doctor({});
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✖ wrong +Bot token: Slack does not accept SLACK_BOT_TOKEN \(invalid_auth\)/m);
});

test.runIf(isRoot)('a .env and a data folder of somebody else are named with their commands', async () => {
  writeFileSync(join(root, '.env'), 'LOG_LEVEL=info\n', { mode: 0o600 });
  const dataDir = join(root, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const { code, stdout } = await doctor({ DATA_DIR: dataDir }, { uid: STRANGER });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✖ wrong +\.env: .* may not be read .*Run: chown 4321 /m);
  expect(stdout).toMatch(/^✖ wrong +Data folder: .* cannot be used \(EACCES at .*\(uid 4321\) owns/m);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { CHECKS } from '../../src/doctor/checks.ts';
import { endsWithTests } from '../support/flows/children.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
const main = fileURLToPath(new URL('../../src/doctor/main.ts', import.meta.url));

async function doctor(env: NodeJS.ProcessEnv, ...args: string[]) {
  const cwd = mkdtempSync(join(tmpdir(), 'doctor-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const { PATH } = process.env;
  const child = endsWithTests(spawn(process.execPath, [main, ...args], { cwd, env: { PATH, ...env } }));
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
  };
  const { code, stdout } = await doctor(env, '--json');
  expect(code).toBe(1);
  const { ok, checks } = JSON.parse(stdout);
  expect(ok).toBe(false);
  expect(checks.map(({ id }: { id: string }) => id)).toEqual(CHECKS.map(({ id }) => id));
  for (const secret of [...secretsOf(env), right.SLACK_BOT_TOKEN, 'not-the-password'])
    expect(stdout).not.toContain(secret);
});

test('what it does not know is answered with how to use it', async () => {
  const { code, stdout } = await doctor({}, '--jsonn');
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^Usage: npm run doctor/) });
});

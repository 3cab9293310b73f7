import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';
import { readManifest } from '../../demo/slack/manifest.ts';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { answering } from '../support/docs-api/servers.ts';
import { proxyTo, tlsBefore } from '../support/docs-api/tls.ts';
import { temporaryFolder } from '../support/flows/world.ts';
import { endsWithTests } from '../support/processes.ts';
import { redisForTests } from '../support/redis.ts';
import { makeCertificates } from '../support/store/certificates.ts';

const VIEWS = 'GET /v1/analytics/{projectId}/views';
const repository = fileURLToPath(new URL('../../', import.meta.url));
const redis = redisForTests();
const slack = createStandInSlack({ rateLimits: false });
const platform = createStandInPlatform();
let servers: { url: string; close(): Promise<void> }[];

/** A folder with what the image has of the repository, and no `.env` of a developer's. */
let root: string;
const file = (name: string) => join(root, name);

beforeAll(async () => {
  servers = [await slack.listen(), await platform.listen()];
  root = mkdtempSync(join(tmpdir(), 'doctor-'));
  chmodSync(root, 0o755);
  for (const name of ['src', 'package.json', 'manifest.yml'])
    cpSync(join(repository, name), file(name), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), file('node_modules'));
});
afterAll(async () => {
  slack.stop();
  await Promise.all(servers.map(({ close }) => close()));
  rmSync(root, { recursive: true });
});
beforeEach(async () => {
  for (const name of ['.env', 'data']) rmSync(file(name), { force: true, recursive: true });
  slack.wire.clear();
  platform.wire.clear();
  await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
  await redis.client.config('SET', 'appendonly', 'yes');
});

/** Settings with which all is good. */
const rightEnv = () => ({
  SLACK_BOT_TOKEN: slack.tokens.bot,
  SLACK_APP_TOKEN: slack.tokens.app,
  SLACK_API_URL: `${servers[0]?.url}/api/`,
  DOCS_API_URL: servers[1]?.url ?? '',
  DOCS_API_KEY: platform.apiKey,
  DOCS_API_KEY_PREFIX: platform.keyPrefix,
  DOCS_PROJECT_ID: platform.projectId,
  PORT: '0',
  REDIS_URL: redis.url,
  DATA_DIR: file('data'),
});

const secrets = () => [slack.tokens.bot, slack.tokens.app, platform.apiKey, 'another1', 'the-password'];

/** Runs the doctor with these settings alone. Whatever it prints holds no secret. */
async function doctor(
  env: NodeJS.ProcessEnv,
  { args = [], ...options }: { uid?: number; gid?: number; args?: string[] } = {},
) {
  const child = endsWithTests(
    spawn(process.execPath, ['src/doctor/main.ts', ...args], {
      cwd: root,
      env: { PATH: process.env.PATH, ...env },
      ...options,
    }),
  );
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect(stderr).toBe('');
  for (const secret of secrets()) expect(stdout).not.toContain(secret);
  return { code, stdout, lines: stdout.trimEnd().split('\n') };
}

const answered = (body: unknown, headers: Record<string, string> = {}, status = 200) =>
  ({ kind: 'answer', status, headers, body }) as const;

test('the tokens of each workspace are checked, or with --workspace those of one', async () => {
  const { SLACK_BOT_TOKEN: bot, SLACK_APP_TOKEN: app, DOCS_PROJECT_ID: id, ...rest } = rightEnv();
  const ofWorkspace = (name: string) => `{ botToken: { env: ${name}_BOT }, appToken: { env: ${name}_APP } }`;
  writeFileSync(
    file('docket.yml'),
    `workspaces: { acme: ${ofWorkspace('ACME')}, globex: ${ofWorkspace('GLOBEX')} }
projects: { docs: { projectId: ${id}, workspaces: [acme, globex] } }
`,
  );
  const tokens = {
    ACME_BOT: bot,
    ACME_APP: app,
    GLOBEX_BOT: 'xoxb-another1-of-globex',
    GLOBEX_APP: 'xapp-another-of-globex',
  };
  const env = { ...rest, ...tokens, DOCKET_CONFIG: file('docket.yml') };
  const named = ({ lines }: Awaited<ReturnType<typeof doctor>>) =>
    lines.flatMap((line) => /^. (\w+ +\w+_(?:BOT|APP)): /.exec(line)?.[1]?.replace(/ +/, ' ') ?? []);
  const all = await doctor(env);
  expect([all.code, named(all)]).toEqual([
    1,
    ['ok ACME_BOT', 'ok ACME_APP', 'wrong GLOBEX_BOT', 'wrong GLOBEX_APP'],
  ]);
  const one = await doctor(env, { args: ['--workspace', 'acme'] });
  expect([one.code, named(one)]).toEqual([0, ['ok ACME_BOT', 'ok ACME_APP']]);
  const none = await doctor(env, { args: ['--workspace', 'other'] });
  expect([none.code, none.stdout]).toEqual([
    1,
    expect.stringContaining('They have no workspace other. DOCKET_CONFIG names: acme, globex.'),
  ]);
});

test('where all is good each line says so, and nothing is written or started', async () => {
  const { code, lines } = await doctor(rightEnv());
  expect(code).toBe(0);
  expect(lines.map((line) => /^. (\w+) +([\w.]+): /.exec(line)?.slice(1))).toEqual([
    ['ok', '.env'],
    ['ok', 'Settings'],
    ['ok', 'SLACK_BOT_TOKEN'],
    ['ok', 'SLACK_APP_TOKEN'],
    ['ok', 'DOCS_API_URL'],
    ['ok', 'Redis'],
    ['ok', 'PORT'],
    undefined,
  ]);
  expect(lines.at(-1)).toBe('0 wrong, 0 to look at.');
  expect(await redis.client.dbsize()).toBe(0);
  expect(slack.sockets.open).toBe(0);
  expect(platform.starts).toEqual([]);
});

/** What is changed where all is good, and lines that the doctor then prints. */
const troubles: [what: string, trouble: () => object | Promise<object>, lines: RegExp[]][] = [
  [
    'tokens and keys that are not accepted, and a Redis that drops keys',
    async () => {
      await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
      return {
        SLACK_BOT_TOKEN: 'xoxb-another1',
        SLACK_APP_TOKEN: 'xapp-another1',
        DOCS_API_KEY: 'adm_another1',
      };
    },
    [
      /^✖ wrong +SLACK_BOT_TOKEN: Slack does not accept it \(invalid_auth\)\. Copy it again/m,
      /^✖ wrong +SLACK_APP_TOKEN: Slack does not accept it \(invalid_auth\)\. Create one/m,
      /^✖ wrong +DOCS_API_KEY: the docs platform rejects/m,
      /^✖ wrong +Redis: Redis drops keys/m,
    ],
  ],
  [
    'a Slack that hangs, and a page in place of the API',
    () => {
      slack.wire.order('auth.test', { kind: 'hang', when: 'before' });
      platform.wire.order(VIEWS, { kind: 'answer', status: 404, text: '<h1>Not here</h1>' });
      return {};
    },
    [
      /^✖ wrong +SLACK_BOT_TOKEN: Slack cannot be reached \(TimeoutError\)/m,
      /^✖ wrong +DOCS_API_URL: What answers there is not the platform's API \(404\)/m,
    ],
  ],
  [
    'what Docket works with, though less well',
    async () => {
      await redis.client.config('SET', 'appendonly', 'no');
      const headers = { 'x-oauth-scopes': readManifest().scopes.join() };
      slack.wire.order('auth.test', answered({ ok: true, bot_id: 'B1', team: 'Acme' }, headers));
      return {
        SLACK_APP_TOKEN: '',
        SLACK_SIGNING_SECRET: 'something-that-is-long',
        DOCS_PROJECT_ID: '',
        REDIS_ALLOW: 'volatile',
      };
    },
    [
      /^✔ ok +SLACK_SIGNING_SECRET: It is set/m,
      /^! warning +DOCS_PROJECT_ID: It is not set: exports work/m,
      /^! warning +Redis: .*REDIS_ALLOW accepts it/m,
      /^0 wrong, 2 to look at\.$/m,
    ],
  ],
  [
    'an app that lacks scopes, an unknown project, a taken port',
    async () => {
      const scopes = readManifest().scopes.filter((name) => name !== 'files:write');
      const headers = { 'x-oauth-scopes': scopes.join() };
      slack.wire.order('auth.test', answered({ ok: true, bot_id: 'B1' }, headers));
      const PORT = new URL((await answering(404, {})).url).port;
      return { DOCS_PROJECT_ID: 'prj_other', HOST: '127.0.0.1', PORT };
    },
    [
      /^✖ wrong +SLACK_BOT_TOKEN: The app lacks files:write\. Replace its manifest/m,
      /^✖ wrong +DOCS_PROJECT_ID: The platform does not know it/m,
      /^✖ wrong +PORT: Port \d+ is taken by another program/m,
    ],
  ],
  [
    'a limit of the platform, and a data folder that is a file',
    () => {
      platform.wire.order(VIEWS, answered({ error: 'limit' }, {}, 429));
      writeFileSync(file('data'), '');
      return { REDIS_URL: '' };
    },
    [
      /^! warning +DOCS_PROJECT_ID: It could not be checked: .*\(429\)/m,
      /^✖ wrong +Redis: .* cannot be used \(ENOTDIR at /m,
    ],
  ],
  ['no redis-server', () => ({ REDIS_URL: '', PATH: root }), [/^✖ wrong +Redis: .*no redis-server/m]],
  [
    'the key of one project of several',
    () => {
      const projects = `projects:\n  acme: { projectId: ${platform.projectId} }\n  beta: { projectId: prj_beta, apiKey: { env: BETA_KEY } }\n`;
      writeFileSync(file('docket.yml'), projects);
      return { DOCKET_CONFIG: file('docket.yml'), DOCS_PROJECT_ID: '', BETA_KEY: 'adm_another1' };
    },
    [/^✖ wrong +BETA_KEY \(project beta\): the docs platform rejects/m, /^✔ ok +DOCS_API_URL: /m],
  ],
];

test.each(troubles)('%s', async (_, trouble, expected) => {
  const { code, stdout } = await doctor({ ...rightEnv(), ...(await trouble()) });
  for (const line of expected) expect(stdout).toMatch(line);
  expect(code).toBe(stdout.includes('✖') ? 1 : 0);
});

test("Docket's own Redis is neither started, nor its folder made", async () => {
  const { code, stdout } = await doctor({ ...rightEnv(), REDIS_URL: '' });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^✔ ok +Redis: .*Docket starts its own/m);
  expect(existsSync(file('data'))).toBe(false);
});

test("it takes Docket's way out: the proxy, and the authorities that are trusted", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const made = makeCertificates(folder.path, { names: 'DNS:docs-api.test' });
  const port = await tlsBefore(Number(new URL(servers[1]?.url ?? '').port), made);
  const HTTPS_PROXY = (await proxyTo(port)).url.replace('//', '//somebody:the-password@');
  const env = { ...rightEnv(), DOCS_API_URL: 'https://docs-api.test', HTTPS_PROXY };
  expect((await doctor({ ...env, NODE_EXTRA_CA_CERTS: made.ca })).code).toBe(0);
  const { stdout } = await doctor(env);
  expect(stdout).toMatch(/^✖ wrong +DOCS_API_URL: .*certificate of DOCS_API_URL\. Set NODE_EXTRA_CA_CERTS/m);
});

test.runIf(process.getuid?.() === 0)(
  'a .env and a data folder of somebody else are named with their commands',
  async () => {
    const stranger = { uid: 4321, gid: 4321 };
    mkdirSync(file('data'), { mode: 0o700 });
    const { stdout } = await doctor({ ...rightEnv(), REDIS_URL: '' }, stranger);
    expect(stdout).toMatch(/^✖ wrong +Redis: .* cannot be used \(EACCES at .*\(uid 4321\) owns/m);
    writeFileSync(file('.env'), 'LOG_LEVEL=info\n', { mode: 0o600 });
    const unreadable = await doctor({}, stranger);
    expect(unreadable.stdout).toMatch(/^✖ wrong +\.env: .* may not be read .*Run: chown 4321 /m);
  },
);

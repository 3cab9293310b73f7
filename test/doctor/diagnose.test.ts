import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createStandInPlatform, type StandInPlatform } from '../../demo/docs-platform/platform.ts';
import { readManifest } from '../../demo/slack/manifest.ts';
import { createStandInSlack, type StandInSlack } from '../../demo/slack/slack.ts';
import { CHECKS } from '../../src/doctor/checks.ts';
import { type DiagnoseOptions, diagnose, type Finding } from '../../src/doctor/diagnose.ts';
import { startEmbeddedRedis } from '../../src/store/embedded/embedded-redis.ts';
import { freePort, redisForTests } from '../support/redis.ts';
import { startCluster } from '../support/store/redis-groups.ts';

const redis = redisForTests();
let slack: StandInSlack;
let platform: StandInPlatform;
let slackServer: { url: string; close(): Promise<void> };
let platformServer: { url: string; close(): Promise<void> };
let folder: string;

beforeAll(async () => {
  slack = createStandInSlack({ rateLimits: false });
  platform = createStandInPlatform();
  slackServer = await slack.listen();
  platformServer = await platform.listen();
});
afterAll(async () => {
  slack.stop();
  await Promise.all([slackServer.close(), platformServer.close()]);
});
beforeEach(async () => {
  slack.wire.clear();
  platform.wire.clear();
  folder = mkdtempSync(join(tmpdir(), 'doctor-'));
  writeFileSync(join(folder, '.env'), 'LOG_LEVEL=info\n', { mode: 0o600 });
  await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
  await redis.client.config('SET', 'appendonly', 'yes');
  return () => rmSync(folder, { recursive: true });
});

const rightEnv = (): NodeJS.ProcessEnv => ({
  SLACK_BOT_TOKEN: slack.tokens.bot,
  SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
  SLACK_APP_TOKEN: slack.tokens.app,
  SLACK_API_URL: `${slackServer.url}/api/`,
  DOCS_API_URL: platformServer.url,
  DOCS_API_KEY: platform.apiKey,
  DOCS_API_KEY_PREFIX: platform.keyPrefix,
  DOCS_PROJECT_ID: platform.projectId,
  REDIS_URL: redis.url,
  DATA_DIR: join(folder, 'data'),
});

/** What a test changes of a set-up in which all is good. */
interface Trouble {
  env?: NodeJS.ProcessEnv;
  options?: Partial<DiagnoseOptions>;
  before?: () => unknown;
}

async function findingsOf({ env = {}, options = {}, before }: Trouble): Promise<Record<string, Finding>> {
  await before?.();
  const findings = await diagnose({
    env: { ...rightEnv(), ...env },
    envFile: join(folder, '.env'),
    nodeVersion: process.version,
    manifestScopes: readManifest().scopes,
    searchPath: process.env.PATH ?? '',
    machineMs: Date.now,
    monotonicMs: () => performance.now(),
    timeLimitMs: 5000,
    ...options,
  });
  return Object.fromEntries(findings.map((finding) => [finding.id, finding]));
}

test('where all is good, every line says so, in a fixed order', async () => {
  const findings = await findingsOf({});
  expect(Object.values(findings).filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(Object.keys(findings)).toEqual(CHECKS.map(({ id }) => id));
});

const httpOnly = { SLACK_APP_TOKEN: '' };
const own = { REDIS_URL: '' };
const answered = (body: unknown, headers: Record<string, string> = {}, status = 200) =>
  ({ kind: 'answer', status, headers, body }) as const;
const orderSlack = (method: string, body: unknown, headers?: Record<string, string>) => () =>
  slack.wire.order(method, answered(body, headers));
const VIEWS = 'GET /v1/analytics/{projectId}/views';
const JOB = 'GET /v1/static-export/jobs/{jobId}';
const noAnswer = async () => `http://127.0.0.1:${await freePort()}`;
/** A folder of programs with one server that tells this version. */
const serverOf = (version: string) => {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'redis-server'), `#!/bin/sh\necho "Redis server v=${version} sha=0"\n`, {
    mode: 0o755,
  });
  return bin;
};

type Row = [id: string, status: Finding['status'], what: RegExp, trouble: () => Trouble | Promise<Trouble>];

const rows: Row[] = [
  ['node', 'wrong', /Install Node 26/, () => ({ options: { nodeVersion: 'v22.1.0' } })],
  ['env-file', 'warning', /Run: chmod 600/, () => ({ before: () => chmodSync(join(folder, '.env'), 0o644) })],
  [
    'env-file',
    'warning',
    /quotes around LOG_LEVEL/,
    () => ({ before: () => writeFileSync(join(folder, '.env'), 'LOG_LEVEL="info"\n') }),
  ],
  [
    'env-file',
    'wrong',
    /byte order mark/,
    () => ({ before: () => writeFileSync(join(folder, '.env'), '\ufeffLOG_LEVEL=info\n') }),
  ],
  [
    'env-file',
    'wrong',
    /not a file/,
    () => ({
      before: () => {
        rmSync(join(folder, '.env'));
        mkdirSync(join(folder, '.env'));
      },
    }),
  ],
  [
    'env-file',
    'wrong',
    /cp \.env\.example/,
    () => ({ env: { DOCS_API_KEY: '' }, before: () => rmSync(join(folder, '.env')) }),
  ],
  ['settings', 'wrong', /LOG_LEVEL must be one of/, () => ({ env: { LOG_LEVEL: 'loud' } })],
  ['settings', 'wrong', /^Wrong or missing: DOCS_API_KEY\./, () => ({ env: { DOCS_API_KEY: '' } })],
  ['settings', 'wrong', /DOCKET_CONFIG names no file/, () => ({ env: { DOCKET_CONFIG: '/nowhere.yml' } })],
  [
    'settings',
    'wrong',
    /docket\.yml:2 projects\.acme\.apiKey\.env names an environment variable that is not set/,
    () => ({
      env: { DOCKET_CONFIG: join(folder, 'docket.yml'), DOCS_PROJECT_ID: '' },
      before: () =>
        writeFileSync(
          join(folder, 'docket.yml'),
          'projects:\n  acme: { apiKey: { env: ACME_DOCS_API_KEY } }\n',
        ),
    }),
  ],
  ['slack-bot-token', 'wrong', /is missing/, () => ({ env: { SLACK_BOT_TOKEN: '' } })],
  ['slack-bot-token', 'wrong', /begins with xoxb-/, () => ({ env: { SLACK_BOT_TOKEN: slack.tokens.app } })],
  [
    'slack-bot-token',
    'wrong',
    /has quotes around it/,
    () => ({ env: { SLACK_BOT_TOKEN: `"${slack.tokens.bot}"` } }),
  ],
  ['slack-bot-token', 'wrong', /\(invalid_auth\)/, () => ({ env: { SLACK_BOT_TOKEN: 'xoxb-another-one' } })],
  [
    'slack-bot-token',
    'wrong',
    /cannot be reached \(ECONNREFUSED\)/,
    async () => ({ env: { SLACK_API_URL: await noAnswer() } }),
  ],
  [
    'slack-bot-token',
    'wrong',
    /no answer within 0\.3 s/,
    () => ({
      options: { timeLimitMs: 300 },
      before: () => slack.wire.order('auth.test', { kind: 'hang', when: 'before' }),
    }),
  ],
  [
    'slack-bot-token',
    'wrong',
    /not that of a bot/,
    () => ({ before: orderSlack('auth.test', { ok: true }) }),
  ],
  [
    'slack-bot-token',
    'wrong',
    /not Slack's API/,
    () => ({ before: () => slack.wire.order('auth.test', { kind: 'garbage', when: 'before' }) }),
  ],
  [
    'slack-scopes',
    'wrong',
    /lacks files:write/,
    () => ({
      before: orderSlack(
        'auth.test',
        { ok: true, bot_id: 'B1' },
        {
          'x-oauth-scopes': readManifest()
            .scopes.filter((name) => name !== 'files:write')
            .join(),
        },
      ),
    }),
  ],
  [
    'slack-scopes',
    'not checked',
    /accept SLACK_BOT_TOKEN first/,
    () => ({ env: { SLACK_BOT_TOKEN: 'xoxb-another' } }),
  ],
  ['slack-scopes', 'not checked', /Needs SLACK_BOT_TOKEN/, () => ({ env: { SLACK_BOT_TOKEN: '' } })],
  ['slack-signing-secret', 'wrong', /is missing/, () => ({ env: { ...httpOnly, SLACK_SIGNING_SECRET: '' } })],
  [
    'slack-signing-secret',
    'warning',
    /not 32 hexadecimal/,
    () => ({ env: { ...httpOnly, SLACK_SIGNING_SECRET: 'something-that-is-long' } }),
  ],
  ['slack-signing-secret', 'ok', /No call can prove it/, () => ({ env: httpOnly })],
  ['slack-app-token', 'wrong', /begins with xapp-/, () => ({ env: { SLACK_APP_TOKEN: slack.tokens.bot } })],
  ['slack-app-token', 'wrong', /\(invalid_auth\)/, () => ({ env: { SLACK_APP_TOKEN: 'xapp-another-one' } })],
  [
    'slack-app-token',
    'wrong',
    /missing_scope.*connections:write/,
    () => ({ before: orderSlack('apps.connections.open', { ok: false, error: 'missing_scope' }) }),
  ],
  ['docs-key-form', 'wrong', /is missing/, () => ({ env: { DOCS_API_KEY: '' } })],
  [
    'docs-key-form',
    'wrong',
    /does not begin with DOCS_API_KEY_PREFIX/,
    () => ({ env: { DOCS_API_KEY: 'usr_1234567' } }),
  ],
  ['docs-api', 'wrong', /is missing/, () => ({ env: { DOCS_API_URL: '' } })],
  [
    'docs-api',
    'wrong',
    /has a user, a query or a fragment/,
    () => ({ env: { DOCS_API_URL: `${platformServer.url}/?key=1`, LOG_LEVEL: 'loud' } }),
  ],
  ['docs-api', 'wrong', /ECONNREFUSED/, async () => ({ env: { DOCS_API_URL: await noAnswer() } })],
  [
    'docs-api',
    'wrong',
    /not the platform's API/,
    () => ({
      before: () => platform.wire.order(VIEWS, { kind: 'answer', status: 404, text: '<h1>Not here</h1>' }),
    }),
  ],
  [
    'docs-api',
    'wrong',
    /elsewhere \(301\)/,
    () => ({ before: () => platform.wire.order(VIEWS, answered({}, { location: '/new' }, 301)) }),
  ],
  [
    'docs-api',
    'wrong',
    /fails at the moment \(503\)/,
    () => ({ before: () => platform.wire.order(VIEWS, answered({ error: 'down' }, {}, 503)) }),
  ],
  ['docs-key', 'wrong', /rejects DOCS_API_KEY/, () => ({ env: { DOCS_API_KEY: 'adm_another1' } })],
  [
    'docs-key',
    'wrong',
    /rejects DOCS_API_KEY/,
    () => ({ env: { DOCS_API_KEY: 'adm_another1', DOCS_PROJECT_ID: '' } }),
  ],
  [
    'docs-key',
    'warning',
    /\(403\)/,
    () => ({ before: () => platform.wire.order(VIEWS, answered({ error: 'no' }, {}, 403)) }),
  ],
  [
    'docs-key',
    'not checked',
    /has to answer first/,
    async () => ({ env: { DOCS_API_URL: await noAnswer() } }),
  ],
  [
    'docs-project',
    'wrong',
    /does not know DOCS_PROJECT_ID/,
    () => ({ env: { DOCS_PROJECT_ID: 'prj_other' } }),
  ],
  ['docs-project', 'warning', /is not set: exports work/, () => ({ env: { DOCS_PROJECT_ID: '' } })],
  ['docs-project', 'not checked', /accept the key first/, () => ({ env: { DOCS_API_KEY: 'adm_another1' } })],
  [
    'docs-project',
    'not checked',
    /used up/,
    () => ({ before: () => platform.wire.order(VIEWS, answered({ error: 'limit' }, {}, 429)) }),
  ],
  [
    'clock',
    'warning',
    /machine's clock is (39|40) s ahead of Slack's and the platform's/,
    () => ({ options: { machineMs: () => Date.now() + 40_000 } }),
  ],
  ['clock', 'wrong', /behind.*refused/, () => ({ options: { machineMs: () => Date.now() - 400_000 } })],
  [
    'clock',
    'warning',
    /docs platform's clock differs/,
    () => ({
      before: () =>
        platform.wire.order(
          VIEWS,
          answered({ error: 'x' }, { date: new Date(Date.now() - 60_000).toUTCString() }, 404),
        ),
    }),
  ],
  [
    'clock',
    'not checked',
    /has to answer first/,
    async () => ({ env: { SLACK_API_URL: await noAnswer(), DOCS_API_URL: await noAnswer() } }),
  ],
  [
    'redis',
    'wrong',
    /cannot be reached \(ECONNREFUSED\)/,
    async () => ({ env: { REDIS_URL: `redis://127.0.0.1:${await freePort()}` } }),
  ],
  ['redis', 'wrong', /must begin with redis:/, () => ({ env: { REDIS_URL: 'http://127.0.0.1' } })],
  ['redis', 'wrong', /no redis-server/, () => ({ env: own, options: { searchPath: folder } })],
  ['redis', 'wrong', /does not have the database/, () => ({ env: { REDIS_URL: `${redis.url}/99` } })],
  [
    'redis-rights',
    'wrong',
    /lacks rights: the commands zadd/,
    () => ({
      env: { REDIS_URL: redis.url.replace('://', '://docket:pw@') },
      before: () => redis.client.acl('SETUSER', 'docket', 'reset', 'on', '>pw', '~*', '+@all', '-zadd'),
    }),
  ],
  [
    'redis-failover',
    'warning',
    /No replica follows/,
    async () => {
      const cluster = await startCluster();
      onTestFinished(() => cluster.close());
      return { env: { REDIS_URL: cluster.url } };
    },
  ],
  [
    'redis-version',
    'wrong',
    /5\.0\.3 is too old/,
    () => ({ env: own, options: { searchPath: serverOf('5.0.3') } }),
  ],
  [
    'redis-version',
    'not checked',
    /reached first/,
    async () => ({ env: { REDIS_URL: `redis://127.0.0.1:${await freePort()}` } }),
  ],
  [
    'redis-persistence',
    'wrong',
    /keeps nothing on disk/,
    () => ({ before: () => redis.client.config('SET', 'appendonly', 'no') }),
  ],
  [
    'redis-persistence',
    'warning',
    /REDIS_ALLOW accepts it/,
    () => ({
      env: { REDIS_ALLOW: 'volatile' },
      before: () => redis.client.config('SET', 'appendonly', 'no'),
    }),
  ],
  [
    'redis-eviction',
    'wrong',
    /drops keys/,
    () => ({ before: () => redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru') }),
  ],
  [
    'redis-latency',
    'warning',
    /takes 150 ms/,
    () => {
      let ms = 0;
      return {
        options: {
          monotonicMs() {
            ms += 150;
            return ms;
          },
        },
      };
    },
  ],
  [
    'redis',
    'not checked',
    /Needs DATA_DIR/,
    () => ({ env: { ...own, DATA_DIR: `"${join(folder, 'data')}"` } }),
  ],
  [
    'data-dir',
    'wrong',
    /is a file, or lies below one/,
    () => ({ env: own, before: () => writeFileSync(join(folder, 'data'), '') }),
  ],
];

test.each(rows)('%s is %s: %s', async (id, status, what, trouble) => {
  expect((await findingsOf(await trouble()))[id]).toMatchObject({
    status,
    text: expect.stringMatching(what),
  });
});

test('each check has a row that makes it fail', () => {
  const failing = new Set(
    rows.filter(([, status]) => ['wrong', 'warning'].includes(status)).map(([id]) => id),
  );
  expect(CHECKS.map(({ id }) => id).filter((id) => !failing.has(id))).toEqual([]);
});

test('nothing is written to Redis, nothing started, and no connection of Socket Mode opened', async () => {
  await findingsOf({});
  expect(await redis.client.dbsize()).toBe(0);
  expect(slack.sockets.open).toBe(0);
  expect(platform.starts).toEqual([]);
});

test('a project without an id costs no request for analytics', async () => {
  const before = platform.analyticsRequests().views;
  const findings = await findingsOf({ env: { DOCS_PROJECT_ID: '' } });
  expect(findings['docs-key']).toMatchObject({ status: 'ok' });
  expect(platform.analyticsRequests().views).toBe(before);
  expect(platform.wire.calls.at(-1)?.name).toBe(JOB);
});

test("Docket's own Redis is neither started nor its folder made, and asked where it runs", async () => {
  const dataDir = join(folder, 'data');
  const stopped = await findingsOf({ env: own });
  expect(stopped.redis).toMatchObject({ status: 'ok', text: expect.stringContaining("Docket's own") });
  expect(stopped['redis-latency']).toMatchObject({ status: 'not checked' });
  expect(existsSync(dataDir)).toBe(false);

  const log = { info() {}, warn() {}, error() {} };
  const embedded = await startEmbeddedRedis({ dataDir, log, searchPath: process.env.PATH ?? '' });
  try {
    const running = await findingsOf({ env: own });
    expect(Object.values(running).filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(running.redis?.text).toBe("Docket's own, and it runs.");

    const pid = embedded.pid() ?? 0;
    process.kill(pid, 'SIGSTOP');
    const silent = await findingsOf({ env: own }).finally(() => process.kill(pid, 'SIGCONT'));
    expect(silent.redis).toMatchObject({ status: 'wrong', text: expect.stringContaining('does not answer') });
  } finally {
    await embedded.stop();
  }
});

test('of several projects, the one is named whose key is rejected', async () => {
  const findings = await findingsOf({
    env: { DOCKET_CONFIG: join(folder, 'docket.yml'), DOCS_PROJECT_ID: '', BETA_KEY: 'adm_of_beta' },
    before: () =>
      writeFileSync(
        join(folder, 'docket.yml'),
        `projects:\n  acme: { projectId: ${platform.projectId} }\n  beta: { projectId: prj_beta, apiKey: { env: BETA_KEY } }\n`,
      ),
  });
  expect(findings['docs-key']?.text).toMatch(/^The platform rejects BETA_KEY \(project beta\)\. /);
});

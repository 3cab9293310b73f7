import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readManifest } from '../../demo/slack/manifest.ts';
import type { Finding } from '../../src/doctor/diagnose.ts';
import { answering } from '../support/docs-api/servers.ts';
import { httpsPlatform, proxyTo, tlsBefore } from '../support/docs-api/tls.ts';
import { answered, type DoctorWorld, type Trouble } from '../support/doctor.ts';
import { temporaryFolder } from '../support/flows/world.ts';
import { freePort } from '../support/redis.ts';
import { makeCertificates } from '../support/store/certificates.ts';

const httpOnly = { SLACK_APP_TOKEN: '' };
const own = { REDIS_URL: '' };
const VIEWS = 'GET /v1/analytics/{projectId}/views';

/** A check, what it finds, the line that it then has, and what to change of a set-up in which all is good. */
export type Row = [
  id: string,
  status: Finding['status'],
  what: RegExp,
  trouble: () => Trouble | Promise<Trouble>,
];

/** A certificate of an authority that nobody knows. */
function certificates(names?: string) {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  return makeCertificates(folder.path, { ...(names !== undefined && { names }) });
}

/** Everything that checks find, each at least once. */
export function rowsOf(world: DoctorWorld): Row[] {
  return [
    [
      'port',
      'wrong',
      /^Port \d+ is taken by another program\. Stop that one, or set PORT to a free port\.$/,
      async () => ({ env: { PORT: new URL((await answering(404, {})).url).port, HOST: '127.0.0.1' } }),
    ],
    [
      'port',
      'ok',
      /^Docket is running and answers at PORT\.$/,
      async () => ({ env: { PORT: new URL((await answering(200, {})).url).port, HOST: '127.0.0.1' } }),
    ],
    ['node', 'wrong', /Install Node 26/, () => ({ options: { nodeVersion: 'v22.1.0' } })],
    [
      'env-file',
      'warning',
      /Run: chmod 600/,
      () => ({ before: () => chmodSync(join(world.folder, '.env'), 0o644) }),
    ],
    [
      'env-file',
      'wrong',
      /byte order mark/,
      () => ({ before: () => writeFileSync(join(world.folder, '.env'), '\ufeffLOG_LEVEL=info\n') }),
    ],
    [
      'env-file',
      'wrong',
      /not a file/,
      () => ({
        before: () => {
          rmSync(join(world.folder, '.env'));
          mkdirSync(join(world.folder, '.env'));
        },
      }),
    ],
    [
      'env-file',
      'wrong',
      /cp \.env\.example/,
      () => ({ env: { DOCS_API_KEY: '' }, before: () => rmSync(join(world.folder, '.env')) }),
    ],
    ['settings', 'wrong', /LOG_LEVEL must be one of/, () => ({ env: { LOG_LEVEL: 'loud' } })],
    ['settings', 'wrong', /^Wrong or missing: DOCS_API_KEY\./, () => ({ env: { DOCS_API_KEY: '' } })],
    ['settings', 'wrong', /DOCKET_CONFIG names no file/, () => ({ env: { DOCKET_CONFIG: '/nowhere.yml' } })],
    [
      'settings',
      'wrong',
      /docket\.yml:2 projects\.acme\.apiKey\.env names an environment variable that is not set/,
      () => ({
        env: { DOCKET_CONFIG: join(world.folder, 'docket.yml'), DOCS_PROJECT_ID: '' },
        before: () =>
          writeFileSync(
            join(world.folder, 'docket.yml'),
            'projects:\n  acme: { apiKey: { env: ACME_DOCS_API_KEY } }\n',
          ),
      }),
    ],
    ['slack-bot-token', 'wrong', /is missing/, () => ({ env: { SLACK_BOT_TOKEN: '' } })],
    [
      'slack-bot-token',
      'wrong',
      /begins with xoxb-/,
      () => ({ env: { SLACK_BOT_TOKEN: world.slack.tokens.app } }),
    ],
    [
      'slack-bot-token',
      'wrong',
      /has quotes around it/,
      () => ({ env: { SLACK_BOT_TOKEN: `"${world.slack.tokens.bot}"` } }),
    ],
    [
      'slack-bot-token',
      'wrong',
      /\(invalid_auth\)/,
      () => ({ env: { SLACK_BOT_TOKEN: 'xoxb-another-one' } }),
    ],
    [
      'slack-bot-token',
      'wrong',
      /cannot be reached \(ECONNREFUSED\)/,
      async () => ({ env: { SLACK_API_URL: await world.noAnswer() } }),
    ],
    [
      'slack-bot-token',
      'wrong',
      /no answer within 0\.3 s/,
      () => ({
        options: { timeLimitMs: 300 },
        before: () => world.slack.wire.order('auth.test', { kind: 'hang', when: 'before' }),
      }),
    ],
    [
      'slack-bot-token',
      'wrong',
      /not a bot token/,
      () => ({ before: world.orderSlack('auth.test', { ok: true }) }),
    ],
    [
      'slack-bot-token',
      'wrong',
      /does not answer as it should \(200\)/,
      () => ({ before: () => world.slack.wire.order('auth.test', { kind: 'garbage', when: 'before' }) }),
    ],
    [
      'slack-scopes',
      'wrong',
      /lacks files:write/,
      () => ({
        before: world.orderSlack(
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
    [
      'slack-signing-secret',
      'wrong',
      /is missing/,
      () => ({ env: { ...httpOnly, SLACK_SIGNING_SECRET: '' } }),
    ],
    [
      'slack-signing-secret',
      'warning',
      /not 32 hexadecimal/,
      () => ({ env: { ...httpOnly, SLACK_SIGNING_SECRET: 'something-that-is-long' } }),
    ],
    ['slack-signing-secret', 'ok', /No call can verify it/, () => ({ env: httpOnly })],
    [
      'slack-app-token',
      'wrong',
      /begins with xapp-/,
      () => ({ env: { SLACK_APP_TOKEN: world.slack.tokens.bot } }),
    ],
    [
      'slack-app-token',
      'wrong',
      /\(invalid_auth\)/,
      () => ({ env: { SLACK_APP_TOKEN: 'xapp-another-one' } }),
    ],
    [
      'slack-app-token',
      'wrong',
      /missing_scope.*connections:write/,
      () => ({ before: world.orderSlack('apps.connections.open', { ok: false, error: 'missing_scope' }) }),
    ],
    ['docs-key-form', 'wrong', /is missing/, () => ({ env: { DOCS_API_KEY: '' } })],
    [
      'docs-key-form',
      'wrong',
      /does not begin with DOCS_API_KEY_PREFIX/,
      () => ({ env: { DOCS_API_KEY: 'usr_1234567' } }),
    ],
    [
      'docs-api',
      'wrong',
      /certificate of DOCS_API_URL. Set NODE_EXTRA_CA_CERTS .* \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/,
      async () => ({
        env: { DOCS_API_URL: `https://127.0.0.1:${(await httpsPlatform(certificates())).port}` },
      }),
    ],
    [
      'docs-api',
      'ok',
      /answers/,
      async () => {
        const made = certificates('DNS:docs-api.test');
        const port = await tlsBefore(Number(new URL(world.platformUrl).port), made);
        const HTTPS_PROXY = (await proxyTo(port)).url;
        return { env: { DOCS_API_URL: 'https://docs-api.test', HTTPS_PROXY, NODE_EXTRA_CA_CERTS: made.ca } };
      },
    ],
    ['docs-api', 'wrong', /is missing/, () => ({ env: { DOCS_API_URL: '' } })],
    [
      'docs-api',
      'wrong',
      /has a user, a query or a fragment/,
      () => ({ env: { DOCS_API_URL: `${world.platformUrl}/?key=1`, LOG_LEVEL: 'loud' } }),
    ],
    ['docs-api', 'wrong', /ECONNREFUSED/, async () => ({ env: { DOCS_API_URL: await world.noAnswer() } })],
    [
      'docs-api',
      'wrong',
      /does not answer as the platform's API does \(404\)/,
      () => ({
        before: () =>
          world.platform.wire.order(VIEWS, { kind: 'answer', status: 404, text: '<h1>Not here</h1>' }),
      }),
    ],
    [
      'docs-api',
      'wrong',
      /\(301\)\. Set it to the base address/,
      () => ({ before: () => world.platform.wire.order(VIEWS, answered({}, { location: '/new' }, 301)) }),
    ],
    [
      'docs-api',
      'wrong',
      /\(503\)\./,
      () => ({ before: () => world.platform.wire.order(VIEWS, answered({ error: 'down' }, {}, 503)) }),
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
      () => ({ before: () => world.platform.wire.order(VIEWS, answered({ error: 'no' }, {}, 403)) }),
    ],
    [
      'docs-key',
      'not checked',
      /must answer first/,
      async () => ({ env: { DOCS_API_URL: await world.noAnswer() } }),
    ],
    [
      'docs-project',
      'wrong',
      /does not know DOCS_PROJECT_ID/,
      () => ({ env: { DOCS_PROJECT_ID: 'prj_other' } }),
    ],
    ['docs-project', 'warning', /is not set: exports work/, () => ({ env: { DOCS_PROJECT_ID: '' } })],
    [
      'docs-project',
      'not checked',
      /accept the key first/,
      () => ({ env: { DOCS_API_KEY: 'adm_another1' } }),
    ],
    [
      'docs-project',
      'warning',
      /Could not check DOCS_PROJECT_ID: the platform answered 429/,
      () => ({ before: () => world.platform.wire.order(VIEWS, answered({ error: 'limit' }, {}, 429)) }),
    ],
    [
      'clock',
      'warning',
      /machine's clock is 4[01] s ahead/,
      () => ({ options: { machineMs: () => Date.now() + 40_000 } }),
    ],
    ['clock', 'wrong', /behind.*refused/, () => ({ options: { machineMs: () => Date.now() - 400_000 } })],
    [
      'clock',
      'not checked',
      /must answer first/,
      async () => ({ env: { SLACK_API_URL: await world.noAnswer(), DOCS_API_URL: await world.noAnswer() } }),
    ],
    [
      'redis',
      'wrong',
      /isn't answering \(ECONNREFUSED\)/,
      async () => ({ env: { REDIS_URL: `redis://127.0.0.1:${await freePort()}` } }),
    ],
    ['redis', 'wrong', /must begin with redis:/, () => ({ env: { REDIS_URL: 'http://127.0.0.1' } })],
    ['redis', 'wrong', /no redis-server/, () => ({ env: own, options: { searchPath: world.folder } })],
    ['redis', 'wrong', /does not have the database/, () => ({ env: { REDIS_URL: `${world.redis.url}/99` } })],
    [
      'redis',
      'wrong',
      /keeps no append-only file/,
      () => ({ before: () => world.redis.client.config('SET', 'appendonly', 'no') }),
    ],
    [
      'redis',
      'warning',
      /REDIS_ALLOW accepts it/,
      () => ({
        env: { REDIS_ALLOW: 'volatile' },
        before: () => world.redis.client.config('SET', 'appendonly', 'no'),
      }),
    ],
    [
      'redis',
      'wrong',
      /drops keys/,
      () => ({ before: () => world.redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru') }),
    ],
    [
      'redis',
      'not checked',
      /Needs DATA_DIR/,
      () => ({ env: { ...own, DATA_DIR: `"${join(world.folder, 'data')}"` } }),
    ],
    [
      'data-dir',
      'wrong',
      /cannot be used \(ENOTDIR at /,
      () => ({ env: own, before: () => writeFileSync(join(world.folder, 'data'), '') }),
    ],
  ];
}

import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readManifest } from '../../demo/slack/manifest.ts';
import { answering } from '../support/docs-api/servers.ts';
import { proxyTo, tlsBefore } from '../support/docs-api/tls.ts';
import { answered, doctorForTests } from '../support/doctor.ts';
import { temporaryFolder } from '../support/flows/world.ts';
import { makeCertificates } from '../support/store/certificates.ts';

const VIEWS = 'GET /v1/analytics/{projectId}/views';
const { redis, slack, platform, file, rightEnv, doctor } = doctorForTests();

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

test('where all is good each line says so, and nothing is kept or started', async () => {
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
  // Its one write expires at once.
  await expect.poll(() => redis.client.dbsize()).toBe(0);
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
      /^! warning +DOCS_PROJECT_ID: It is not set: only exports work/m,
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
  [
    "a Slack that limits calls, or fails: the tokens aren't to blame",
    () => {
      slack.wire.order(
        'auth.test',
        answered({ ok: false, error: 'ratelimited' }, { 'retry-after': '30' }, 429),
      );
      slack.wire.order('apps.connections.open', answered({}, {}, 503));
      return {};
    },
    [
      /^! warning +SLACK_BOT_TOKEN: It was not checked, because Slack limits these calls \(ratelimited\)\. Run the doctor again in 30 s\.$/m,
      /^! warning +SLACK_APP_TOKEN: It was not checked, because Slack itself fails \(http_503\)\. See /m,
      /^0 wrong, 2 to look at\.$/m,
    ],
  ],
  [
    'an error of Slack itself, as an answer',
    () => {
      slack.wire.order('auth.test', answered({ ok: false, error: 'internal_error' }));
      return {};
    },
    [/^! warning +SLACK_BOT_TOKEN: It was not checked, because Slack itself fails \(internal_error\)/m],
  ],
  [
    'no DNS, or names that do not exist',
    () => ({ SLACK_API_URL: 'https://slack.invalid/api/', DOCS_API_URL: 'https://docs-api.invalid' }),
    [
      /^✖ wrong +SLACK_BOT_TOKEN: This machine can't look up the host name in SLACK_API_URL\. Check the name, the machine's DNS/m,
      /^✖ wrong +DOCS_API_URL: This machine can't look up the host name in DOCS_API_URL\. Check the name, the machine's DNS/m,
    ],
  ],
  [
    'a Redis that is full',
    async () => {
      await redis.client.config('SET', 'maxmemory', '1');
      onTestFinished(() => void redis.client.config('SET', 'maxmemory', '0'));
      return {};
    },
    [/^✖ wrong +Redis: Redis answers, but refuses a write \(OOM\)/m],
  ],
  [
    'a user of Redis that may read, but not write',
    async () => {
      await redis.client.call(
        'ACL',
        'SETUSER',
        'reader',
        'reset',
        'on',
        '>the-password',
        '~*',
        '&*',
        '+@read',
        '+info',
        '+ping',
      );
      onTestFinished(() => void redis.client.call('ACL', 'DELUSER', 'reader'));
      return { REDIS_URL: redis.url.replace('//', '//reader:the-password@') };
    },
    [/^✖ wrong +Redis: .*(?:NOPERM|rights)/m],
  ],
  ['no redis-server', () => ({ REDIS_URL: '', PATH: file('') }), [/^✖ wrong +Redis: .*no redis-server/m]],
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

test('from nothing, it asks for the same token as the set-up', async () => {
  const { code, stdout } = await doctor({});
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✖ wrong +Settings: SLACK_APP_TOKEN is missing\. Create one in your Slack app/m);
  expect(stdout).not.toMatch(/Settings: SLACK_SIGNING_SECRET/);
});

/** Data folders that Docket cannot write, though most of them look well. */
const FOLDERS: [what: string, make: () => void, code: string, place: string][] = [
  ['a parent of somebody else', () => mkdirSync(file('data'), { mode: 0o755 }), 'EACCES', 'data'],
  [
    "Redis' folder of somebody else",
    () => {
      mkdirSync(file('data/redis'), { recursive: true });
      chownSync(file('data'), STRANGER.uid, STRANGER.gid);
    },
    'EACCES',
    'data/redis',
  ],
  [
    'a file of somebody else in it',
    () => {
      mkdirSync(file('data/redis/appendonlydir'), { recursive: true });
      writeFileSync(file('data/redis/appendonlydir/a.aof'), '', { mode: 0o600 });
      for (const name of ['data', 'data/redis', 'data/redis/appendonlydir'])
        chownSync(file(name), STRANGER.uid, STRANGER.gid);
    },
    'EACCES',
    'data/redis/appendonlydir/a.aof',
  ],
];
const STRANGER = { uid: 4321, gid: 4321 };

describe.runIf(process.getuid?.() === 0)('a data folder with', () => {
  test.each(FOLDERS)('%s', async (what, make, code, place) => {
    make();
    const folder = what === 'a parent of somebody else' ? 'data/inner/deeper' : 'data';
    const { stdout } = await doctor({ ...rightEnv(), REDIS_URL: '', DATA_DIR: file(folder) }, STRANGER);
    expect(stdout).toMatch(
      new RegExp(`^✖ wrong +Redis: DATA_DIR .* cannot be used \\(${code} at \\S*/${place}(?:/\\.)?\\)`, 'm'),
    );
  });

  test('a disk that is full', async ({ skip }) => {
    mkdirSync(file('data'));
    const { status } = spawnSync('mount', [
      '-t',
      'tmpfs',
      '-o',
      'size=8k,nr_inodes=10',
      'tmpfs',
      file('data'),
    ]);
    skip(status !== 0, 'this machine does not let the test mount a disk');
    onTestFinished(() => void execFileSync('umount', [file('data')]));
    writeFileSync(file('data/fill'), 'x'.repeat(8192));
    const { stdout } = await doctor({ ...rightEnv(), REDIS_URL: '' });
    expect(stdout).toMatch(/^✖ wrong +Redis: DATA_DIR .* cannot be used \(ENOSPC at /m);
    expect(readdirSync(file('data'))).toEqual(['fill']);
  });
});

test('of a folder that Docket may write, nothing is changed', async () => {
  mkdirSync(file('data/redis'), { recursive: true });
  const { code } = await doctor({ ...rightEnv(), REDIS_URL: '' });
  expect([code, readdirSync(file('data'), { recursive: true })]).toEqual([0, ['redis']]);
});

test("it takes Docket's way out: the proxy, and the authorities that are trusted", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const made = makeCertificates(folder.path, { names: 'DNS:docs-api.test' });
  const port = await tlsBefore(Number(new URL(rightEnv().DOCS_API_URL).port), made);
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

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';
import { readManifest } from '../../demo/slack/manifest.ts';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { answering, httpServer } from '../support/docs-api/servers.ts';
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

test('--platform needs no settings of Slack, and prints the table of each project', async () => {
  platform.lacks.set('POST /v2/agent/{projectId}/job', 404);
  onTestFinished(() => platform.lacks.clear());
  const { SLACK_BOT_TOKEN: _, SLACK_APP_TOKEN: _other, ...env } = rightEnv();
  const { code, stdout } = await doctor(env, { args: ['--platform'] });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^The docs platform, project default\n {2}works +startExport +POST \/v1\/static-export\/jobs$/m,
  );
  expect(stdout).toMatch(/^ {2}not there +createAgentJob .*\(404, as for an address that can't exist\)$/m);
  expect(stdout).toMatch(/^ {2}not tried +previewBranch .*\(it would start something\)$/m);
  expect(stdout).toMatch(/^ {2}Docket goes without: new agent jobs/m);
  expect(platform.starts).toEqual([]);
  const refused = await doctor({ ...env, DOCS_API_KEY: 'adm_another1' }, { args: ['--platform'] });
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/refused +startExport .*\(401/)]);
  const nothing = await doctor({}, { args: ['--platform'] });
  expect([nothing.code, nothing.lines.map((line) => line.slice(10))]).toEqual([
    1,
    [
      expect.stringMatching(/^Settings: DOCS_API_URL is missing/),
      expect.stringMatching(/^Settings: DOCS_API_KEY is missing/),
    ],
  ]);
});

test('--platform has a table for each project, with its own key', async () => {
  const projects = `projects:\n  acme: { projectId: ${platform.projectId} }\n  beta: { projectId: prj_beta, apiKey: { env: BETA_KEY } }\n`;
  writeFileSync(file('docket.yml'), projects);
  const more = { DOCKET_CONFIG: file('docket.yml'), DOCS_PROJECT_ID: '', BETA_KEY: 'adm_another1' };
  const { code, stdout } = await doctor({ ...rightEnv(), ...more }, { args: ['--platform'] });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /project acme\n {2}works +startExport[\s\S]*goes without: nothing[\s\S]*project beta\n {2}refused +startExport/,
  );
});

test('--messages asks about the samples beside package.json, and prints what Slack refuses', async () => {
  const block = (type: string) => `{ text: x, blocks: [{ type: ${type} }] }`;
  mkdirSync(file('test/outside/golden'), { recursive: true });
  onTestFinished(() => rmSync(file('test'), { recursive: true }));
  writeFileSync(
    file('test/outside/golden/a.yaml'),
    `a/good: ${block('divider')}\na/bad: ${block('wizard')}\n`,
  );
  const env = { SLACK_BOT_TOKEN: slack.tokens.bot, SLACK_API_URL: `${servers[0]?.url}/api/` };
  const { code, lines } = await doctor(env, { args: ['--messages'] });
  expect([code, lines]).toEqual([
    1,
    [
      '2 samples, one a second: about 1 min.',
      expect.stringContaining('a/bad: invalid_message'),
      expect.stringContaining('unsupported type: wizard [json-pointer:/blocks/0/type]'),
      'Slack takes 1 of 2 samples.',
    ],
  ]);
});

test('--messages says that it needs a checkout where there are no samples', async () => {
  const { code, stdout } = await doctor(
    { SLACK_BOT_TOKEN: slack.tokens.bot, SLACK_API_URL: `${servers[0]?.url}/api/` },
    { args: ['--messages'] },
  );
  expect([code, stdout]).toEqual([1, expect.stringContaining('of a checkout of Docket')]);
});

/** What must not be in a report, wherever it comes from: settings, `.env`, the file, answers, or the log. */
const CANARIES = {
  key: 'adm_canary0key0000',
  fileKey: 'adm_canary0file0key',
  bot: 'xoxb-canary-0123456789',
  signing: 'canarysigning0123456789',
  webhook: 'whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5',
  proxy: 'canary-proxy-password',
  domain: 'canary-docs',
  project: 'canaryproject',
  projectId: 'prj_canary',
  workspace: 'canaryspace',
  deployment: 'canarysite',
  channel: 'C0CANARY01',
  person: 'U0CANARY02',
  mail: 'canary.person',
  link: 'canarysignature',
  path: 'canary-place',
  address: '10.1.2.3',
  team: 'CanaryTeam',
  words: 'canarywords',
};

test('--report has no secret and nothing private, and names what is needed to help', async () => {
  const { key, fileKey, bot, signing, webhook, domain, project, projectId, workspace } = CANARIES;
  const presigned = `https://bundles.${domain}.com/a.tar.gz?X-Signature=${CANARIES.link}`;
  const said = `No access to ${domain}.acme.com for ${CANARIES.words}: ${presigned}, ${key}, ${CANARIES.mail}@acme.com`;
  const refusing = { kind: 'answer', status: 403, body: { error: said } } as const;
  const taken = [platform.wire.order(() => true, refusing, Number.POSITIVE_INFINITY)];
  const headers = { 'x-oauth-scopes': readManifest().scopes.join() };
  taken.push(
    slack.wire.order('auth.test', answered({ ok: true, bot_id: 'B1', team: CANARIES.team }, headers)),
  );
  onTestFinished(() => taken.forEach((order) => void order.takeBack()));
  writeFileSync(
    file('docket.yml'),
    `workspaces: { ${workspace}: { botToken: { env: CANARY_BOT }, signingSecret: { env: CANARY_SIGNING } } }
projects:
  ${project}:
    projectId: ${projectId}
    domains: [${domain}.acme.com]
    channels: [${CANARIES.channel}]
    workspaces: [${workspace}]
    apiKey: { file: ${file('canary-key')} }
    deployments: { ${CANARIES.deployment}: { webhook: { url: 'https://hooks.${domain}.com/in', secret: { env: CANARY_HOOK } } } }
`,
  );
  writeFileSync(file('canary-key'), fileKey);
  writeFileSync(
    file('.env'),
    `CANARY_HOOK=${webhook}\nHTTPS_PROXY=http://me:${CANARIES.proxy}@127.0.0.1:9\n`,
    { mode: 0o600 },
  );
  const problem = `the docs platform rejects ${file('canary-key')} of project ${project} at ${domain}.acme.com, ${presigned}`;
  const docket = await httpServer(({ url }, response) => {
    const metrics = `docket_refusals_total{reason="busy"} 3\ndocket_refusals_total{reason="guest"} 0\ndocket_job_duration_seconds_bucket{le="1"} 4\nprocess_open_fds 9\n`;
    const readyz = {
      ready: true,
      parts: { redis: 'down' },
      problems: [{ name: 'docs_key', level: 'error', text: problem }],
    };
    response.end(url === '/metrics' ? metrics : JSON.stringify(url === '/readyz' ? readyz : { alive: true }));
  });
  const line = (level: number, msg: string) =>
    JSON.stringify({
      level,
      time: 1_800_000_000_000,
      msg,
      err: {
        type: 'Error',
        stack: `Error: no answer of ${presigned},${key}\n    at run (${file('src/jobs/job.ts')}:12:3)`,
      },
    });
  writeFileSync(
    file('docket.log'),
    `${line(30, 'all is well')}\n${line(50, `boom in ${CANARIES.channel} for ${CANARIES.person} with ${key} at ${CANARIES.address} in /srv/${CANARIES.path}/x, ${CANARIES.mail}@acme.com`)}\nno JSON of ${domain}\n`,
  );
  const { REDIS_URL } = rightEnv();
  const env = {
    ...{ REDIS_URL, SLACK_API_URL: rightEnv().SLACK_API_URL, DOCS_API_URL: rightEnv().DOCS_API_URL },
    ...{
      CANARY_BOT: bot,
      CANARY_SIGNING: signing,
      DOCKET_CONFIG: file('docket.yml'),
      DATA_DIR: file('data'),
    },
    ...{ HOST: '127.0.0.1', PORT: new URL(docket.url).port, LOG_LEVEL: 'debug' },
  };
  const { code, stdout } = await doctor(env, { args: ['--report', '--log', file('docket.log')] });
  expect(code).toBe(0);
  for (const [name, canary] of Object.entries(CANARIES))
    expect(stdout.toLowerCase(), name).not.toContain(canary.toLowerCase());
  expect(stdout).not.toContain(root);
  expect(stdout).not.toMatch(/acme\.com/);
  expect(stdout).toMatch(
    /^Docket \d+\.\d+\.\d+, Node v\d+\.\d+\.\d+, \w+ \S+ \w+, (?:Redis|Valkey) \d+\.\d+/m,
  );
  expect(stdout).toMatch(/^DOCS_API_URL.*, REDIS_URL.*LOG_LEVEL$|^.*\bREDIS_URL\b.*\bLOG_LEVEL\b/m);
  expect(stdout).toMatch(/^1 workspaces, 1 projects, 1 deployments$/m);
  expect(stdout).toMatch(/"name":"docs_key".*the docs platform rejects … of project … at …/);
  expect(stdout).toMatch(/^docket_refusals_total\{reason="busy"\} 3$/m);
  expect(stdout).not.toMatch(/guest|_bucket|process_open_fds/);
  expect(stdout).toMatch(
    /^\{"level":50,.*"msg":"boom in … for … with … at … in …, …".*at run \(src\/jobs\/job\.ts:12:3\)/m,
  );
  expect(stdout).not.toContain('all is well');
  expect(stdout).toMatch(/^ {2}refused +startExport +POST \/v1\/static-export\/jobs {2}\(403\)$/m);

  // Where the settings and their file are wrong, too.
  appendFileSync(file('docket.yml'), `  ${project}: { projectId: "${projectId} ${domain}.acme.com" }\n`);
  const broken = await doctor({ ...env, DOCS_API_URL: `http://${domain}.acme.com` }, { args: ['--report'] });
  for (const [name, canary] of Object.entries(CANARIES))
    expect(broken.stdout.toLowerCase(), name).not.toContain(canary.toLowerCase());
  expect(broken.stdout).toMatch(/^wrong Settings: DOCS_API_URL must be an https address/m);
  expect(broken.stdout).toContain('Not asked: the settings are wrong.');
});

test('--report works where nothing is set, and nothing runs', async () => {
  const { code, stdout } = await doctor({ PORT: '9' }, { args: ['--report'] });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Docket .*, no Redis answers$/m);
  expect(stdout).toContain('None answers on this machine.');
  expect(stdout).toContain('Not read: add --log and a file');
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

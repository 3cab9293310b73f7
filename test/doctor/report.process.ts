import { appendFileSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { readManifest } from '../../demo/slack/manifest.ts';
import { httpServer } from '../support/docs-api/servers.ts';
import { answered, doctorForTests } from '../support/doctor.ts';

const { slack, platform, file, rightEnv, doctor } = doctorForTests();

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
  expect(stdout).not.toContain(file(''));
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

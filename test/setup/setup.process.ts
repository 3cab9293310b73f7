import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { endsWithTests } from '../support/processes.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const slack = createStandInSlack({ rateLimits: false });
const platform = createStandInPlatform();
let servers: { url: string; close(): Promise<void> }[];
let root: string;

beforeAll(async () => {
  servers = [await slack.listen(), await platform.listen()];
  root = mkdtempSync(join(tmpdir(), 'docket-setup-'));
  for (const name of ['src', 'package.json', 'manifest.yml', '.env.example'])
    cpSync(join(repository, name), join(root, name), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
});
afterAll(async () => {
  slack.stop();
  await Promise.all(servers.map(({ close }) => close()));
  rmSync(root, { recursive: true });
});

const file = () => join(root, '.env');
const addressOf = (index: number) => servers[index]?.url ?? '';
const env = () => ({
  PATH: process.env.PATH,
  SLACK_API_URL: `${addressOf(0)}/api/`,
  DATA_DIR: join(root, 'data'),
  NO_COLOR: '1',
});
let child: ChildProcess;
let closed: Promise<unknown[]>;
let output: string;
let read: number;
beforeEach(() => {
  rmSync(file(), { force: true });
});
afterEach(() => child?.kill('SIGKILL'));

/** Runs the set-up in a terminal of its own, that of `script` from util-linux. */
function inTerminal(...args: string[]) {
  output = '';
  read = 0;
  child = endsWithTests(
    spawn('script', ['-qec', [process.execPath, 'src/setup/main.ts', ...args].join(' '), '/dev/null'], {
      cwd: root,
      env: env(),
    }),
  );
  closed = once(child, 'close');
  child.stdout?.on('data', (part) => {
    output += part;
  });
}

/** Waits until the terminal shows this behind what was waited for last. */
async function shows(part: string) {
  await vi
    .waitUntil(() => output.includes(part, read), { timeout: 20_000 })
    .catch(() => {
      throw new Error(`"${part}" is not shown behind "${output.slice(read)}"`);
    });
  read = output.indexOf(part, read) + part.length;
}

async function answers(question: string, typed: string) {
  await shows(question);
  await shows(': ');
  child.stdin?.write(`${typed}\r`);
}

const settings = () =>
  Object.fromEntries(
    readFileSync(file(), 'utf8')
      .split('\n')
      .filter((line) => /^[A-Z_]+=./.test(line))
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );

const hasScript = spawnSync('script', ['--version']).status === 0;
if (!hasScript)
  console.warn('Tests of the set-up in a terminal are left out: there is no `script` (util-linux) here.');

describe.skipIf(!hasScript)('npm run setup in a terminal', () => {
  test('asks for what is missing, checks it, writes .env and ends with the doctor', async () => {
    inTerminal();
    await shows('https://api.slack.com/apps?new_app=1&manifest_json=%7B');
    await answers('Bot token', slack.tokens.app);
    await shows('begins with xoxb-');
    await answers('Bot token', slack.tokens.bot);
    await shows('Slack accepts it in the workspace');
    await answers('App-level token', slack.tokens.app);
    await shows('Slack accepts it: requests come over Socket Mode');
    await answers('Address of the docs platform', addressOf(1));
    await answers('Admin API key', 'adm_wrong');
    await shows('the docs platform rejects');
    await answers('press Enter to keep it', platform.apiKey);
    await answers("The project's id", platform.projectId);
    await shows('npm run doctor:');
    await shows('Start Docket: npm start');
    expect(await closed).toEqual([0, null]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(settings()).toEqual({
      SLACK_BOT_TOKEN: slack.tokens.bot,
      SLACK_APP_TOKEN: slack.tokens.app,
      DOCS_API_URL: addressOf(1),
      DOCS_API_KEY: platform.apiKey,
      DOCS_PROJECT_ID: platform.projectId,
    });
    for (const secret of [slack.tokens.bot, slack.tokens.app, platform.apiKey, 'adm_wrong'])
      expect(output).not.toContain(secret);
  });

  test('of a workspace asks for the variables that the settings file names for it', async () => {
    const config = join(root, 'docket.yml');
    writeFileSync(
      config,
      'workspaces: { globex: { botToken: { env: GLOBEX_BOT }, appToken: { env: GLOBEX_APP } } }\n',
    );
    const ofPlatform = `DOCS_API_URL=${addressOf(1)}\nDOCS_API_KEY=${platform.apiKey}\n`;
    const known = `${ofPlatform}DOCS_PROJECT_ID=${platform.projectId}\nDOCKET_CONFIG=${config}\n`;
    writeFileSync(file(), known, { mode: 0o600 });
    inTerminal();
    await shows('one of the workspaces in the file of DOCKET_CONFIG: globex');
    expect(await closed).toEqual([1, null]);
    inTerminal('--workspace', 'globex');
    await shows('https://api.slack.com/apps?new_app=1&manifest_json=%7B');
    await answers('Bot token', slack.tokens.app);
    await shows('does not begin with xoxb-');
    await answers('Bot token', slack.tokens.bot);
    await shows('GLOBEX_BOT: Slack accepts it in the workspace');
    await answers('App-level token', slack.tokens.app);
    await shows('Start Docket: npm start');
    expect(settings()).toMatchObject({ GLOBEX_BOT: slack.tokens.bot, GLOBEX_APP: slack.tokens.app });
    for (const secret of [slack.tokens.bot, slack.tokens.app]) expect(output).not.toContain(secret);
  });

  test('of a workspace follows the file: a signing secret needs an address, an app-level token none', async () => {
    const config = join(root, 'docket.yml');
    const workspaces = `
  acme: { botToken: { env: ACME_BOT }, signingSecret: { env: ACME_SECRET } }
  globex: { botToken: { env: GLOBEX_BOT }, appToken: { env: GLOBEX_APP } }`;
    const projects = '{ docs: { projectId: prj_1, workspaces: [acme, globex] } }';
    writeFileSync(config, `workspaces: ${workspaces}\nprojects: ${projects}\n`);
    writeFileSync(file(), `DOCS_API_KEY=${platform.apiKey}\nDOCKET_CONFIG=${config}\n`, { mode: 0o600 });
    inTerminal('--workspace', 'acme');
    await shows('npm run setup -- --workspace acme https://docket.example.com');
    expect(await closed).toEqual([1, null]);
    expect(output).not.toContain('manifest_json');
    inTerminal('--workspace', 'acme', 'https://docket.acme.com');
    await shows('docket.acme.com%2Fslack%2Facme%2Fevents');
    await shows('Copy the token and the signing secret here');
    await answers('Bot token', slack.tokens.bot);
    await shows('Signing secret');
    child.kill('SIGKILL');
    inTerminal('--workspace', 'globex', 'https://docket.acme.com');
    await shows('manifest_json');
    await shows('Copy the two tokens here');
    expect(output).not.toMatch(/docket\.acme\.com%2Fslack/);
    await shows('Bot token');
  });

  test('after Ctrl-C it asks only for the rest, and keeps what else is in .env', async () => {
    writeFileSync(
      join(root, 'linked.env'),
      '# mine\nUNKNOWN=stays\nSLACK_BOT_TOKEN=xapp-mixed-up\n#SLACK_APP_TOKEN=\n',
    );
    symlinkSync('linked.env', file());
    inTerminal();
    await answers('Bot token', slack.tokens.bot);
    await shows('App-level token');
    await shows(': ');
    child.stdin?.write('\u0003');
    await shows('Stopped. Your answers so far are saved');
    expect(await closed).toEqual([130, null]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    inTerminal();
    await answers('App-level token', slack.tokens.app);
    await shows('Address of the docs platform');
    expect(output).not.toMatch(/Bot token \(|manifest_json/);
    expect(readFileSync(join(root, 'linked.env'), 'utf8')).toBe(
      `# mine\nUNKNOWN=stays\nSLACK_BOT_TOKEN=${slack.tokens.bot}\n#SLACK_APP_TOKEN=\nSLACK_APP_TOKEN=${slack.tokens.app}\n`,
    );
  });
});

test('without a terminal it prints what to do, writes nothing and ends with 1', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['src/setup/main.ts', ...args], { cwd: root, env: env(), encoding: 'utf8' });
  const { status, stdout } = run();
  expect(status).toBe(1);
  expect(stdout).toContain('https://api.slack.com/apps?new_app=1&manifest_json=%7B');
  expect(existsSync(file())).toBe(false);
  expect(run('docket.acme.com').stderr).toMatch(/^Usage: npm run setup/);
});

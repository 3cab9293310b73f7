import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
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
import { endsWithTests } from '../support/flows/children.ts';

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
function inTerminal() {
  output = '';
  read = 0;
  child = endsWithTests(
    spawn('script', ['-qec', `${process.execPath} src/setup/main.ts`, '/dev/null'], {
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
    await answers('Public https address', '');
    await shows('https://api.slack.com/apps?new_app=1&manifest_json=%7B');
    await answers('Bot token', slack.tokens.app);
    await shows('✖ ');
    await shows('xoxb-');
    await answers('Bot token', slack.tokens.bot);
    await shows('✔ Slack accepts SLACK_BOT_TOKEN, in the workspace');
    await shows('✔ The app has all');
    await answers('App-level token', slack.tokens.app);
    await shows('✔ Slack accepts SLACK_APP_TOKEN');
    await answers('Address of the docs platform', addressOf(1));
    await shows('✔ The docs platform answers');
    await answers('Admin API key', 'adm_wrong');
    await shows('✖ The platform rejects DOCS_API_KEY');
    await answers('press Enter to keep it', platform.apiKey);
    await shows('✔ The platform accepts each key.');
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

  test('with a public address Slack is told it, and the signing secret cannot be proved', async () => {
    inTerminal();
    await answers('Public https address', 'localhost');
    await shows('✖ Slack cannot reach localhost');
    await answers('Public https address', 'docket.acme.com/');
    await shows(encodeURIComponent('https://docket.acme.com/slack/events'));
    await answers('Bot token', slack.tokens.bot);
    await answers('Signing secret', slack.tokens.signingSecret);
    await shows('No call can verify it');
    await shows('Address of the docs platform');
    expect(settings()).toEqual({
      SLACK_BOT_TOKEN: slack.tokens.bot,
      SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
    });
  });

  test.each([
    ['SLACK_SIGNING_SECRET', slack.tokens.signingSecret],
    ['SLACK_APP_TOKEN', slack.tokens.app],
  ])(
    'with nothing but %s the token of its app is asked for, and no second app is made',
    async (name, value) => {
      writeFileSync(file(), `${name}=${value}\n`);
      inTerminal();
      await shows(`${name} is set, so the app exists`);
      await answers('Bot token', slack.tokens.bot);
      await shows('Address of the docs platform');
      expect(output).not.toMatch(/manifest_json|Public https|App-level token|Signing secret/);
      expect(settings()).toEqual({ [name]: value, SLACK_BOT_TOKEN: slack.tokens.bot });
    },
  );

  test('that was interrupted asks only for the rest, and keeps what else is in .env', async () => {
    writeFileSync(file(), '# mine\nUNKNOWN=stays\nSLACK_BOT_TOKEN=\n', { mode: 0o644 });
    inTerminal();
    await answers('Public https address', '');
    await answers('Bot token', slack.tokens.bot);
    await shows('App-level token');
    await shows(': ');
    child.stdin?.write('\u0003');
    await shows('Stopped. Your answers so far are saved');
    expect(await closed).toEqual([130, null]);
    expect(readFileSync(file(), 'utf8')).toBe(`# mine\nUNKNOWN=stays\nSLACK_BOT_TOKEN=${slack.tokens.bot}\n`);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    inTerminal();
    // Which way Slack comes is known once there is a secret for it.
    await answers('Public https address', '');
    await answers('App-level token', slack.tokens.app);
    expect(output).not.toContain('Bot token (');
    expect(output).not.toContain('manifest_json');
    await shows('Address of the docs platform');
    expect(readFileSync(file(), 'utf8')).toContain('# mine\nUNKNOWN=stays\n');
  });
});

describe('npm run setup without a terminal', () => {
  const run = (more: NodeJS.ProcessEnv = {}) =>
    spawnSync(process.execPath, ['src/setup/main.ts'], {
      cwd: root,
      env: { ...env(), ...more },
      encoding: 'utf8',
    });

  test('says what to do, asks nothing, writes nothing and ends with 1', () => {
    const { status, stdout } = run({ SLACK_BOT_TOKEN: slack.tokens.bot });
    expect(status).toBe(1);
    expect(stdout).toMatch(/^ {2}SLACK_APP_TOKEN: .*\n {2}DOCS_API_URL: .*\n {2}DOCS_API_KEY: .*$/m);
    expect(stdout).not.toContain(slack.tokens.bot);
    expect(existsSync(file())).toBe(false);
    expect(run().stdout).toContain('https://api.slack.com/apps?new_app=1&manifest_json=%7B');
    const decided = run({ SLACK_SIGNING_SECRET: slack.tokens.signingSecret }).stdout;
    expect(decided).toContain('SLACK_SIGNING_SECRET is set, so the app exists');
    expect(decided).not.toContain('manifest_json');
  });

  test('ends with 0 where nothing is missing', () => {
    writeFileSync(
      file(),
      `SLACK_BOT_TOKEN=${slack.tokens.bot}\nSLACK_APP_TOKEN=${slack.tokens.app}\nDOCS_API_URL=${addressOf(1)}\nDOCS_API_KEY=k\n`,
    );
    expect(run()).toMatchObject({ status: 0, stdout: 'No setting is missing. Run: npm run doctor\n' });
  });

  test('a .env that cannot be read is left alone', () => {
    writeFileSync(file(), '\ufeffLOG_LEVEL=info\n');
    expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('byte order mark') });
    chmodSync(file(), 0o600);
  });
});

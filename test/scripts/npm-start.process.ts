import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../demo/ports.ts';
import { temporaryFolder } from '../support/flows/world.ts';
import { endsWithTests } from '../support/processes.ts';
import { startTestRedis } from '../support/redis.ts';

const root = new URL('../../', import.meta.url).pathname;

/** The npm of this machine, and the older one that comes with Node 20 and 22; undefined if it cannot be had here. */
const npms: Record<string, () => string | undefined> = {
  'the npm of this machine': () => 'npm',
  'npm 10': () => {
    const folder = join(root, 'node_modules', '.cache', 'docket', 'npm-10');
    const program = join(folder, 'node_modules', '.bin', 'npm');
    const args = [
      'install',
      '--prefix',
      folder,
      '--no-save',
      '--ignore-scripts',
      '--prefer-offline',
      'npm@10',
    ];
    if (!existsSync(program)) spawnSync('npm', args, { stdio: 'ignore' });
    return existsSync(program) ? program : undefined;
  },
};

/** Docket as people start it, with Slack and the platform away. */
async function startWith(command: string, args: string[], stdin: 'ignore' | 'pipe') {
  const redis = await startTestRedis();
  const { path, remove } = temporaryFolder();
  const port = await freePort();
  const docket: ChildProcess = spawn(command, args, {
    cwd: root,
    env: {
      // As in a terminal of a person: without what the npm that runs the tests gives to its children.
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: path,
      TERM: 'dumb',
      SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
      SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
      SLACK_API_URL: 'http://127.0.0.1:9/api/',
      DOCS_API_URL: 'http://127.0.0.1:9/',
      DOCS_API_KEY: 'adm_0123456789',
      REDIS_URL: redis.url,
      PORT: String(port),
    },
    stdio: [stdin, 'pipe', 'pipe'],
    // A group of its own, so that nothing of it stays when the test fails.
    detached: true,
  });
  endsWithTests(docket);
  onTestFinished(async () => {
    try {
      process.kill(-(docket.pid ?? 0), 'SIGKILL');
    } catch {
      // All have ended.
    }
    await redis.close();
    remove();
  });
  const [stdout, stderr] = [docket.stdout, docket.stderr].map((stream) => stream && text(stream));
  const ended = once(docket, 'exit');
  const ready = () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status, String);
  await expect.poll(ready).toBe(200);
  return { docket, ended, port, output: async () => `${await stdout}${await stderr}` };
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });

test.each(Object.entries(npms))(
  'a SIGTERM to %s ends Docket in order, and the port is free',
  async (name, find) => {
    const npm = find();
    if (npm === undefined)
      return console.warn(`npm start is not tested with ${name}: it cannot be fetched here.`);
    const { docket, ended, port, output } = await startWith(npm, ['start'], 'ignore');
    docket.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(await isFree(port)).toBe(true);
    expect(await output()).toContain('"signal":"SIGTERM","msg":"stopping"');
  },
);

const hasScript = spawnSync('script', ['--version']).status === 0;

// The terminal sends Ctrl-C to both, and npm sends it once more.
test.skipIf(!hasScript)('one Ctrl-C in a terminal ends Docket in order', async () => {
  const { docket, ended, port, output } = await startWith(
    'script',
    ['-qec', 'exec npm start', '/dev/null'],
    'pipe',
  );
  docket.stdin?.write('\x03');
  expect(await ended).toEqual([0, null]);
  expect(await isFree(port)).toBe(true);
  expect(await output()).toContain('"signal":"SIGINT","msg":"stopping"');
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { standIns } from '../support/deploy/stand-ins.ts';
import { endsWithTests } from '../support/processes.ts';

const root = new URL('../../', import.meta.url).pathname;

/** What a server needs of a checkout. */
const FILES = ['package.json', 'package-lock.json', '.npmrc', 'manifest.yml', 'scripts', 'src'];

/** What npm says where it has no way to the registry, and not in its cache what it needs. */
const UNREACHABLE = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/;

test('a production install starts with the Node of the development install, and exports', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'docket-production-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const file of FILES) cpSync(join(root, file), join(folder, file), { recursive: true });
  const { status, stderr } = spawnSync('npm', ['ci', '--omit=dev', '--prefer-offline'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0 && UNREACHABLE.test(stderr)) {
    console.warn(
      'The production install is not tested: npm reaches no registry, and its cache lacks packages.',
    );
    context.skip();
  }
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(existsSync(join(folder, 'node_modules', 'vitest'))).toBe(false);

  const { env, asks, ends } = await standIns();
  const docket = endsWithTests(
    spawn(process.execPath, ['scripts/start.mjs'], {
      cwd: folder,
      env: { ...env, PATH: process.env.PATH, DATA_DIR: join(folder, 'data') },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const output = Promise.all([text(docket.stdout), text(docket.stderr)]);
  const ready = () => fetch(`http://127.0.0.1:${env.PORT}/readyz`).then(({ status }) => status, String);
  await expect.poll(ready).toBe(200);
  await asks();
  await ends();
  docket.kill('SIGTERM');
  expect((await once(docket, 'exit'))[0]).toBe(0);
  expect((await output)[1]).toBe('');
});

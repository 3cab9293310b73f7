import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { standIns } from '../support/deploy/stand-ins.ts';
import { temporaryFolder } from '../support/flows/world.ts';
import { endsWithTests } from '../support/processes.ts';

const repository = new URL('../../', import.meta.url).pathname;
const FILES = ['package.json', 'package-lock.json', '.npmrc', 'manifest.yml', 'scripts', 'src'];
const SERVERS = ['redis-server', 'valkey-server'];
const folders = (process.env.PATH ?? '').split(':').filter((folder) => existsSync(folder));
const find = (...names: string[]) =>
  folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync) ?? '';

/** A clone without packages, on a machine that has Node and npm and no Redis; `apt-get` there fetches the one of this machine. */
function freshMachine() {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const [clone, bin, cache] = ['clone', 'bin', 'cache'].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ];
  for (const file of FILES) cpSync(join(repository, file), join(clone, file), { recursive: true });
  mkdirSync(bin);
  const program = (name: string, script: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const installed = join(repository, 'node_modules');
  program(
    'npm',
    `[ "$1" = ci ] || exec "${find('npm')}" "$@"
    rm -rf node_modules && mkdir node_modules && ln -s "${installed}"/* "${installed}/.bin" node_modules/`,
  );
  const debian = join(path, 'debian');
  mkdirSync(join(debian, 'usr/bin'), { recursive: true });
  writeFileSync(join(debian, 'usr/bin/redis-check-rdb'), `#!/bin/sh\nexec "${find(...SERVERS)}" "$@"\n`, {
    mode: 0o755,
  });
  program(
    'apt-get',
    `case "$*" in *redis-tools*) tar -cf redis-tools_7_all.deb -C "${debian}" usr;; *--version*) ;; *) exit 1;; esac`,
  );
  program('dpkg-deb', `[ "$1" != -x ] || tar -xf "$2" -C "$3"`);
  const without = folders.map((folder, index) => {
    if (!SERVERS.some((name) => existsSync(join(folder, name)))) return folder;
    const mirror = join(path, `path-${index}`);
    mkdirSync(mirror);
    for (const name of readdirSync(folder))
      if (!SERVERS.includes(name)) symlinkSync(join(folder, name), join(mirror, name));
    return mirror;
  });
  const PATH = [bin, dirname(process.execPath), ...without].join(':');
  return { clone, cache, env: { PATH, XDG_CACHE_HOME: cache, HOME: path, TMPDIR: path } };
}

/** What step `number` of the README's set-up has people type. */
function readmeStep(number: number): string {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8');
  return new RegExp(`^${number}\\. \`([^\`]+)\``, 'm').exec(readme)?.[1] ?? '';
}

test("on a machine without Redis, the README's steps lead from an empty clone to a ready Docket", async () => {
  const { clone, cache, env } = freshMachine();
  const stood = await standIns();
  const run = (command: string): ChildProcess & { said: () => string } => {
    const child = endsWithTests(
      spawn('sh', ['-c', command], {
        cwd: clone,
        env: { ...env, ...stood.env, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      }),
    );
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    return Object.assign(child, { said: () => said });
  };

  const doctor = run(readmeStep(2));
  const [code] = await once(doctor, 'close');
  expect([code, doctor.said()]).toEqual([
    0,
    expect.stringMatching(/^✔ ok +Redis: REDIS_URL is not set: Docket starts its own/m),
  ]);

  const docket = run(readmeStep(3));
  const ended = once(docket, 'close');
  const ready = () =>
    docket.exitCode === null
      ? fetch(`http://127.0.0.1:${stood.env.PORT}/readyz`).then(
          ({ status }) => status,
          () => undefined,
        )
      : docket.said();
  await expect.poll(ready).toBe(200);
  process.kill(-(docket.pid ?? 0), 'SIGTERM');
  await ended;
  expect(readdirSync(cache)).toEqual(['docket']);
});

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { capture } from './shell.mjs';
import { serverIsUsable } from './versions.mjs';

/** Debian and Ubuntu keep the server in the tools package: redis-server is a link to redis-check-rdb. */
const FAMILIES = ['redis', 'valkey'];
/** Libraries may need libraries. */
const LIBRARY_ROUNDS = 4;
/** `APT::Sandbox::User` spares root a warning about folders that the user _apt cannot enter. */
const APT = [
  '-q',
  '-o',
  'APT::Sandbox::User=root',
  '-o',
  'Acquire::Retries=1',
  '-o',
  'Acquire::http::Timeout=20',
];

/**
 * Unpacks the distribution's own server, with the libraries that this machine lacks, into `target`, whose
 * `bin/redis-server` then runs it. Returns what went wrong, or undefined. Needs no rights; installs nothing.
 */
export async function downloadRedis(target) {
  if (!(await succeeds('apt-get', '--version')) || !(await succeeds('dpkg-deb', '--version'))) {
    return 'Docket can fetch one by itself only on Debian and Ubuntu.';
  }
  mkdirSync(dirname(target), { recursive: true });
  const work = mkdtempSync(`${target}-`);
  try {
    const debs = new Debs(work);
    const family = await firstAvailable(debs);
    if (!family) return `apt-get could not fetch one:\n${[...debs.problems].join('\n')}`;
    const server = linkServer(debs.root, family);
    if (!server) return `The package ${family}-tools holds no server.`;
    if (!(await addLibraries(debs, server)))
      return `Libraries of the fetched one are missing:\n${[...debs.problems].join('\n')}`;
    writeWrapper(work, server, debs.root);

    const { output } = await capture(join(work, 'bin', 'redis-server'), ['--version']);
    if (!serverIsUsable(output))
      return `The one that this distribution offers cannot be used: ${output.trim()}`;
    rmSync(debs.folder, { recursive: true });
    // Made for us alone; another user may run what was set up.
    chmodSync(work, 0o755);
    rmSync(target, { recursive: true, force: true });
    renameSync(work, target);
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Packages fetched with apt-get and unpacked into one root. */
class Debs {
  /** What went wrong so far, each thing once; of use only when nothing worked in the end. */
  problems = new Set();
  /** Options for package lists of our own; used when the machine's lists are missing or stale. */
  #lists = [];
  #unpacked = new Set();

  constructor(work) {
    this.folder = join(work, 'debs');
    this.root = join(work, 'root');
    mkdirSync(this.folder);
    mkdirSync(this.root);
  }

  /** Fetches and unpacks; returns whether all could be. */
  async add(names) {
    const { ok, output } = await capture('apt-get', [...APT, ...this.#lists, 'download', ...names], {
      cwd: this.folder,
    });
    if (!ok) return this.#failed(output);
    for (const file of readdirSync(this.folder).filter(
      (name) => name.endsWith('.deb') && !this.#unpacked.has(name),
    )) {
      const unpacked = await capture('dpkg-deb', ['-x', join(this.folder, file), this.root]);
      if (!unpacked.ok) return this.#failed(unpacked.output);
      this.#unpacked.add(file);
    }
    return true;
  }

  /** Reads the package lists anew into a folder of ours, which neither needs nor changes anything of the system. */
  async update() {
    const lists = join(this.folder, 'lists');
    const cache = join(this.folder, 'cache');
    mkdirSync(join(lists, 'partial'), { recursive: true });
    mkdirSync(join(cache, 'archives', 'partial'), { recursive: true });
    this.#lists = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${cache}`];
    const strict = ['-o', 'APT::Update::Error-Mode=any'];
    const { ok, output } = await capture('apt-get', [...APT, ...strict, ...this.#lists, 'update']);
    if (!ok) this.#failed(output);
  }

  #failed(output) {
    for (const line of output.split('\n'))
      if (/^(E|Err|dpkg-deb):/.test(line)) this.problems.add(line.trim());
    return false;
  }

  /** Library packages that the unpacked ones depend on and that this machine has not installed. */
  async missingLibraries() {
    const missing = new Set();
    for (const file of this.#unpacked) {
      const { output } = await capture('dpkg-deb', ['-f', join(this.folder, file), 'Depends']);
      for (const dependency of output.split(',')) {
        const name = /^\s*(lib[a-z0-9.+-]*)/.exec(dependency)?.[1];
        if (
          name &&
          ![...this.#unpacked].some((deb) => deb.startsWith(`${name}_`)) &&
          !(await isInstalled(name))
        )
          missing.add(name);
      }
    }
    return [...missing];
  }
}

async function firstAvailable(debs) {
  for (const prepare of [undefined, () => debs.update()]) {
    await prepare?.();
    for (const family of FAMILIES) {
      if (await debs.add([`${family}-tools`])) return family;
    }
  }
  return undefined;
}

/** The server looks at the name it is called by, so a link makes one of the checking tool. */
function linkServer(root, family) {
  const server = join(root, 'usr', 'bin', 'redis-server');
  const real = [`${family}-server`, `${family}-check-rdb`].find((name) => {
    const file = join(root, 'usr', 'bin', name);
    return existsSync(file) && lstatSync(file).isFile();
  });
  if (!real) return undefined;
  if (real !== 'redis-server') symlinkSync(real, server);
  return server;
}

async function addLibraries(debs, server) {
  for (let round = 0; round < LIBRARY_ROUNDS; round++) {
    const env = { ...process.env, LC_ALL: 'C', LD_LIBRARY_PATH: libraryFolders(debs.root).join(':') };
    const { output } = await capture('ldd', [server], { env });
    if (!output.includes('not found')) return true;
    const names = await debs.missingLibraries();
    if (names.length === 0 || !(await debs.add(names))) {
      for (const line of output.split('\n')) if (line.includes('not found')) debs.problems.add(line.trim());
      return false;
    }
  }
  return false;
}

function libraryFolders(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  const here = entries.some((entry) => /\.so(\.|$)/.test(entry.name)) ? [folder] : [];
  return [
    ...here,
    ...entries
      .filter((entry) => entry.isDirectory())
      .flatMap((entry) => libraryFolders(join(folder, entry.name))),
  ];
}

/** Paths are relative to the wrapper, so that the checkout can be moved. */
function writeWrapper(work, server, root) {
  const bin = join(work, 'bin');
  const fromBin = (path) => `$here/${relative(bin, path)}`;
  mkdirSync(bin);
  const lines = [
    '#!/bin/sh',
    "# Written by Docket's setup. It replaces itself, so that a signal to this process reaches the server.",
    `here=\${0%/*}`,
    `export LD_LIBRARY_PATH="${libraryFolders(root).map(fromBin).join(':')}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`,
    `exec "${fromBin(server)}" "$@"`,
    '',
  ];
  writeFileSync(join(bin, 'redis-server'), lines.join('\n'));
  chmodSync(join(bin, 'redis-server'), 0o755);
}

async function isInstalled(name) {
  const { output } = await capture('dpkg-query', ['-W', '-f', `\${db:Status-Status}\n`, name]);
  return output.split('\n').includes('installed');
}

async function succeeds(command, ...args) {
  return (await capture(command, args)).ok;
}

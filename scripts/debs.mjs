import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { capture } from './shell.mjs';

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

/** Returns whether packages of the distribution can be fetched: on Debian and Ubuntu. */
export async function canFetch() {
  return (await succeeds('apt-get', '--version')) && (await succeeds('dpkg-deb', '--version'));
}

/** Packages fetched with apt-get and unpacked into one root. */
export class Debs {
  /** Every error so far, for the message when nothing works in the end. */
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

  /** Fetches and unpacks packages. Returns whether all could be. */
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

  /** Reads the current package lists into a folder of ours; the system is not changed. */
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

  /** Returns library packages that the unpacked ones depend on and that are not installed. */
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

async function isInstalled(name) {
  const { output } = await capture('dpkg-query', ['-W', '-f', `\${db:Status-Status}\n`, name]);
  return output.split('\n').includes('installed');
}

async function succeeds(command, ...args) {
  return (await capture(command, args)).ok;
}

/** Unpacks packages into `target`, once `prepare` says that they can be used. */
export async function fetchPackages(target, packages, prepare = async () => true) {
  if (existsSync(target)) return;
  mkdirSync(join(target, '..'), { recursive: true });
  const work = mkdtempSync(`${target}-`);
  try {
    const debs = new Debs(work);
    if (!(await debs.add(packages))) await debs.update();
    const isUsable = (await debs.add(packages)) && (await prepare(work, debs));
    for (const problem of debs.problems) if (!isUsable) process.stderr.write(`${problem}\n`);
    if (!isUsable) return;
    rmSync(debs.folder, { recursive: true });
    renameSync(work, target);
  } catch (error) {
    // Somebody else fetched them in the same moment.
    if (!existsSync(target)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** How often libraries are fetched: they may need libraries themselves. */
const LIBRARY_ROUNDS = 8;

/** Fetches the libraries that an unpacked program lacks. Returns whether it has all of them then. */
export async function addLibraries(debs, program) {
  for (let round = 0; round < LIBRARY_ROUNDS; round++) {
    const env = { ...process.env, LC_ALL: 'C', LD_LIBRARY_PATH: libraryFolders(debs.root).join(':') };
    const { output } = await capture('ldd', [program], { env });
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

/** Writes a script that runs the program. Its paths are relative, so that the checkout can be moved. */
export function writeWrapper(work, program, root, name) {
  const bin = join(work, 'bin');
  const fromBin = (path) => `$here/${relative(bin, path)}`;
  const lines = [
    '#!/bin/sh',
    "# Written by Docket's setup. It replaces itself, so that a signal to this process reaches the program.",
    `here=\${0%/*}`,
    `export LD_LIBRARY_PATH="${libraryFolders(root).map(fromBin).join(':')}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`,
    `exec "${fromBin(program)}" "$@"`,
    '',
  ];
  writeFileSync(join(bin, name), lines.join('\n'));
  chmodSync(join(bin, name), 0o755);
}

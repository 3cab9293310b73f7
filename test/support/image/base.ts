import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Survives `npm ci`, which empties node_modules. */
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'docket', 'image');

const dockerfile = readFileSync(join(import.meta.dirname, '../../../Dockerfile'), 'utf8');

/** The base that the Dockerfile names, without the digest that a release may have pinned: the stand-in has another. */
export const BASE = /^ARG BASE=([^@\s]+)/m.exec(dockerfile)?.[1] ?? '';
const SUITE = /-(\w+)-slim$/.exec(BASE)?.[1] ?? '';

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

const OPENSSL_ARCH = process.arch === 'arm64' ? 'linux-aarch64' : 'linux-x86_64';

/** What Debian's slim images leave out, also of packages that are installed later. */
const SLIM = [
  ...['doc/*', 'man/*', 'info/*', 'locale/*', 'lintian/*'].map((path) => `path-exclude=/usr/share/${path}`),
  'path-include=/usr/share/doc/*/copyright',
];

/**
 * Returns a tar archive that stands for the base that the Dockerfile names: Debian, Node of `version` with its headers
 * and npm, and the user `node`. It is made where it is not in the cache; this takes half a minute. The real base differs
 * a little: it cleans up after apt by itself, and has an entry point of its own, which the image does without.
 */
export function standInBase(version: string): { tar: string; made: boolean } {
  const tar = join(cache, `${SUITE}-node-${version}-${process.arch}.tar`);
  if (existsSync(tar)) return { tar, made: false };
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'docket-base-'));
  try {
    const [node, npm] = [`node-linux-${process.arch}@${version}`, 'npm@latest'].map((name) =>
      pack(name, work),
    );
    const hooks = [
      `tar -xzf ${node} -C "$1/usr/local" --strip-components=1`,
      // Node's own images keep the headers of OpenSSL for one architecture.
      `find "$1/usr/local/include/node/openssl/archs" -mindepth 1 -maxdepth 1 ! -name ${OPENSSL_ARCH} -exec rm -r {} +`,
      `mkdir -p "$1/usr/local/lib/node_modules/npm" && tar -xzf ${npm} -C "$1/usr/local/lib/node_modules/npm" --strip-components=1`,
      ...['npm', 'npx'].map(
        (name) => `ln -s ../lib/node_modules/npm/bin/${name}-cli.js "$1/usr/local/bin/${name}"`,
      ),
      'chroot "$1" groupadd --gid 1000 node',
      'chroot "$1" useradd --uid 1000 --gid node --shell /bin/bash --create-home node',
      ...trustOfThisMachine(work),
    ];
    const unfinished = `${tar}.${process.pid}`;
    run('mmdebstrap', [
      '--quiet',
      '--variant=minbase',
      '--include=libatomic1',
      ...SLIM.map((option) => `--dpkgopt=${option}`),
      ...hooks.map((hook) => `--customize-hook=${hook}`),
      '--format=tar',
      SUITE,
      unfinished,
    ]);
    renameSync(unfinished, tar);
    return { tar, made: true };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A registry or proxy of this machine's own may be signed by an authority that only this machine trusts. */
function trustOfThisMachine(work: string): string[] {
  if (!existsSync(CERTIFICATES)) return [];
  const npmrc = join(work, 'npmrc');
  writeFileSync(npmrc, 'cafile=/usr/local/etc/machine.pem\n');
  return [
    'mkdir -p "$1/usr/local/etc"',
    `cp ${CERTIFICATES} "$1/usr/local/etc/machine.pem"`,
    `cp ${npmrc} "$1/usr/local/etc/npmrc"`,
  ];
}

/** Fetches a package from the npm registry. Returns its file. */
function pack(name: string, folder: string): string {
  const output = run('npm', ['pack', '--silent', '--pack-destination', folder, name]);
  return join(folder, output.trim());
}

function run(command: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 240_000 });
  if (status !== 0) throw new Error(`${command} ${args[0]}: ${stderr}`);
  return stdout;
}

// Run by itself, it fills the cache: a run of all checks does so while the tests run.
if (import.meta.main) standInBase(process.versions.node);

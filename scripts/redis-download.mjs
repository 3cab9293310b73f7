import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { addLibraries, canFetch, Debs, writeWrapper } from './debs.mjs';
import { capture } from './shell.mjs';
import { serverIsUsable } from './versions.mjs';

/** Debian and Ubuntu keep the server in the tools package: redis-server is a link to redis-check-rdb. */
const FAMILIES = ['redis', 'valkey'];

/**
 * Unpacks the distribution's own server, with the libraries that this machine lacks, into `target`, whose
 * `bin/redis-server` then runs it. Returns the problem, or undefined. Installs nothing, so it needs no root.
 */
export async function downloadRedis(target) {
  if (!(await canFetch())) return 'Docket can fetch one by itself only on Debian and Ubuntu.';
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
    mkdirSync(join(work, 'bin'));
    writeWrapper(work, server, debs.root, 'redis-server');
    // Docket names it in the message about damaged data.
    writeWrapper(work, join(dirname(server), `${family}-check-aof`), debs.root, 'redis-check-aof');

    const { output } = await capture(join(work, 'bin', 'redis-server'), ['--version']);
    if (!serverIsUsable(output))
      return `The one that this distribution offers cannot be used: ${output.trim()}`;
    rmSync(debs.folder, { recursive: true });
    // mkdtemp creates it for us alone; other users may run the server too.
    chmodSync(work, 0o755);
    rmSync(target, { recursive: true, force: true });
    renameSync(work, target);
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
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

/** Returns a server program: one binary acts by the name it is called by, so a link to the checking tool is one. */
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

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { downloadRedis } from './redis-download.mjs';
import { announced, SetupError } from './shell.mjs';
import { serverIsUsable } from './versions.mjs';

const cacheFolder = (root) => join(root, 'node_modules', '.cache', 'docket');
const cachedServer = (root) => join(cacheFolder(root), 'redis', 'bin', 'redis-server');

const INSTALL = `Install one, then run the command again:
  Debian, Ubuntu   apt-get install redis-server
  Fedora           dnf install valkey
  Alpine           apk add valkey
  macOS            brew install redis`;

/**
 * Returns a PATH with a usable redis-server or valkey-server: as it is, or with the cached one in front (one that is
 * too old may be on it). Returns undefined when there is none yet.
 */
export function redisPath(root, path) {
  if (serverOn(path)) return path;
  const cached = cachedServer(root);
  return existsSync(cached) && answers(cached) ? `${join(cached, '..')}:${path}` : undefined;
}

/** Fetches a server into the cache folder; nothing is installed. */
export async function installRedis(root) {
  const problem = await announced('Fetching redis-server…', () =>
    downloadRedis(join(cacheFolder(root), 'redis')),
  );
  if (problem)
    throw new SetupError(
      `Redis or Valkey 6.2 or newer is needed, and none is on the PATH. ${problem}\n${INSTALL}`,
    );
}

function serverOn(path) {
  for (const name of ['redis-server', 'valkey-server']) {
    const found = path
      .split(':')
      .map((folder) => join(folder, name))
      .find(isExecutable);
    if (found && answers(found)) return true;
  }
  return false;
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function answers(file) {
  const { status, stdout } = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 5_000 });
  return status === 0 && serverIsUsable(stdout);
}

import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { locked, lockPath } from './lock.mjs';
import { downloadRedis } from './redis-download.mjs';
import { announced, SetupError } from './shell.mjs';
import { serverIsUsable } from './versions.mjs';

/** Returns Docket's folder in the user's cache. `npm ci` does not empty it, and all checkouts share it. */
function cacheFolder() {
  const { XDG_CACHE_HOME = '' } = process.env;
  return join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'docket');
}

const INSTALL = `Install one, then run the command again:
  Debian, Ubuntu   apt-get install redis-server
  Fedora           dnf install valkey
  Alpine           apk add valkey
  macOS            brew install redis`;

/**
 * Returns a PATH with a usable redis-server or valkey-server: as it is, or with the cached one in front (one that is
 * too old may be on it). Returns undefined when there is none yet.
 */
export function redisPath(path) {
  if (serverOn(path)) return path;
  const bin = join(cacheFolder(), 'redis', 'bin');
  return serverOn(bin) ? `${bin}:${path}` : undefined;
}

/** Fetches a server into the cache folder, unless one is there; nothing is installed. Returns the problem, or undefined. */
export async function fetchRedis(path) {
  const folder = cacheFolder();
  const fetchOne = () => downloadRedis(join(folder, 'redis'));
  try {
    mkdirSync(folder, { recursive: true });
    return await announced('Fetching redis-server…', () =>
      locked(lockPath(folder), async () => (redisPath(path) === undefined ? await fetchOne() : undefined)),
    );
  } catch (error) {
    if (error.code === undefined) throw error;
    return `${folder} cannot be written (${error.code}). Set XDG_CACHE_HOME to a folder for what is fetched.`;
  }
}

/** As `fetchRedis`, for commands that cannot do without. Throws `SetupError`. */
export async function installRedis(path) {
  const problem = await fetchRedis(path);
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

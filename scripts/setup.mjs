import { locked, lockPath } from './lock.mjs';
import { installPackages, packagesAreReady, projectPath } from './packages.mjs';
import { installRedis, redisPath } from './redis.mjs';
import { announced, SetupError } from './shell.mjs';

/**
 * Brings packages, Node 26 and (unless `redis` is false) a Redis into the checkout, and returns a PATH with them.
 * Commands that start at the same time wait for the first. When all is there, it costs a few reads.
 */
export async function setUp(root, { path = process.env.PATH ?? '', redis = true } = {}) {
  if (process.platform === 'win32')
    throw new SetupError('Docket runs on Linux and macOS. On Windows use WSL.');
  const ready = () => {
    if (!packagesAreReady(root)) return undefined;
    const found = redis ? redisPath(path) : path;
    return found === undefined ? undefined : projectPath(root, found);
  };
  return ready() ?? (await install(root, redis, path, ready));
}

async function install(root, redis, path, ready) {
  let markBegun = () => {};
  const begun = new Promise((resolve) => {
    markBegun = resolve;
  });
  const done = locked(lockPath(root), async (addHolder) => {
    markBegun();
    const readyPath = ready();
    if (readyPath !== undefined) return readyPath;
    if (!packagesAreReady(root)) await installPackages(root, addHolder);
    if (redis && redisPath(path) === undefined) await installRedis(path);
    return projectPath(root, redis ? (redisPath(path) ?? path) : path);
  });
  await announced('Waiting for another command that is setting up…', () => Promise.race([begun, done]));
  return await done;
}

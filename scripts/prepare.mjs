import { runInOurPlace } from './child.mjs';
import { missingPackages, packagesAreOutdated } from './packages.mjs';
import { fetchRedis, redisPath } from './redis.mjs';
import { setUp } from './setup.mjs';
import { SetupError } from './shell.mjs';
import { setupProblem, startProblem } from './versions.mjs';

/** Images and units set it. There, nothing is fetched. */
const isServer = () => process.env.NODE_ENV === 'production';

/**
 * Brings the packages and Node 26, if they are missing. Returns whether this process can go on; if not, its program
 * runs in its place under the fetched Node. Throws `SetupError`.
 */
export async function preparePackages(root) {
  const nodeProblem = startProblem(process.version);
  const missing = missingPackages(root);
  if (isServer()) {
    if (nodeProblem) throw new SetupError(nodeProblem);
    if (missing.length === 0) return true;
    throw new SetupError(
      `Packages are missing: ${missing.join(', ')}.\nRun "npm ci --omit=dev --ignore-scripts", then start again.`,
    );
  }
  if (!nodeProblem && missing.length === 0 && !packagesAreOutdated(root)) return true;
  const problem = setupProblem(process.version);
  if (problem) throw new SetupError(problem);
  const path = await setUp(root, { redis: false });
  if (!nodeProblem) return true;
  runInOurPlace('node', process.argv.slice(1), { ...process.env, PATH: path });
  return false;
}

/**
 * Returns the PATH with a Redis, if Docket is to start its own; fetches it if there is none. Where it cannot be fetched,
 * the program says what to do.
 */
export async function pathWithRedis({ PATH: path = '', REDIS_URL: configured }) {
  if (configured) return path;
  const found = redisPath(path);
  if (found !== undefined || isServer()) return found ?? path;
  const problem = await fetchRedis(path);
  if (problem) process.stderr.write(`No Redis could be fetched. ${problem}\n`);
  return redisPath(path) ?? path;
}

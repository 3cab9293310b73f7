/** The oldest Node that can run the setup, which installs the Node for everything else. */
const SETUP_NODE = 20;
/** Docket's own Node: it runs TypeScript as it is. */
export const APP_NODE = 26;
/** BullMQ and ioredis support nothing older. */
const OLDEST_SERVER = [6, 2];

/** Returns the major number of `v26.10.0` or `26.10.0`; 0 when it is no version. */
export function major(version) {
  return Number(/^v?(\d+)\./.exec(version)?.[1] ?? 0);
}

/** Returns the problem, with its fix, when the setup cannot run under this Node; else undefined. */
export function setupProblem(version) {
  if (major(version) >= SETUP_NODE) return undefined;
  return (
    `Node ${SETUP_NODE} or newer is needed to set Docket up, and this is ${version}.\n` +
    `Install Node ${APP_NODE} from https://nodejs.org or with your version manager (nvm install ${APP_NODE}), then run the command again.`
  );
}

/** Returns the problem, with its fix, when Docket cannot start under this Node; else undefined. */
export function startProblem(version) {
  if (major(version) >= APP_NODE) return undefined;
  return (
    `Docket needs Node ${APP_NODE} or newer; this is ${version}.\n` +
    `Install it from https://nodejs.org or with your version manager (nvm install ${APP_NODE}). ` +
    `Without NODE_ENV=production, "npm start" brings it along.`
  );
}

/** Returns whether Docket can use the server with this output of `redis-server --version` (or Valkey's). */
export function serverIsUsable(versionLine) {
  const found = /\bv=(\d+)\.(\d+)/.exec(versionLine);
  if (!found) return false;
  const [wantedMajor, wantedMinor] = OLDEST_SERVER;
  const [foundMajor, foundMinor] = [Number(found[1]), Number(found[2])];
  return foundMajor > wantedMajor || (foundMajor === wantedMajor && foundMinor >= wantedMinor);
}

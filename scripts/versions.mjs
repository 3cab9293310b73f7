/** The oldest Node that can run the setup, which brings the Node that everything else runs on. */
const SETUP_NODE = 20;
/** Docket's own Node: it runs TypeScript as it is. */
export const APP_NODE = 26;
/** BullMQ and ioredis support nothing older. */
const OLDEST_SERVER = [6, 2];

/** The major number of `v26.10.0` or `26.10.0`; 0 when it is no version. */
export function major(version) {
  return Number(/^v?(\d+)\./.exec(version)?.[1] ?? 0);
}

/** What to tell the person when the setup cannot run under this Node; undefined when it can. */
export function setupProblem(version) {
  if (major(version) >= SETUP_NODE) return undefined;
  return (
    `Node ${SETUP_NODE} or newer is needed to set Docket up, and this is ${version}.\n` +
    `Install Node ${APP_NODE} from https://nodejs.org or with your version manager (nvm install ${APP_NODE}), then run the command again.`
  );
}

/** What to tell the person when Docket cannot start under this Node; undefined when it can. */
export function startProblem(version) {
  if (major(version) >= APP_NODE) return undefined;
  return (
    `Docket runs on Node ${APP_NODE} or newer, and this is ${version}.\n` +
    `In a checkout, "npm test" or "npm run demo" brings Node ${APP_NODE} along, and "npm start" then uses it. ` +
    `Elsewhere install Node ${APP_NODE} from https://nodejs.org or with your version manager (nvm install ${APP_NODE}).`
  );
}

/** Whether `redis-server --version` (or Valkey's) told of a version that Docket can use. */
export function serverIsUsable(versionLine) {
  const found = /\bv=(\d+)\.(\d+)/.exec(versionLine);
  if (!found) return false;
  const [wantedMajor, wantedMinor] = OLDEST_SERVER;
  const [foundMajor, foundMinor] = [Number(found[1]), Number(found[2])];
  return foundMajor > wantedMajor || (foundMajor === wantedMajor && foundMinor >= wantedMinor);
}

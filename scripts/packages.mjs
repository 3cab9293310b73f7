import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { announced, capture, SetupError } from './shell.mjs';
import { APP_NODE, major } from './versions.mjs';

const binFolder = (root) => join(root, 'node_modules', '.bin');
const stampFile = (root) => join(root, 'node_modules', '.cache', 'docket', 'packages');

/** Returns a PATH with the project's commands first, and the Node that is running last. */
export function projectPath(root, path) {
  return [binFolder(root), path, dirname(process.execPath)].filter(Boolean).join(':');
}

/** Returns whether an earlier setup installed what the lock file says. Costs one small read and one hash. */
export function packagesAreReady(root) {
  return readOr(stampFile(root)) === stamp(root) && hasNode(root);
}

/** Installs the packages when they are missing or out of date, and Node 26 when it did not come with them. */
export async function installPackages(root, addHolder) {
  if (!isComplete(root)) {
    const mode = existsSync(join(root, 'package-lock.json')) ? 'ci' : 'install';
    // A person's own settings (NODE_ENV=production, engine-strict) must not leave out what the commands need.
    const flags = ['--include=dev', '--engine-strict=false', '--loglevel=warn'];
    const { ok, output } = await announced('Installing packages…', () =>
      npm(root, [mode, ...flags], addHolder),
    );
    if (!ok)
      throw new SetupError(
        `${output.trimEnd()}\n\nThe packages could not be installed (npm ${mode}); npm's answer is above.`,
      );
  }
  await ensureNode(root, addHolder);
  mkdirSync(dirname(stampFile(root)), { recursive: true });
  writeFileSync(stampFile(root), stamp(root));
}

/** Returns whether node_modules, made by us or by hand, holds every package of the lock file for this machine. */
function isComplete(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    // Docket itself and the demo are in the checkout.
    if (entry.link || !path.startsWith('node_modules/')) return true;
    const found = installed[path];
    // Optional packages are mostly builds for other machines.
    if (!found) return entry.optional === true;
    return (
      found.version === entry.version && found.integrity === entry.integrity && existsSync(join(root, path))
    );
  });
}

/** The npm package `node` fetches its binary outside the lock file, so it may be missing after a good install. */
async function ensureNode(root, addHolder) {
  if (await nodeWorks(root)) return;
  const { output } = await announced(`Installing Node ${APP_NODE}…`, () =>
    npm(root, ['rebuild', 'node', '--ignore-scripts=false', '--engine-strict=false'], addHolder),
  );
  if (await nodeWorks(root)) return;
  if (major(process.version) >= APP_NODE) {
    // E.g. Alpine: the binary is made for another libc. Without the link the person's own Node is found.
    rmSync(join(binFolder(root), 'node'), { force: true });
    return;
  }
  throw new SetupError(
    `${output.trimEnd()}\n\nNode ${APP_NODE}, which comes as the npm package "node", could not be installed; npm's answer is above.\n` +
      `Check that this machine reaches the npm registry and run the command again, ` +
      `or install Node ${APP_NODE} yourself from https://nodejs.org.`,
  );
}

async function nodeWorks(root) {
  const { ok, output } = await capture(join(binFolder(root), 'node'), ['--version']);
  return ok && major(output) >= APP_NODE;
}

function hasNode(root) {
  return existsSync(join(binFolder(root), 'node')) || major(process.version) >= APP_NODE;
}

/** Runs npm under the machine's own Node, since node_modules is being replaced meanwhile. */
async function npm(root, args, addHolder) {
  const path = (process.env.PATH ?? '').split(':').filter((folder) => folder !== binFolder(root));
  const env = { ...process.env, PATH: [...path, dirname(process.execPath)].join(':') };
  const result = await capture('npm', args, { cwd: root, env, onSpawn: addHolder });
  if (result.missing)
    throw new SetupError('npm was not found on the PATH. It comes with Node: https://nodejs.org');
  return result;
}

function stamp(root) {
  const source = readOr(join(root, 'package-lock.json')) ?? readFileSync(join(root, 'package.json'), 'utf8');
  const hash = createHash('sha256').update(source).digest('hex');
  return `${process.platform}-${process.arch} ${hash}\n`;
}

function packagesOf(file) {
  const text = readOr(file);
  return text === undefined ? undefined : JSON.parse(text).packages;
}

function readOr(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Returns whether the lock file changed since a setup installed packages. What was installed by hand is not judged. */
export function packagesAreOutdated(root) {
  const installed = readOr(stampFile(root));
  return installed !== undefined && installed !== stamp(root);
}

/** Returns the packages that Docket runs with and that are not in node_modules. */
export function missingPackages(root) {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.keys(dependencies).filter((name) => !existsSync(join(root, 'node_modules', name)));
}

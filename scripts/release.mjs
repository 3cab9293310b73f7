// npm run release -- major|minor|patch [--dry-run]: checks that everything is ready, and makes and tags the next release.
// Nothing leaves this machine; what to push is printed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const USAGE = 'Usage: npm run release -- major|minor|patch [--dry-run]';

/** Why there is no release; nothing was changed. */
export class ReleaseRefused extends Error {}

/** Returns the version after this one. */
export function nextVersion(version, level) {
  const [major, minor, patch] = version.split('.').map(Number);
  if (level === 'major') return `${major + 1}.0.0`;
  if (level === 'minor') return `${major}.${minor + 1}.0`;
  if (level === 'patch') return `${major}.${minor}.${patch + 1}`;
  throw new ReleaseRefused(USAGE);
}

const UNRELEASED = '## Unreleased\n';

/** Returns what a changelog has under Unreleased. */
function unreleasedOf(changelog) {
  const [, rest] = changelog.split(UNRELEASED);
  return rest?.split(/^## /m)[0]?.trim() ?? '';
}

/** Returns a changelog with what was unreleased under the version. */
export function changelogOf(changelog, version, date) {
  if (!/^- /m.test(unreleasedOf(changelog)))
    throw new ReleaseRefused('CHANGELOG.md has nothing under "## Unreleased": there is nothing to release.');
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n## ${version} - ${date}\n`);
}

/**
 * Makes a release of the checkout in `root`, or says what it would do. `check` runs all tests and returns whether they pass;
 * `writeSchemas` writes what this release stores; `pinBase` has the image build on what its base is today, and returns what
 * is to be said of that. Throws `ReleaseRefused`.
 */
export async function release({ root, level, dryRun, date, say, check, writeSchemas, pinBase }) {
  const read = (name) => readFileSync(join(root, name), 'utf8');
  const write = (name, text) => writeFileSync(join(root, name), text);
  const git = (...args) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  const isTrue = (...args) => spawnSync('git', args, { cwd: root }).status === 0;

  const version = nextVersion(JSON.parse(read('package.json')).version, level);
  const tag = `v${version}`;
  const changelog = changelogOf(read('CHANGELOG.md'), version, date);
  const lockFile = JSON.parse(read('package-lock.json'));
  const released = read('RELEASED').trim();
  if (git('status', '--porcelain') !== '')
    throw new ReleaseRefused('The checkout has changes that are not committed. Commit or stash them first.');
  if (!isTrue('symbolic-ref', '--quiet', 'HEAD'))
    throw new ReleaseRefused('No branch is checked out. Check out the one that is released: git switch main');
  if (isTrue('rev-parse', '--verify', '--quiet', `refs/tags/${tag}`))
    throw new ReleaseRefused(`The tag ${tag} is there already.`);
  if (!isTrue('merge-base', '--is-ancestor', released, 'HEAD'))
    throw new ReleaseRefused(
      `The last release, ${released} (file RELEASED), is not in this history, so that tests with it would be left out. Fetch all of it: git fetch --unshallow`,
    );
  const named = Object.entries(lockFile.packages).filter(([path, { resolved }]) => path !== '' && resolved);
  if (named.length > 0)
    throw new ReleaseRefused(
      `package-lock.json names hosts, for example that of ${named[0][0]}. Run npm install with the .npmrc of this checkout.`,
    );
  say(
    `Release ${version}, of ${git('rev-parse', '--short', 'HEAD')}:\n\n${unreleasedOf(read('CHANGELOG.md'))}\n`,
  );
  if (!(await check())) throw new ReleaseRefused('The checks fail (npm run check). Nothing was changed.');
  if (git('status', '--porcelain') !== '')
    throw new ReleaseRefused('The checks left changes behind in the checkout. Look at git status.');
  if (dryRun) {
    say(
      `All is ready. Without --dry-run, this commits CHANGELOG.md and the version, tags ${tag}, and commits RELEASED.`,
    );
    return version;
  }

  const base = await pinBase();
  if (base) say(base);
  write('CHANGELOG.md', changelog);
  setVersion('package.json', (file) => [file]);
  setVersion('package-lock.json', (file) => [file, file.packages['']]);
  git('commit', '--quiet', '--all', '--message', `Release ${version}`);
  git('tag', '--annotate', tag, '--message', `Docket ${version}`);
  // A commit cannot name itself. From here on, tests compare with this release.
  write('RELEASED', `${git('rev-parse', 'HEAD')}\n`);
  await writeSchemas();
  git('commit', '--quiet', '--all', '--message', `Later versions are compared with ${version}`);
  say(`Released ${tag}. Look at it (git show ${tag}), then: git push --follow-tags`);
  return version;

  function setVersion(name, placesOf) {
    const file = JSON.parse(read(name));
    for (const place of placesOf(file)) place.version = version;
    write(name, `${JSON.stringify(file, undefined, 2)}\n`);
  }
}

async function main() {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const args = process.argv.slice(2);
  // Without the -- in front, npm takes the flag for its own, and leaves it out of ours.
  const dryRun = args.includes('--dry-run') || process.env.npm_config_dry_run === 'true';
  delete process.env.npm_config_dry_run;
  const [level, ...more] = args.filter((arg) => arg !== '--dry-run');
  const runs = (...command) => spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' }).status;
  try {
    if (level === undefined || more.length > 0) throw new ReleaseRefused(USAGE);
    await release({
      root,
      level,
      dryRun,
      date: new Date().toISOString().slice(0, 10),
      say: (text) => process.stdout.write(`${text}\n`),
      check: () => runs('scripts/run.mjs', 'npm', 'run', 'check:all') === 0,
      writeSchemas() {
        if (runs('scripts/run.mjs', 'node', 'scripts/stored-schemas.mjs') !== 0)
          throw new Error(
            'npm run stored-schemas failed. Run it again, and commit what it writes with RELEASED.',
          );
      },
      pinBase() {
        if (!existsSync(join(root, 'scripts', 'image-base.mjs'))) return undefined;
        const status = runs('scripts/run.mjs', 'node', 'scripts/image-base.mjs', '--pin');
        if (status === NO_REGISTRY)
          return 'The base of the image is not pinned: no registry of images answers.';
        if (status !== 0) throw new Error('The base of the image could not be resolved.');
        return undefined;
      },
    });
  } catch (error) {
    if (!(error instanceof ReleaseRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

/** What scripts/image-base.mjs ends with when none answers. */
const NO_REGISTRY = 3;

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/flows/world.ts';

const repository = new URL('../../', import.meta.url).pathname;
const PAGES = ['README.md', 'CHANGELOG.md', 'docs/upgrade.md'];
const FILES = [
  ...['package.json', 'package-lock.json', ...PAGES],
  ...['deploy/kubernetes/kustomization.yaml', 'scripts/release.mjs'],
];

let root = '';
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const read = (file: string) => readFileSync(join(root, file), 'utf8');

function release(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout, problems: stderr.split('\n').filter(Boolean) };
}

/** A copy of what a release reads, with one commit on main. */
beforeEach(() => {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  root = path;
  for (const file of FILES) cpSync(join(repository, file), join(root, file));
  // As after the first release, whether there is one or not.
  for (const file of PAGES)
    writeFileSync(
      join(root, file),
      read(file).replaceAll(/nothing (is|has been) released/gi, 'One is released'),
    );
  git('init', '--quiet', '--initial-branch', 'main');
  git('config', 'user.name', 'Ana');
  git('config', 'user.email', 'ana@example.com');
  git('add', '.');
  git('commit', '--quiet', '--message', 'one');
});

test('--dry-run says what it would do, and what is in the way, and changes nothing', () => {
  for (const file of PAGES) writeFileSync(join(root, file), `Nothing is released yet.\n${read(file)}`);
  git('commit', '--quiet', '--all', '--message', 'two');
  const { status, stdout, problems } = release('--dry-run');
  expect(problems).toEqual([
    '✘ README.md:1, CHANGELOG.md:1, docs/upgrade.md:1 say that nothing is released. Change that.',
  ]);
  expect(status).toBe(1);
  const day = new Date().toISOString().slice(0, 10);
  const version = JSON.parse(read('package.json')).version;
  expect(stdout.trim().split('\n')).toEqual([
    `Would write ${version} into package.json, package-lock.json, deploy/kubernetes/kustomization.yaml`,
    `Would write "## ${version} (${day})" below "## Unreleased" in CHANGELOG.md`,
    `Would commit this as "release: ${version}"`,
    `Would tag the commit as v${version}`,
    `Would push nothing: you run "git push --atomic origin HEAD v${version}"`,
    'Would have release.yml then run CI, build the image for amd64 and arm64, and name its digest in the release',
  ]);
  expect([git('status', '--porcelain'), git('tag'), git('rev-list', '--count', 'HEAD')]).toEqual([
    '',
    '',
    '2',
  ]);
});

test('it makes a commit and a tag, with the version everywhere, and pushes nothing', () => {
  expect(release('--dry-run', '1.2.3')).toMatchObject({ status: 0, problems: [] });
  const { status, stdout, problems } = release('1.2.3');
  expect({ status, problems }).toEqual({ status: 0, problems: [] });
  expect(stdout).toContain('git push --atomic origin HEAD v1.2.3\n');
  const lock = JSON.parse(read('package-lock.json'));
  expect([JSON.parse(read('package.json')).version, lock.version, lock.packages[''].version]).toEqual(
    Array(3).fill('1.2.3'),
  );
  expect(read('deploy/kubernetes/kustomization.yaml')).toContain('newTag: 1.2.3\n');
  expect(read('CHANGELOG.md')).toMatch(/\n## Unreleased\n\n## 1\.2\.3 \(\d{4}-\d\d-\d\d\)\n\n### /);
  expect([git('status', '--porcelain'), git('log', '-1', '--format=%s'), git('describe')]).toEqual([
    ...['', 'release: 1.2.3', 'v1.2.3'],
  ]);
  // All else is as it was.
  expect(git('show', '--numstat', '--format=', 'HEAD').split('\n').toSorted()).toEqual([
    ...['1\t1\tdeploy/kubernetes/kustomization.yaml', '1\t1\tpackage.json', '2\t0\tCHANGELOG.md'],
    '2\t2\tpackage-lock.json',
  ]);
});

describe('it does nothing', () => {
  const refused = (args: string[], problem: RegExp) => {
    const before = git('rev-parse', 'HEAD');
    expect(release(...args)).toEqual({ status: 1, stdout: '', problems: [expect.stringMatching(problem)] });
    expect(git('rev-parse', 'HEAD')).toBe(before);
  };
  test('without a version such as 1.2.3', () => {
    refused(['1.2'], /^✘ Usage: /);
    refused(['1.2.3', '1.2.4'], /^✘ Usage: /);
  });

  test('with a version that exists, or that is lower', () => {
    git('tag', 'v1.10.0');
    refused(['1.10.0'], /^✘ v1\.10\.0 exists\./);
    refused(['1.9.1'], /^✘ v1\.10\.0 is newer than v1\.9\.1\./);
  });

  test('on another branch, or with changes that are not committed', () => {
    writeFileSync(join(root, 'README.md'), 'changed');
    refused(['1.2.3'], /^✘ There are changes without a commit\./);
    git('checkout', '--quiet', 'README.md');
    git('switch', '--quiet', '--create', 'other');
    refused(['1.2.3'], /^✘ The branch is other\. Run: git switch main$/);
  });
});

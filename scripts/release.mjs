// npm run release -- [--dry-run] [VERSION]: makes the commit and the tag of a release, and pushes nothing. The workflow
// release.yml builds the image when the tag is pushed. With --dry-run it says what it would do.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What has the version, and how. */
const VERSIONED = [
  ['package.json', /(?<=^ {2}"version": ")[^"]+/m],
  ['package-lock.json', /(?<=^ {2}"version": ")[^"]+|(?<=^ {6}"name": "docket",\n {6}"version": ")[^"]+/gm],
  ['deploy/kubernetes/kustomization.yaml', /(?<=newTag: ).+/],
];
/** What says that there is no release, before the first. */
const PAGES = ['README.md', 'CHANGELOG.md', 'docs/upgrade.md'];

const root = process.cwd();
const read = (file) => readFileSync(join(root, file), 'utf8');
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

const args = process.argv.slice(2);
const isDry = args.includes('--dry-run');
const current = JSON.parse(read('package.json')).version;
const [version = current, ...others] = args.filter((arg) => arg !== '--dry-run');
const tag = `v${version}`;
const tags = git('tag', '--list', 'v*').split('\n').filter(Boolean);

const problems = [...ofVersion(), ...ofCheckout(), ...ofPages()];
for (const problem of problems) process.stderr.write(`✘ ${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

for (const [text, run] of steps()) {
  if (!isDry && problems.length > 0) break;
  process.stdout.write(
    `${isDry ? 'Would ' : ''}${isDry ? text[0].toLowerCase() : text[0]}${text.slice(1)}\n`,
  );
  if (!isDry) run();
}
if (!isDry && problems.length === 0)
  process.stdout.write(`Nothing is pushed yet. To release: git push --atomic origin HEAD ${tag}\n`);

function ofVersion() {
  if (others.length > 0 || !/^\d+\.\d+\.\d+$/.test(version))
    return ['Usage: npm run release -- [--dry-run] [VERSION], with a version such as 1.2.3'];
  if (tags.includes(tag)) return [`${tag} exists. Name the next version: npm run release -- 1.2.3`];
  const newer = tags.filter((one) => compare(one.slice(1), version) > 0);
  return newer.length > 0 ? [`${newer.at(-1)} is newer than ${tag}. Name a higher version.`] : [];
}

/** Returns less than 0 if the first version is the older one. */
function compare(one, other) {
  const [first, second] = [one, other].map((text) => text.split('.').map(Number));
  return first.map((number, index) => number - second[index]).find((difference) => difference !== 0) ?? 0;
}

function ofCheckout() {
  const branch = git('branch', '--show-current');
  return [
    ...(branch === 'main' ? [] : [`The branch is ${branch || 'none'}. Run: git switch main`]),
    ...(git('status', '--porcelain') === ''
      ? []
      : ['There are changes without a commit. Commit or stash them.']),
  ];
}

function ofPages() {
  const lines = PAGES.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) =>
        /nothing (?:is|has been) released/i.test(line) ? [`${file}:${index + 1}`] : [],
      ),
  );
  const said = lines.length > 0 ? [`${lines.join(', ')} say that nothing is released. Change that.`] : [];
  return read('CHANGELOG.md').includes('\n## Unreleased\n')
    ? said
    : [...said, 'CHANGELOG.md has no "## Unreleased".'];
}

/** What a release does here, as a sentence and a function. */
function steps() {
  const files = VERSIONED.map(([file]) => file);
  const day = new Date().toISOString().slice(0, 10);
  return [
    [
      `Write ${version} into ${files.join(', ')}`,
      () => {
        for (const [file, pattern] of VERSIONED)
          writeFileSync(join(root, file), read(file).replace(pattern, version));
      },
    ],
    [
      `Write "## ${version} (${day})" below "## Unreleased" in CHANGELOG.md`,
      () => {
        const text = read('CHANGELOG.md').replace(
          '## Unreleased\n',
          `## Unreleased\n\n## ${version} (${day})\n`,
        );
        writeFileSync(join(root, 'CHANGELOG.md'), text);
      },
    ],
    [
      `Commit this as "release: ${version}"`,
      () => git('commit', '--quiet', '--message', `release: ${version}`, '--', ...files, 'CHANGELOG.md'),
    ],
    [`Tag the commit as ${tag}`, () => git('tag', '--annotate', tag, '--message', `Docket ${version}`)],
    ...(isDry
      ? [
          [`Push nothing: you run "git push --atomic origin HEAD ${tag}"`, () => {}],
          [
            'Have release.yml then run CI, build the image for amd64 and arm64, and name its digest in the release',
            () => {},
          ],
        ]
      : []),
  ];
}

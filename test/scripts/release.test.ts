import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nextVersion, release } from '../../scripts/release.mjs';

let root: string;
let said: string[];
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const write = (name: string, text: string) => writeFileSync(join(root, name), text);
const commit = (message: string) => {
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
};
const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n- Something new.\n\n## 0.1.0 - 2026-01-01\n\n- The first.\n';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'docket-release-'));
  said = [];
  git('init', '--quiet', '--initial-branch', 'main');
  for (const [name, value] of [
    ['user.name', 'Docket'],
    ['user.email', 'docket@example.com'],
    ['commit.gpgsign', 'false'],
    ['tag.gpgsign', 'false'],
  ] as const)
    git('config', name, value);
  write('package.json', json({ name: 'docket', version: '0.1.0' }));
  write(
    'package-lock.json',
    json({
      name: 'docket',
      version: '0.1.0',
      packages: { '': { version: '0.1.0' }, 'node_modules/a': { version: '9.9.9' } },
    }),
  );
  write('schemas', 'old');
  commit('The first');
  write('RELEASED', git('rev-parse', 'HEAD'));
  write('CHANGELOG.md', CHANGELOG);
  commit('Something new');
});
afterEach(() => rmSync(root, { recursive: true }));

const releases = (changes: Partial<Parameters<typeof release>[0]> = {}) =>
  release({
    root,
    level: 'minor',
    dryRun: false,
    date: '2026-11-23',
    say: (text) => said.push(text),
    check: () => true,
    writeSchemas: () => write('schemas', 'new'),
    pinBase: () => undefined,
    ...changes,
  });

test('a release has its version, its changes under it, a tag, and is what later ones are compared with', async () => {
  expect(await releases()).toBe('0.2.0');
  expect(git('cat-file', '-t', 'v0.2.0')).toBe('tag');
  expect(git('log', '--format=%s', '-3').split('\n')).toEqual([
    'Later versions are compared with 0.2.0',
    'Release 0.2.0',
    'Something new',
  ]);
  expect(git('show', 'v0.2.0:CHANGELOG.md')).toBe(
    CHANGELOG.replace('## Unreleased\n', '## Unreleased\n\n## 0.2.0 - 2026-11-23\n').trim(),
  );
  expect(JSON.parse(git('show', 'v0.2.0:package.json'))).toEqual({ name: 'docket', version: '0.2.0' });
  expect(JSON.parse(git('show', 'v0.2.0:package-lock.json'))).toMatchObject({
    version: '0.2.0',
    packages: { '': { version: '0.2.0' }, 'node_modules/a': { version: '9.9.9' } },
  });
  // The tagged one is compared with the release before.
  expect(git('show', 'v0.2.0:schemas')).toBe('old');
  expect([read('RELEASED').trim(), read('schemas')]).toEqual([git('rev-parse', 'v0.2.0^{commit}'), 'new']);
  expect(git('status', '--porcelain')).toBe('');
});

test('a dry run says what would be, after the same checks, and changes nothing', async () => {
  const before = git('rev-parse', 'HEAD');
  expect(await releases({ dryRun: true, level: 'patch', pinBase: () => expect.unreachable() })).toBe('0.1.1');
  expect(said.join('\n')).toContain('- Something new.');
  expect([git('rev-parse', 'HEAD'), git('tag'), git('status', '--porcelain')]).toEqual([before, '', '']);
});

test.each(['minor --dry-run', '--dry-run minor', '-- minor --dry-run'])(
  'npm run release %s is a dry run, with or without the -- in front',
  (args) => {
    mkdirSync(join(root, 'scripts'));
    cpSync(new URL('../../scripts/release.mjs', import.meta.url), join(root, 'scripts', 'release.mjs'));
    // The checks: they pass where npm is as always.
    write('scripts/run.mjs', 'process.exit(process.env.npm_config_dry_run === undefined ? 0 : 1);');
    write(
      'package.json',
      json({ name: 'docket', version: '0.1.0', scripts: { release: 'node scripts/release.mjs' } }),
    );
    commit('With scripts');
    const before = git('rev-parse', 'HEAD');
    const { status, stdout } = spawnSync('npm', ['run', 'release', ...args.split(' ')], {
      cwd: root,
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('All is ready.') });
    expect([git('rev-parse', 'HEAD'), git('tag'), git('status', '--porcelain')]).toEqual([before, '', '']);
  },
);

describe('refused, with nothing changed', () => {
  test.each<[string, RegExp, () => Partial<Parameters<typeof release>[0]> | undefined]>([
    ['changes that are not committed', /not committed/, () => void write('new', '')],
    [
      'nothing under Unreleased',
      /nothing to release/,
      () => {
        write('CHANGELOG.md', CHANGELOG.replace('- Something new.\n\n', ''));
        return void commit('Empty');
      },
    ],
    [
      'a lock file with hosts',
      /names hosts, for example that of node_modules\/a/,
      () => {
        write(
          'package-lock.json',
          json({ packages: { 'node_modules/a': { resolved: 'https://registry.example.com/a.tgz' } } }),
        );
        return void commit('Hosts');
      },
    ],
    [
      'a history without the last release',
      /not in this history/,
      () => {
        write('RELEASED', '0123456789012345678901234567890123456789');
        return void commit('Elsewhere');
      },
    ],
    ['a tag that is there', /v0\.2\.0 is there already/, () => void git('tag', 'v0.2.0')],
    ['no branch', /No branch/, () => void git('switch', '--quiet', '--detach')],
    ['tests that fail', /checks fail/, () => ({ check: () => false })],
    [
      'tests that leave something behind',
      /left changes/,
      () => ({
        check: () => {
          write('left', '');
          return true;
        },
      }),
    ],
    ['another word', /Usage/, () => ({ level: 'huge' })],
  ])('%s', async (_, why, prepare) => {
    const changes = prepare() ?? {};
    const before = [git('rev-parse', 'HEAD'), git('tag'), read('CHANGELOG.md')];
    await expect(releases(changes)).rejects.toThrow(why);
    expect([git('rev-parse', 'HEAD'), git('tag'), read('CHANGELOG.md')]).toEqual(before);
  });
});

test.each([
  ['major', '2.0.0'],
  ['minor', '1.3.0'],
  ['patch', '1.2.4'],
])('%s', (level, version) => expect(nextVersion('1.2.3', level)).toBe(version));

test('the changelog begins with what is unreleased', () => {
  const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  expect(/^## .*$/m.exec(changelog)?.[0]).toBe('## Unreleased');
});

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { temporaryFolder } from '../support/flows/world.ts';

const root = new URL('../../', import.meta.url).pathname;
const FILES = ['package.json', 'src/runtime/version.ts', 'src/runtime/try-or.ts'];

/** An unpacked Docket, which lies in a repository of somebody else. */
function unpacked() {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const folder = join(path, 'docket');
  for (const file of FILES) cpSync(join(root, file), join(folder, file));
  commitIn(path);
  return folder;
}

function commitIn(folder: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
  const identity = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com'];
  git('init', '--quiet');
  git(...identity, 'commit', '--quiet', '--allow-empty', '--message', 'one');
  return git('rev-parse', 'HEAD');
}

function readIn(folder: string, PATH = process.env.PATH) {
  const code = `console.log(JSON.stringify(await import(${JSON.stringify(join(folder, 'src/runtime/version.ts'))})))`;
  const args = ['--input-type=module', '--eval', code];
  return JSON.parse(execFileSync(process.execPath, args, { env: { PATH }, encoding: 'utf8' }));
}

const { version } = packageJson;

test('the revision is the one of the image, of the checkout, or unknown', () => {
  const folder = unpacked();
  expect(readIn(folder)).toEqual({ version, revision: 'unknown' });
  const revision = commitIn(folder);
  expect(readIn(folder)).toEqual({ version, revision });
  const withoutGit = join(folder, 'bin');
  mkdirSync(withoutGit);
  expect(readIn(folder, withoutGit)).toEqual({ version, revision: 'unknown' });
  writeFileSync(join(folder, 'revision'), '\n');
  expect(readIn(folder)).toEqual({ version, revision });
  writeFileSync(join(folder, 'revision'), 'abcdef\n');
  expect(readIn(folder)).toEqual({ version, revision: 'abcdef' });
});

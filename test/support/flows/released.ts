import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../../../', import.meta.url).pathname;
/** Not below node_modules, where Node strips no types. */
const cache = join(root, '.released');

/** Where that release has what `bot-process.ts` is here. */
const BOT_PROCESS = 'test/flows/bot-process.ts';

/** The commit of the last release. */
const commit = readFileSync(join(root, 'RELEASED'), 'utf8').trim();

/**
 * Returns the file that runs the last release's bot, with the packages of its own lock file; it is unpacked once.
 * Nothing where the history does not reach back to it, as in a shallow clone. Throws when git or npm fails.
 */
export function releasedProgram(): string | undefined {
  const folder = join(cache, commit);
  const program = join(folder, BOT_PROCESS);
  if (existsSync(folder)) return program;
  if (run('git', ['cat-file', '-e', `${commit}^{commit}`], root) !== undefined) return undefined;
  mkdirSync(cache, { recursive: true });
  const unpacked = mkdtempSync(join(cache, 'unpacked-'));
  const archive = `${unpacked}.tar`;
  const problem =
    run('git', ['archive', '--output', archive, commit], root) ??
    run('tar', ['-xf', archive], unpacked) ??
    run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--loglevel=error'], unpacked);
  rmSync(archive, { force: true });
  if (problem !== undefined)
    throw new Error(`the last release, ${commit}, could not be made ready:\n${problem}`);
  renameSync(unpacked, folder);
  return program;
}

/** Returns what a command that failed printed. */
function run(command: string, args: string[], cwd: string): string | undefined {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  return status === 0 ? undefined : `${stdout ?? ''}${stderr ?? ''}`;
}

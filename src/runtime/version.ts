import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { tryOr } from './try-or.ts';

export const { version } = packageJson;

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The commit that runs: from the file that the image has, or from git in a checkout; else `unknown`. */
export const revision: string =
  tryOr('', () => readFileSync(`${root}revision`, 'utf8').trim()) || revisionOfCheckout() || 'unknown';

function revisionOfCheckout(): string {
  // An unpacked archive inside somebody else's repository would have the revision of that.
  if (!existsSync(`${root}.git`)) return '';
  // Otherwise, git refuses a checkout of another user, such as root's under the unit.
  const args = ['-c', 'safe.directory=*', 'rev-parse', 'HEAD'];
  return tryOr('', () => execFileSync('git', args, { cwd: root, stdio: 'pipe' }).toString().trim());
}

import { createHash, randomBytes } from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 100;

/** Returns the path of a checkout's lock: outside node_modules, which `npm ci` empties. */
export function lockPath(root) {
  const hash = createHash('sha256').update(realpathSync(root)).digest('hex').slice(0, 16);
  return join(tmpdir(), `docket-setup-${userInfo().uid}-${hash}`);
}

/**
 * Runs `step` while no other process runs one under the same lock, a directory that names its holders. `step` gets
 * `addHolder(pid)`: the lock is held until all of its holders have ended, also an `npm ci` that outlives its killed
 * parent.
 */
export async function locked(path, step) {
  for (;;) {
    const mine = claim(path);
    if (mine) {
      try {
        return await step((pid) => writeFileSync(join(path, holder(pid)), ''));
      } finally {
        renameSync(path, mine);
        rmSync(mine, { recursive: true, force: true });
      }
    }
    if (!removeStale(path)) await sleep(RETRY_MS);
  }
}

/** Moves a complete lock into place. Returns the path that it came from, or undefined when the lock is taken. */
function claim(path) {
  const mine = mkdtempSync(`${path}-`);
  writeFileSync(join(mine, `id-${randomBytes(8).toString('hex')}`), '');
  writeFileSync(join(mine, holder(process.pid)), '');
  try {
    renameSync(mine, path);
    return mine;
  } catch (error) {
    rmSync(mine, { recursive: true, force: true });
    if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return undefined;
    throw error;
  }
}

/** Moves a lock without living holders away. Returns whether to retry at once. */
function removeStale(path) {
  try {
    const names = readdirSync(path);
    if (names.some(isAlive)) return false;
    const id = names.find((name) => name.startsWith('id-'));
    // The moved lock stays: a slower process that saw the same stale lock must fail to move a newer one here.
    renameSync(path, `${path}-dead-${id}`);
    return true;
  } catch (error) {
    return error.code === 'ENOENT';
  }
}

/** Returns the name of a process by its id and, where there is /proc, its start time, since ids are reused. */
function holder(pid) {
  return `pid-${pid}-${processState(pid)?.start ?? 0}`;
}

function isAlive(name) {
  const [, pid, start] = /^pid-(\d+)-(\d+)$/.exec(name) ?? [];
  if (pid === undefined) return false;
  if (process.platform !== 'linux') return exists(Number(pid));
  const state = processState(pid);
  return state !== undefined && !state.dead && state.start === start;
}

function exists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Reads fields 3 (Z and X are dead) and 22 of proc(5)'s stat, counted after the name, which may hold spaces. */
function processState(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { dead: fields[0] === 'Z' || fields[0] === 'X', start: fields[19] };
  } catch {
    return undefined;
  }
}

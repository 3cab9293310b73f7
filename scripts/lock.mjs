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

const LOOK_AGAIN_MS = 100;

/** Where the lock of a checkout is: outside node_modules, which `npm ci` empties. */
export function lockPath(root) {
  const hash = createHash('sha256').update(realpathSync(root)).digest('hex').slice(0, 16);
  return join(tmpdir(), `docket-setup-${userInfo().uid}-${hash}`);
}

/**
 * Runs `step` while no other process runs one under the same lock, a directory that names its holders.
 * `step` gets `addHolder(pid)`: the lock stays held while any of its holders lives, so that an `npm ci` that
 * outlives its killed parent is waited for too.
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
    if (!buryDead(path)) await sleep(LOOK_AGAIN_MS);
  }
}

/** Moves a complete lock into place; returns the name it came from, or undefined when the lock is taken. */
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

/** Moves a lock without living holders out of the way; returns whether it is worth trying again at once. */
function buryDead(path) {
  try {
    const names = readdirSync(path);
    if (names.some(isAlive)) return false;
    const id = names.find((name) => name.startsWith('id-'));
    // The grave stays: it keeps a slower process that saw the same dead lock from moving a newer one here.
    renameSync(path, `${path}-dead-${id}`);
    return true;
  } catch (error) {
    return error.code === 'ENOENT';
  }
}

/** A process by its number and, where /proc tells, its start, since numbers are used again. */
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

/** Field 3 (Z and X are dead) and field 22 of proc(5)'s stat, counted after the name, which may hold spaces. */
function processState(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { dead: fields[0] === 'Z' || fields[0] === 'X', start: fields[19] };
  } catch {
    return undefined;
  }
}

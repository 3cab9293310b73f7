import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../runtime/log.ts';
import { OperatorError } from '../../runtime/operator-error.ts';

/** The files of one server. */
export interface ServerPlace {
  folder: string;
  socketPath: string;
  pidFile: string;
  logFile: string;
}

/** A larger log is rotated when a server starts; one older log is kept. */
const MAX_LOG_BYTES = 1_000_000;
const LOG_TAIL_LINES = 5;
/** Matches the command line of a server. */
const SERVER = /(?:redis|valkey)-server/;

/** Returns the first redis-server or else valkey-server on a PATH. Throws `OperatorError`. */
export function findServer(searchPath: string): string {
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  for (const name of ['redis-server', 'valkey-server']) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (found) return found;
  }
  throw new OperatorError(
    'REDIS_URL is not set, and no redis-server or valkey-server is on the PATH. ' +
      'Set REDIS_URL, or install a server: apt-get install redis-server (Debian, Ubuntu), ' +
      'dnf install valkey (Fedora), apk add valkey (Alpine), brew install redis (macOS).',
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Starts a server without waiting for it. */
export function spawnServer(program: string, place: ServerPlace): ChildProcess {
  if (sizeOf(place.logFile) > MAX_LOG_BYTES) renameSync(place.logFile, `${place.logFile}.1`);
  const log = openSync(place.logFile, 'a', 0o600);
  try {
    // Detached, so that neither Ctrl-C nor our own crash takes Redis away from connections that still write.
    const child = spawn(program, argumentsFor(place), {
      cwd: place.folder,
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.unref();
    // Redis writes it as well, but only after loading. A server must be found even if we die before that.
    if (child.pid !== undefined) writeFileSync(place.pidFile, `${child.pid}\n`);
    return child;
  } finally {
    closeSync(log);
  }
}

function argumentsFor(place: ServerPlace): string[] {
  const settings: Record<string, string> = {
    port: '0',
    unixsocket: place.socketPath,
    unixsocketperm: '700',
    dir: place.folder,
    pidfile: place.pidFile,
    save: '',
    appendonly: 'yes',
    // Requests acknowledged to Slack must survive a power cut, not only a crash.
    appendfsync: 'always',
    // A crash may cut off the last command; it was never confirmed.
    'aof-load-truncated': 'yes',
    // BullMQ loses jobs if keys are evicted.
    'maxmemory-policy': 'noeviction',
    // Delayed jobs wake 7 ms late on average instead of 52.
    hz: '100',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Sends one command. Returns the first line of the reply, '' if none came in time, undefined if nobody listens. */
export function sendCommand(
  socketPath: string,
  command: string,
  timeLimitMs: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(socketPath, () => socket.write(`${command}\r\n`));
    const finish = (answer: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(''), timeLimitMs);
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
      const lineEnd = text.indexOf('\r\n');
      if (lineEnd >= 0) finish(text.slice(0, lineEnd));
    });
    // EAGAIN is a full backlog: a server is there, but accepts no connections.
    socket.on('error', (error) => finish('code' in error && error.code === 'EAGAIN' ? '' : undefined));
    socket.on('close', () => finish(undefined));
  });
}

/** Returns the process id of the server started in this folder; undefined if it does not run. */
export function leftoverPid(place: Pick<ServerPlace, 'folder' | 'pidFile'>): number | undefined {
  const pid = Number.parseInt(readIfExists(place.pidFile), 10);
  return pid > 0 && isOurServer(pid, place) ? pid : undefined;
}

/** Returns whether a process is a server in our folder, since process ids are reused. */
export function isOurServer(pid: number, place: Pick<ServerPlace, 'folder'>): boolean {
  if (process.platform === 'linux') {
    try {
      // Neither can be read once the process has ended, even before its parent has reaped it.
      const inFolder = readlinkSync(`/proc/${pid}/cwd`) === place.folder;
      return inFolder && SERVER.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    } catch {
      return false;
    }
  }
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  return SERVER.test(stdout ?? '') && /unixsocket:/.test(stdout);
}

/** Returns the last lines of the server's log, for messages to people. */
export function logTail(place: ServerPlace): string {
  return readIfExists(place.logFile).trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A socket's path holds 108 bytes with the final zero, on macOS 104. */
const MAX_SOCKET_BYTES = process.platform === 'darwin' ? 103 : 107;

/** Creates the folder, closed to other users. Throws `OperatorError` if it cannot be used. */
export function prepareDataDir(dataDir: string): ServerPlace {
  const given = resolve(dataDir);
  const folder = withDataDirErrors(given, () => {
    mkdirSync(given, { recursive: true, mode: 0o700 });
    // A subfolder, since we may not be allowed to change the permissions of DATA_DIR itself.
    const own = join(realpathSync(given), 'redis');
    mkdirSync(own, { recursive: true });
    accessSync(own, constants.R_OK | constants.W_OK | constants.X_OK);
    if ((statSync(own).mode & 0o777) !== 0o700) chmodSync(own, 0o700);
    return own;
  });
  const socketPath = join(folder, 'redis.sock');
  if (Buffer.byteLength(socketPath) > MAX_SOCKET_BYTES)
    throw new OperatorError(
      `The path of DATA_DIR is too long for a socket: ${socketPath} has more than ${MAX_SOCKET_BYTES} bytes. Set a shorter one.`,
    );
  return { folder, socketPath, pidFile: join(folder, 'redis.pid'), logFile: join(folder, 'redis.log') };
}

/** Throws `OperatorError` if the folder exists, and is not writable. Changes nothing. */
export function inspectDataDir(dataDir: string): void {
  const given = resolve(dataDir);
  const writable = constants.W_OK | constants.X_OK;
  if (existsSync(given)) withDataDirErrors(given, () => accessSync(`${given}/.`, writable));
}

/** With less free space than this, a disk counts as full: Redis exits if it cannot write. */
const MIN_FREE_BYTES = 1_000_000;

const DISK_FULL =
  'the disk of DATA_DIR is full, so nothing can be saved. Free some space: Redis then resumes by itself';

/** Returns a function that finds a full disk, and logs it once: on one, Redis exits at each write without a word. */
export function watchDiskSpace(folder: string, log: Pick<Log, 'error'>): () => string | undefined {
  let wasFull = false;
  return () => {
    const { bavail, bsize } = statfsSync(folder);
    const isFull = bavail * bsize < MIN_FREE_BYTES;
    if (isFull && !wasFull) log.error({ problem: 'disk', folder }, DISK_FULL);
    wasFull = isFull;
    return isFull ? DISK_FULL : undefined;
  };
}

function withDataDirErrors<T>(dataDir: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const { code, path = dataDir } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `DATA_DIR ${dataDir} cannot be used (${code} at ${path}). Set it to a folder on a disk of this machine that Docket's ` +
        `user (uid ${process.getuid?.()}) owns; docs/troubleshooting.md says what the code means.`,
      { cause: error },
    );
  }
}

/** SQLite's result codes SQLITE_BUSY and SQLITE_LOCKED. */
const BUSY_CODES = [5, 6];

/**
 * Locks `folder` for this process; the returned function releases it. Throws `OperatorError`. SQLite's lock is the
 * system's lock on an open file: the kernel drops it with the process, and keeps it while the process is frozen.
 */
export function lockDataDir(folder: string, dataDir: string, timeoutMs: number): () => void {
  const file = join(folder, 'docket.lock');
  const database = new DatabaseSync(file, { timeout: timeoutMs, open: false });
  try {
    database.open();
    // Nothing is ever written: the open transaction is the lock.
    database.exec('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    if (database.isOpen) database.close();
    if (!(error instanceof Error && 'errcode' in error)) throw error;
    throw new OperatorError(
      BUSY_CODES.includes(Number(error.errcode))
        ? `Another Docket is running on the data folder ${dataDir}. Stop it first, or give this one its own DATA_DIR.`
        : `${file} cannot be locked (${error.message}). Set DATA_DIR to a folder on a disk of this machine.`,
    );
  }
}

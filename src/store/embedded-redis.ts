import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { delimiter, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { createProblemLog, type Log } from '../runtime/log.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import { repeat } from '../runtime/stopping.ts';
import { tryOr } from '../runtime/try-or.ts';

/** The durations of the embedded Redis, in milliseconds. */
const defaultTiming = {
  /** The longest a starting Redis may leave pings without a reply; a "loading" reply counts. */
  startLimitMs: 10_000,
  /** The longest to wait for the answer to one command. */
  pingMs: 1_000,
  /** Pause between two checks of a Redis that is starting or ending. */
  checkIntervalMs: 10,
  /** Pause before a restart. */
  restartMs: 500,
  /** The longest an orderly shutdown may take before Redis is killed. Confirmed writes are on disk. */
  stopLimitMs: 3_000,
  /** When the append-only file is rewritten: first this long after the start, then at this interval. */
  rewriteFirstMs: 3_600_000,
  rewriteEveryMs: 24 * 3_600_000,
  /** How long to wait for the lock on the data folder. */
  lockTimeoutMs: 500,
};

interface EmbeddedRedisOptions {
  dataDir: string;
  log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** PATH to find redis-server or valkey-server on. */
  searchPath: string;
  /** If it is aborted while Redis starts, Redis is stopped and the start rejects. Nothing happens later. */
  cancelled?: AbortSignal;
  timing?: Partial<typeof defaultTiming>;
}

/** With less free space than this, a disk counts as full: Redis exits if it cannot write. */
const MIN_FREE_BYTES = 1_000_000;

const DISK_FULL =
  'the disk of DATA_DIR is full, so nothing can be saved. Free some space: Redis then resumes by itself';

/**
 * Starts Docket's own Redis on a data folder and keeps it running. It first stops a Redis that a killed Docket left
 * there. Resolves when Redis answers. Rejects with `OperatorError` if another Docket uses the folder, or
 * Redis cannot start.
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions) {
  const { dataDir, log, searchPath, cancelled } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const program = findServer(searchPath);
  const folder = prepareDataDir(dataDir);
  const socketPath = join(folder, 'redis.sock');
  const release = lockDataDir(folder, timing.lockTimeoutMs);
  const stopping = new AbortController();
  let current: ChildProcess | undefined;
  let stopped: Promise<void> | undefined;
  let isDown = false;
  let isFull = false;
  let failure: unknown;
  const logProblems = createProblemLog(log, () => performance.now());
  let rewriteInMs = timing.rewriteFirstMs;

  const cancel = () => stopping.abort();
  cancelled?.addEventListener('abort', cancel);
  const first = await start().catch((error: unknown) => {
    release();
    throw error;
  });
  cancelled?.removeEventListener('abort', cancel);
  const watching = supervise(first.ended);
  void repeat(stopping.signal, () => rewriteInMs, rewrite);
  return {
    socketPath,
    diskProblem,
    /** Shuts Redis down, waits for its end, and releases the data folder. */
    stop() {
      stopped ??= endInOrder();
      return stopped;
    },
  };

  /**
   * Returns the problem of a full disk: Redis then exits at each write, and its log cannot say why. It lasts until Redis is
   * back. Without it, logs a failed start.
   */
  function diskProblem(): string | undefined {
    const { bavail, bsize } = tryOr({ bavail: Infinity, bsize: 1 }, () => statfsSync(folder));
    isFull = bavail * bsize < MIN_FREE_BYTES || (isFull && isDown);
    const reason = failure instanceof Error ? failure.message : failure;
    const text = `Redis could not be started again: ${reason}`;
    const failed = { name: 'restart', level: 'error', text } as const;
    logProblems(failure === undefined || isFull ? [] : [failed]);
    return isFull ? DISK_FULL : undefined;
  }

  async function endInOrder(): Promise<void> {
    stopping.abort();
    // Waits for its end, even if nothing else keeps this process running.
    current?.ref();
    if (current?.pid !== undefined) await shutDown(current.pid);
    await watching;
    release();
  }

  /** Starts Redis again whenever it has ended. */
  async function supervise(ended: Promise<string>): Promise<void> {
    let reason: string | undefined = await ended;
    while (!stopping.signal.aborted) {
      isDown = true;
      const facts = { pid: current?.pid, reason, logTail: logTail(folder) };
      const isExplained = diskProblem() !== undefined;
      if (reason !== undefined && !isExplained) log.warn(facts, 'Redis ended by itself and is started again');
      await sleep(timing.restartMs, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      const again = await start().catch((error: unknown) => {
        failure = error;
        return undefined;
      });
      isDown = again === undefined;
      if (!isDown) failure = undefined;
      reason = await again?.ended;
    }
  }

  /** Removes deleted data from the disk: until a rewrite the append-only file keeps every word ever written. */
  async function rewrite(): Promise<void> {
    const answer = await sendCommand(socketPath, 'BGREWRITEAOF', timing.pingMs);
    const isBegun = answer?.startsWith('+') ?? false;
    if (!isBegun) log.warn({ answer }, "Redis' file was not rewritten; deleted data stay in it for now");
    rewriteInMs = isBegun ? timing.rewriteEveryMs : timing.rewriteFirstMs;
  }

  /** Starts a server. Returns a promise of the reason of its end, in an object, when it answers. */
  async function start() {
    // Two on one folder would corrupt the data.
    const leftover = Number.parseInt(readIfExists(join(folder, PID_FILE)), 10);
    if (leftover > 0 && !(await shutDown(leftover)))
      throw new OperatorError(
        `An earlier Redis (process ${leftover}) still runs on ${folder}, and does not end when it is killed. Check its disk.`,
      );
    if ((await sendCommand(socketPath, 'PING', timing.pingMs)) !== undefined)
      throw new OperatorError(
        `Another Redis answers at ${socketPath}, perhaps in another container. End it, then start again.`,
      );
    stopping.signal.throwIfAborted();
    const child = spawnServer(program, folder, socketPath);
    current = child;
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    child.once('error', ({ message }) => end(message));
    const hasEnded = () => child.pid === undefined || (child.exitCode ?? child.signalCode) !== null;
    if (await answers(hasEnded)) {
      log.info({ pid: child.pid, socketPath }, 'Started Redis');
      return { ended };
    }
    const isSilent = !hasEnded();
    child.ref();
    child.kill('SIGKILL');
    const reason = await ended;
    const silent = `Redis (${program}) did not answer in time.`;
    const problem = isSilent ? silent : `Redis (${program}) exited immediately (${reason}).`;
    throw new OperatorError(
      `${problem}\nIts last log lines, in ${join(folder, LOG_FILE)}:\n${logTail(folder)}`,
    );
  }

  /** Pings the server until it answers. Returns false if it has ended, or was silent for too long. */
  async function answers(hasEnded: () => boolean): Promise<boolean> {
    let endsAt = performance.now() + timing.startLimitMs;
    while (!hasEnded() && !stopping.signal.aborted && performance.now() < endsAt) {
      const answer = await sendCommand(socketPath, 'PING', timing.pingMs);
      if (answer === '+PONG') return true;
      // It is loading its data.
      if (answer !== undefined) endsAt = performance.now() + timing.startLimitMs;
      await sleep(timing.checkIntervalMs);
    }
    return false;
  }

  /** Ends a server, in order if possible. Returns whether it is gone, as it is if the process is another program. */
  async function shutDown(pid: number): Promise<boolean> {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      try {
        if (isOurServer(pid, folder)) process.kill(pid, signal);
      } catch {}
      const endsAt = performance.now() + timing.stopLimitMs;
      while (isOurServer(pid, folder) && performance.now() < endsAt) await sleep(timing.checkIntervalMs);
    }
    const isGone = !isOurServer(pid, folder);
    if (!isGone) log.error({ pid }, 'Redis does not end, not even when killed');
    return isGone;
  }
}

const PID_FILE = 'redis.pid';
const LOG_FILE = 'redis.log';
/** A larger log is replaced when a server starts; one older log is kept. */
const MAX_LOG_BYTES = 1_000_000;
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

const isExecutable = (file: string): boolean =>
  tryOr(false, () => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  });

/** Starts a server without waiting for it. */
function spawnServer(program: string, folder: string, socketPath: string): ChildProcess {
  const pidFile = join(folder, PID_FILE);
  const logFile = join(folder, LOG_FILE);
  const settings: Record<string, string> = {
    port: '0',
    unixsocket: socketPath,
    unixsocketperm: '700',
    dir: folder,
    pidfile: pidFile,
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
  const logBytes = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (logBytes > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a', 0o600);
  try {
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    // Detached, so that neither Ctrl-C nor our own crash takes Redis away from connections that still write.
    const child = spawn(program, args, { cwd: folder, detached: true, stdio: ['ignore', log, log] });
    child.unref();
    // Redis writes it as well, but only after loading. A server must be found even if we die before that.
    if (child.pid !== undefined) writeFileSync(pidFile, `${child.pid}\n`);
    return child;
  } finally {
    closeSync(log);
  }
}

/** Sends one command. Returns the first line of the reply, '' if none came in time, undefined if nobody listens. */
function sendCommand(socketPath: string, command: string, timeLimitMs: number): Promise<string | undefined> {
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

/** Returns whether a process is a server in our folder, since process ids are reused. */
function isOurServer(pid: number, folder: string): boolean {
  if (process.platform === 'linux')
    return tryOr(false, () => {
      // Neither can be read once the process has ended, even before its parent has reaped it.
      const inFolder = readlinkSync(`/proc/${pid}/cwd`) === folder;
      return inFolder && SERVER.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    });
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  return SERVER.test(stdout ?? '') && /unixsocket:/.test(stdout);
}

/** Returns the last five lines of the server's log, for messages to people. */
const logTail = (folder: string): string =>
  readIfExists(join(folder, LOG_FILE)).trimEnd().split('\n').slice(-5).join('\n');

const readIfExists = (file: string): string => tryOr('', () => readFileSync(file, 'utf8'));

/** A socket's path holds 108 bytes with the final zero, on macOS 104. */
const MAX_SOCKET_BYTES = process.platform === 'darwin' ? 103 : 107;

/** Creates Redis' folder in DATA_DIR, closed to other users, and returns it. Throws `OperatorError`. */
function prepareDataDir(dataDir: string): string {
  const folder = withDataDirErrors(dataDir, (given) => {
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
  return folder;
}

/**
 * Tries to write in Redis' folder in DATA_DIR, or where the missing folders would be created, and whether its files may be
 * written. Leaves nothing behind. Throws `OperatorError`.
 */
export const inspectDataDir = (dataDir: string): void =>
  withDataDirErrors(dataDir, (given) => {
    const own = join(given, 'redis');
    const files = existsSync(own) ? readdirSync(own, { recursive: true, encoding: 'utf8' }) : [];
    for (const name of files) accessSync(join(own, name), constants.R_OK | constants.W_OK);
    let place = own;
    while (!existsSync(place)) place = dirname(place);
    accessSync(`${place}/.`, constants.W_OK | constants.X_OK);
    // A full disk refuses only content.
    const probe = mkdtempSync(join(place, '.docket-probe-'));
    try {
      writeFileSync(join(probe, 'file'), Buffer.alloc(4096), { flush: true });
    } finally {
      rmSync(probe, { recursive: true });
    }
  });

function withDataDirErrors<T>(dataDir: string, action: (given: string) => T): T {
  const given = resolve(dataDir);
  try {
    return action(given);
  } catch (error) {
    const { code, path = given } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `DATA_DIR ${given} cannot be used (${code} at ${path}). Set it to a folder on a disk of this machine that Docket's ` +
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
function lockDataDir(folder: string, timeoutMs: number): () => void {
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
        ? `Another Docket is running on the data folder ${dirname(folder)}. Stop it first, or give this one its own DATA_DIR.`
        : `${file} cannot be locked (${error.message}). Set DATA_DIR to a folder on a disk of this machine.`,
    );
  }
}

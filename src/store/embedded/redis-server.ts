import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** No Redis or Valkey program was found on this machine. */
export class RedisMissing extends Error {
  override name = 'RedisMissing';
  constructor() {
    super(
      'REDIS_URL is not set, and there is no redis-server or valkey-server on the PATH to start one from. ' +
        'Set REDIS_URL, or install a server: apt-get install redis-server (Debian, Ubuntu), ' +
        'dnf install valkey (Fedora), apk add valkey (Alpine), brew install redis (macOS).',
    );
  }
}

/** Redis did not come up; the message holds what it said last. */
export class RedisStartFailed extends Error {
  override name = 'RedisStartFailed';
}

/** What is said to whoever runs Docket. */
export interface ServerLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Where one server keeps its things. */
export interface ServerPlace {
  folder: string;
  socketPath: string;
  pidFile: string;
  logFile: string;
}

/** `silent`: somebody accepts connections (so it lives) but did not answer in time. `absent`: nobody listens. */
export type CommandResult = { is: 'reply'; text: string } | { is: 'silent' } | { is: 'absent' };

/** A log is put aside when a server starts and it is larger than this; one older log is kept. */
const MAX_LOG_BYTES = 1_000_000;
const LOG_TAIL_LINES = 5;
/** What a server's command line holds. */
const SERVER = /(?:redis|valkey)-server/;

/** The first redis-server or else valkey-server on a PATH. */
export function findServer(searchPath: string): string {
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  for (const name of ['redis-server', 'valkey-server']) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (found) return found;
  }
  throw new RedisMissing();
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Starts a server; whether it works is for the caller to see. */
export function spawnServer(program: string, place: ServerPlace): ChildProcess {
  if (sizeOf(place.logFile) > MAX_LOG_BYTES) renameSync(place.logFile, `${place.logFile}.1`);
  const log = openSync(place.logFile, 'a', 0o600);
  try {
    // Detached, so that neither Ctrl-C nor our own sudden end takes the data away from those who still write.
    const child = spawn(program, argumentsFor(place), {
      cwd: place.folder,
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.unref();
    // Redis writes it too, but only after it started: a start that we do not survive must be found as well.
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
    // What Slack was told is accepted must survive a power cut, not only a crash.
    appendfsync: 'always',
    // The last command may be cut off by such a crash; it was never answered.
    'aof-load-truncated': 'yes',
    // BullMQ loses jobs when keys are evicted.
    'maxmemory-policy': 'noeviction',
    // Delayed jobs wake 7 ms late on average instead of 52.
    hz: '100',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Sends one command over a connection of its own; the reply is its first line. */
export function sendCommand(
  socketPath: string,
  command: string,
  timeLimitMs: number,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(socketPath, () => socket.write(`${command}\r\n`));
    const finish = (answer: CommandResult) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish({ is: 'silent' }), timeLimitMs);
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
      const lineEnd = text.indexOf('\r\n');
      if (lineEnd >= 0) finish({ is: 'reply', text: text.slice(0, lineEnd) });
    });
    // EAGAIN is a full backlog: a server is there and takes no connections.
    socket.on('error', (error) =>
      finish({ is: 'code' in error && error.code === 'EAGAIN' ? 'silent' : 'absent' }),
    );
    socket.on('close', () => finish({ is: 'absent' }));
  });
}

/** Resolves when a connection to the server ends, or at once when there can be none. */
export function connectionEnd(socketPath: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.unref();
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.resume();
  });
}

/** The number of the server's process that was started in this folder, if it lives. */
export function leftoverPid(place: ServerPlace): number | undefined {
  const pid = Number.parseInt(readIfExists(place.pidFile), 10);
  return pid > 0 && isOurServer(pid, place) ? pid : undefined;
}

/** Process numbers are used again, so the process must also be a server that works in our folder. */
export function isOurServer(pid: number, place: ServerPlace): boolean {
  if (process.platform === 'linux') {
    try {
      // Both are empty as soon as the process has ended, also while its parent has not collected it.
      const inFolder = readlinkSync(`/proc/${pid}/cwd`) === place.folder;
      return inFolder && SERVER.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    } catch {
      return false;
    }
  }
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  return SERVER.test(stdout ?? '') && /unixsocket:/.test(stdout);
}

/** Whether a process ends within the limit. */
export async function endsWithin(server: { ended: Promise<string> }, limitMs: number): Promise<boolean> {
  const enough = new AbortController();
  const timeUp = sleep(limitMs, false, { signal: enough.signal }).catch(() => false);
  const ended = await Promise.race([server.ended.then(() => true), timeUp]);
  enough.abort();
  return ended;
}

/** The last lines of the server's log, for messages to people. */
export function logTail(place: ServerPlace): string {
  return readIfExists(place.logFile).trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
}

/** Where the server's log ends now. */
export function logEnd(place: ServerPlace): number {
  return sizeOf(place.logFile);
}

/** What the server wrote since the log ended at `from`; all of it where the log was put aside meanwhile. */
export function logSince(place: ServerPlace, from: number): string {
  const bytes = Buffer.from(readIfExists(place.logFile));
  return bytes.subarray(from <= bytes.length && from <= MAX_LOG_BYTES ? from : 0).toString();
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

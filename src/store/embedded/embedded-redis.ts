import { setTimeout as sleep } from 'node:timers/promises';
import { describeDamage, prepareData } from './append-only-file.ts';
import { freeBytes, prepareDataDir, watchDiskSpace } from './data-dir.ts';
import { lockDataDir } from './data-dir-lock.ts';
import {
  connectionEnd,
  endsWithin,
  findServer,
  isOurServer,
  leftoverPid,
  logTail,
  RedisStartFailed,
  type ServerLog,
  type ServerPlace,
  sendCommand,
  spawnServer,
} from './redis-server.ts';

/** The durations of the embedded Redis, in milliseconds. */
interface EmbeddedRedisTiming {
  /** The longest a Redis may say nothing while it starts; loading its data counts as saying something. */
  startLimitMs: number;
  /** The longest to wait for the answer to one PING. */
  pingMs: number;
  /** Pause between two checks of a Redis that is starting or ending. */
  checkIntervalMs: number;
  /** Pause before a dead Redis is started again: doubles up to the maximum, and begins again once it ran for `stableMs`. */
  restartMinMs: number;
  restartMaxMs: number;
  stableMs: number;
  /** The longest an orderly shutdown may take before Redis is killed. Every answered write is on disk by then. */
  stopLimitMs: number;
  /** How long a lock on the data folder that somebody holds is waited for. */
  lockTimeoutMs: number;
}

const defaultTiming: EmbeddedRedisTiming = {
  startLimitMs: 10_000,
  pingMs: 1_000,
  checkIntervalMs: 10,
  restartMinMs: 50,
  restartMaxMs: 5_000,
  stableMs: 60_000,
  stopLimitMs: 3_000,
  lockTimeoutMs: 500,
};

interface EmbeddedRedisOptions {
  dataDir: string;
  log: ServerLog;
  /** PATH to find redis-server or valkey-server on. */
  searchPath: string;
  timing?: Partial<EmbeddedRedisTiming>;
  /** How much may still be written to the disk of a folder. */
  free?: (folder: string) => number;
}

export interface EmbeddedRedis {
  readonly socketPath: string;
  /** The server's process; undefined when it was found running in another container. */
  pid(): number | undefined;
  /** Called each time Redis died by itself, also while it was coming up; it is being started again. */
  onExit(listener: (reason: string) => void): void;
  /** Ends Redis in order, waits for its end, and leaves the data folder to others. */
  stop(): Promise<void>;
}

/** A server that somebody started, us or a Docket before us. */
interface Server {
  pid: number | undefined;
  /** Resolves with the reason when the process has ended. */
  ended: Promise<string>;
}

/**
 * Starts Docket's own Redis on a data folder and keeps it running, or takes over one that a killed Docket left
 * running there. Resolves when it answers. One Docket per data folder: a second one gets `DataDirInUse`. Rejects with
 * `DataDirUnusable` or `RedisStartFailed` when an operator has to act.
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const timing = { ...defaultTiming, ...options.timing };
  const program = findServer(options.searchPath);
  const free = options.free ?? freeBytes;
  const place = prepareDataDir(options.dataDir, free);
  const release = await lockDataDir(place.folder, options.dataDir, timing.lockTimeoutMs);
  try {
    const supervisor = new Supervisor({ place, program, timing, log: options.log, release, free });
    await supervisor.start();
    return supervisor;
  } catch (error) {
    release();
    throw error;
  }
}

interface SupervisorParts {
  place: ServerPlace;
  program: string;
  timing: EmbeddedRedisTiming;
  log: ServerLog;
  release: () => void;
  free: (folder: string) => number;
}

/** Holds the lock of the data folder and brings Redis up again whenever it ends. */
class Supervisor implements EmbeddedRedis {
  readonly socketPath: string;
  readonly #place: ServerPlace;
  readonly #program: string;
  readonly #timing: EmbeddedRedisTiming;
  readonly #log: ServerLog;
  readonly #release: () => void;
  readonly #hasDiskSpace: () => boolean;
  readonly #stopping = new AbortController();
  readonly #listeners: ((reason: string) => void)[] = [];
  #server: Server | undefined;
  #watch: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  constructor(parts: SupervisorParts) {
    this.socketPath = parts.place.socketPath;
    this.#place = parts.place;
    this.#program = parts.program;
    this.#timing = parts.timing;
    this.#log = parts.log;
    this.#release = parts.release;
    this.#hasDiskSpace = watchDiskSpace(parts.place.folder, parts.free, parts.log);
  }

  async start(): Promise<void> {
    this.#watch = this.#supervise(await this.#adoptOrSpawn());
  }

  pid(): number | undefined {
    return this.#server?.pid;
  }

  onExit(listener: (reason: string) => void): void {
    this.#listeners.push(listener);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#server) await this.#shutDown(this.#server);
    await this.#watch;
    this.#release();
  }

  async #supervise(first: Server): Promise<void> {
    let server = first;
    let pauseMs = this.#timing.restartMinMs;
    for (;;) {
      const upSince = performance.now();
      const reason = await server.ended;
      if (this.#stopping.signal.aborted) return;
      const said = logTail(this.#place);
      this.#log.warn({ pid: server.pid, reason, said }, 'Redis ended by itself and is started again');
      this.#notifyExit(reason);
      if (performance.now() - upSince >= this.#timing.stableMs) pauseMs = this.#timing.restartMinMs;

      let next: Server | undefined;
      while (!next) {
        await this.#pause(pauseMs);
        if (this.#stopping.signal.aborted) return;
        pauseMs = Math.min(pauseMs * 2, this.#timing.restartMaxMs);
        if (!this.#hasDiskSpace()) continue;
        next = await this.#adoptOrSpawn().catch((error: unknown) => {
          if (this.#stopping.signal.aborted) return undefined;
          this.#log.error({ err: error }, 'Redis could not be started again');
          this.#notifyExit(String(error));
          return undefined;
        });
      }
      server = next;
      // Stopped while it came up: nobody else knows of it.
      if (this.#stopping.signal.aborted) await this.#shutDown(server);
    }
  }

  #notifyExit(reason: string): void {
    for (const listener of this.#listeners) listener(reason);
  }

  async #adoptOrSpawn(): Promise<Server> {
    return (await this.#adopt()) ?? (await this.#spawn());
  }

  /** Uses a server that runs on our folder already. Two on one folder would spoil the data. */
  async #adopt(): Promise<Server | undefined> {
    const state = await this.#untilReady(() => true);
    const pid = leftoverPid(this.#place);
    if (state === 'ready') {
      this.#server = { pid, ended: this.#waitForAdoptedExit(pid) };
      this.#log.info({ pid, socketPath: this.socketPath }, 'Found Redis running and use it');
      return this.#server;
    }
    if (state === 'silent') {
      throw new RedisStartFailed(
        `A Redis from before (process ${pid ?? 'unknown'}) runs on ${this.#place.folder} and does not answer. ` +
          `End it (kill -9 ${pid ?? 'its process'}; what it answered for is on disk), then start again.`,
      );
    }
    // It lives without its socket: still starting, ending, or somebody removed the file.
    if (pid !== undefined) await this.#shutDown({ pid, ended: this.#waitForAdoptedExit(pid) });
    return undefined;
  }

  async #spawn(): Promise<Server> {
    const startedAt = performance.now();
    const reportTruncation = prepareData(this.#program, this.#place, this.#log);
    const child = spawnServer(this.#program, this.#place);
    let reason: string | undefined;
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
      child.once('error', (error) => resolve(error.message));
    });
    void ended.then((text) => {
      reason = text;
    });
    const server = { pid: child.pid, ended };
    this.#server = server;

    const state = await this.#untilReady(() => reason !== undefined);
    if (state === 'ready') {
      const ms = Math.round(performance.now() - startedAt);
      this.#log.info({ pid: child.pid, socketPath: this.socketPath, ms }, 'Started Redis');
      reportTruncation();
      return server;
    }
    if (state === 'silent') child.kill('SIGKILL');
    const end = await ended;
    const problem =
      state === 'silent'
        ? `Redis (${this.#program}) did not answer in time.`
        : ((await describeDamage(this.#program, this.#place.folder)) ??
          `Redis (${this.#program}) ended at once (${end}).`);
    throw new RedisStartFailed(
      `${problem}\nIt said last, in ${this.#place.logFile}:\n${logTail(this.#place)}`,
    );
  }

  /** Asks until the server answers, is gone, or was silent for too long. */
  async #untilReady(hasExited: () => boolean): Promise<'ready' | 'gone' | 'silent'> {
    const { startLimitMs, pingMs, checkIntervalMs } = this.#timing;
    let endsAt = performance.now() + startLimitMs;
    for (;;) {
      const hadExited = hasExited();
      const answer = await sendCommand(this.socketPath, 'PING', pingMs);
      if (answer.is === 'reply' && answer.text === '+PONG') return 'ready';
      if (answer.is === 'reply') endsAt = performance.now() + startLimitMs;
      if (answer.is === 'absent' && hadExited) return 'gone';
      if (performance.now() >= endsAt || this.#stopping.signal.aborted) return 'silent';
      await sleep(checkIntervalMs);
    }
  }

  /** We are not its parent: the end of a connection tells, and the process decides, since connections end alone too. */
  async #waitForAdoptedExit(pid: number | undefined): Promise<string> {
    for (;;) {
      await connectionEnd(this.socketPath);
      const lives =
        pid === undefined
          ? (await sendCommand(this.socketPath, 'PING', this.#timing.pingMs)).is !== 'absent'
          : isOurServer(pid, this.#place);
      if (!lives) return 'unknown: it was started by an earlier Docket';
      await sleep(this.#timing.checkIntervalMs, undefined, { ref: false });
    }
  }

  async #shutDown(server: Server): Promise<void> {
    const { stopLimitMs } = this.#timing;
    const shutdownSent = sendCommand(this.socketPath, 'SHUTDOWN', stopLimitMs).then((answer) => {
      // Nobody listens, or it refuses: the signal asks for the same.
      if (answer.is !== 'silent') this.#signal(server, 'SIGTERM');
    });
    if (await endsWithin(server, stopLimitMs)) return;
    await shutdownSent;
    this.#signal(server, 'SIGKILL');
    if (await endsWithin(server, stopLimitMs)) return;
    this.#log.error({ pid: server.pid }, 'Redis does not end, not even when killed');
  }

  #signal({ pid }: Server, signal: NodeJS.Signals): void {
    if (pid === undefined || !isOurServer(pid, this.#place)) return;
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself in the meantime.
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: this.#stopping.signal }).catch(() => {});
  }
}

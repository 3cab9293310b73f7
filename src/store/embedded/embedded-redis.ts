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
  sendCommand,
  spawnServer,
} from './redis-server.ts';

/** The durations of the embedded Redis, in milliseconds. */
const defaultTiming = {
  /** The longest a starting Redis may leave pings without a reply; a reply that it loads its data counts. */
  startLimitMs: 10_000,
  /** The longest to wait for the answer to one PING. */
  pingMs: 1_000,
  /** Pause between two checks of a Redis that is starting or ending. */
  checkIntervalMs: 10,
  /** Pause before a restart: doubles up to the maximum, and is back at the minimum once Redis ran for `stableMs`. */
  restartMinMs: 50,
  restartMaxMs: 5_000,
  stableMs: 60_000,
  /** The longest an orderly shutdown may take before Redis is killed. Every confirmed write is on disk by then. */
  stopLimitMs: 3_000,
  /** When the append-only file is rewritten: so long after the start, and then so often. */
  rewriteFirstMs: 3_600_000,
  rewriteEveryMs: 24 * 3_600_000,
  /** How long to wait for the lock on the data folder. */
  lockTimeoutMs: 500,
};

interface EmbeddedRedisOptions {
  dataDir: string;
  log: ServerLog;
  /** PATH to find redis-server or valkey-server on. */
  searchPath: string;
  /** Once it is aborted while Redis starts, that is ended, and the start rejects. Nothing happens later. */
  cancelled?: AbortSignal;
  timing?: Partial<typeof defaultTiming>;
  /** Returns how many bytes can still be written to the disk of a folder. */
  free?: (folder: string) => number;
}

export type EmbeddedRedis = Awaited<ReturnType<typeof startEmbeddedRedis>>;

/** A running server, started by this Docket or an earlier one. */
interface Server {
  pid: number | undefined;
  /** Resolves with the reason when the process has ended. */
  ended: Promise<string>;
}

/**
 * Starts Docket's own Redis on a data folder and keeps it running, or adopts one that a killed Docket left running
 * there. Resolves when it answers. Rejects with `DataDirInUse` when another Docket uses the folder, and with
 * `DataDirUnusable` or `RedisStartFailed` when an operator has to act.
 */
export async function startEmbeddedRedis({
  dataDir,
  log,
  searchPath,
  cancelled,
  free = freeBytes,
  ...options
}: EmbeddedRedisOptions) {
  const timing = { ...defaultTiming, ...options.timing };
  const program = findServer(searchPath);
  const place = prepareDataDir(dataDir, free);
  const release = await lockDataDir(place.folder, dataDir, timing.lockTimeoutMs);
  const { socketPath } = place;
  const diskProblem = watchDiskSpace(place.folder, free, log);
  const stopping = new AbortController();
  const listeners: ((reason: string) => void)[] = [];
  let current: Server | undefined;
  let stopped: Promise<void> | undefined;

  const cancel = () => stopping.abort();
  cancelled?.addEventListener('abort', cancel);
  const first = await adoptOrSpawn().catch((error: unknown) => {
    release();
    throw error;
  });
  cancelled?.removeEventListener('abort', cancel);
  const watching = supervise(first);
  void rewriteDaily();
  return {
    socketPath,
    /** Returns the server's process id; `undefined` when it was found running in another container. */
    pid: (): number | undefined => current?.pid,
    /** Returns that its disk is full, while it is. */
    diskProblem,
    /** Calls `listener` each time Redis ended by itself, also while it was starting; it is started again. */
    onExit: (listener: (reason: string) => void) => void listeners.push(listener),
    /** Shuts Redis down, waits for its end, and releases the data folder. */
    stop() {
      stopped ??= endInOrder();
      return stopped;
    },
  };

  async function endInOrder(): Promise<void> {
    stopping.abort();
    if (current) await shutDown(current);
    await watching;
    release();
  }

  async function supervise(first: Server): Promise<void> {
    let server = first;
    let pauseMs = timing.restartMinMs;
    for (;;) {
      const upSince = performance.now();
      const reason = await server.ended;
      if (stopping.signal.aborted) return;
      const said = logTail(place);
      log.warn({ pid: server.pid, reason, said }, 'Redis ended by itself and is started again');
      notifyExit(reason);
      if (performance.now() - upSince >= timing.stableMs) pauseMs = timing.restartMinMs;

      let next: Server | undefined;
      while (!next) {
        await pause(pauseMs);
        if (stopping.signal.aborted) return;
        pauseMs = Math.min(pauseMs * 2, timing.restartMaxMs);
        if (diskProblem() !== undefined) continue;
        next = await adoptOrSpawn().catch((error: unknown) => {
          if (stopping.signal.aborted) return undefined;
          log.error({ err: error }, 'Redis could not be started again');
          notifyExit(String(error));
          return undefined;
        });
      }
      server = next;
      // Stopped while it was starting: `stop` shut the previous one down.
      if (stopping.signal.aborted) await shutDown(server);
    }
  }

  /** Drops from the disk what was deleted: until then the append-only file has every word that was written to it. */
  async function rewriteDaily(): Promise<void> {
    await pause(timing.rewriteFirstMs);
    while (!stopping.signal.aborted) {
      const answer = await sendCommand(socketPath, 'BGREWRITEAOF', timing.pingMs);
      const isBegun = answer.is === 'reply' && answer.text.startsWith('+');
      if (!isBegun)
        log.warn({ answer }, "Redis' file was not rewritten; what was deleted stays in it for now");
      await pause(isBegun ? timing.rewriteEveryMs : timing.rewriteFirstMs);
    }
  }

  function notifyExit(reason: string): void {
    for (const listener of listeners) listener(reason);
  }

  async function adoptOrSpawn(): Promise<Server> {
    return (await adopt()) ?? (await spawn());
  }

  /** Returns the server that runs on our folder already, if there is one: two on one folder would corrupt the data. */
  async function adopt(): Promise<Server | undefined> {
    const state = await untilReady(() => true);
    const pid = leftoverPid(place);
    if (state === 'ready') {
      current = { pid, ended: waitForAdoptedExit(pid) };
      log.info({ pid, socketPath }, 'Found Redis running and use it');
      return current;
    }
    if (state === 'silent') {
      throw new RedisStartFailed(
        `An earlier Redis (process ${pid ?? 'unknown'}) still runs on ${place.folder} and does not answer. ` +
          `End it (kill -9 ${pid ?? 'its process'}; confirmed writes are on disk), then start again.`,
      );
    }
    // It runs without its socket: still starting, ending, or somebody removed the file.
    if (pid !== undefined) await shutDown({ pid, ended: waitForAdoptedExit(pid) });
    return undefined;
  }

  async function spawn(): Promise<Server> {
    const startedAt = performance.now();
    const reportTruncation = prepareData(program, place, log);
    const child = spawnServer(program, place);
    let reason: string | undefined;
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
      child.once('error', (error) => resolve(error.message));
    });
    void ended.then((text) => {
      reason = text;
    });
    const server = { pid: child.pid, ended };
    current = server;

    const state = await untilReady(() => reason !== undefined);
    if (state === 'ready') {
      const ms = Math.round(performance.now() - startedAt);
      log.info({ pid: child.pid, socketPath, ms }, 'Started Redis');
      reportTruncation();
      return server;
    }
    if (state === 'silent') child.kill('SIGKILL');
    const end = await ended;
    const problem =
      state === 'silent'
        ? `Redis (${program}) did not answer in time.`
        : ((await describeDamage(program, place.folder)) ??
          `Redis (${program}) exited immediately (${end}).`);
    throw new RedisStartFailed(`${problem}\nIts last log lines, in ${place.logFile}:\n${logTail(place)}`);
  }

  /** Pings the server until it answers, has ended, or was silent for too long. */
  async function untilReady(hasExited: () => boolean): Promise<'ready' | 'ended' | 'silent'> {
    const { startLimitMs, pingMs, checkIntervalMs } = timing;
    let endsAt = performance.now() + startLimitMs;
    for (;;) {
      const hadExited = hasExited();
      const answer = await sendCommand(socketPath, 'PING', pingMs);
      if (answer.is === 'reply' && answer.text === '+PONG') return 'ready';
      if (answer.is === 'reply') endsAt = performance.now() + startLimitMs;
      if (answer.is === 'absent' && hadExited) return 'ended';
      if (performance.now() >= endsAt || stopping.signal.aborted) return 'silent';
      await sleep(checkIntervalMs);
    }
  }

  /** Waits for the end of a server that is not our child: when a connection to it ends, checks whether it still runs. */
  async function waitForAdoptedExit(pid: number | undefined): Promise<string> {
    for (;;) {
      await connectionEnd(socketPath);
      const lives =
        pid === undefined
          ? (await sendCommand(socketPath, 'PING', timing.pingMs)).is !== 'absent'
          : isOurServer(pid, place);
      if (!lives) return 'unknown: it was started by an earlier Docket';
      await sleep(timing.checkIntervalMs, undefined, { ref: false });
    }
  }

  async function shutDown(server: Server): Promise<void> {
    const { stopLimitMs } = timing;
    const shutdownSent = sendCommand(socketPath, 'SHUTDOWN', stopLimitMs).then((answer) => {
      // When nobody listens, or it refuses, the signal asks for the same.
      if (answer.is !== 'silent') sendSignal(server, 'SIGTERM');
    });
    if (await endsWithin(server, stopLimitMs)) return;
    await shutdownSent;
    sendSignal(server, 'SIGKILL');
    if (await endsWithin(server, stopLimitMs)) return;
    log.error({ pid: server.pid }, 'Redis does not end, not even when killed');
  }

  function sendSignal({ pid }: Server, signal: NodeJS.Signals): void {
    if (pid === undefined || !isOurServer(pid, place)) return;
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself in the meantime.
    }
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
  }
}

import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../runtime/log.ts';
import { OperatorError } from '../../runtime/operator-error.ts';
import {
  findServer,
  isOurServer,
  leftoverPid,
  lockDataDir,
  logTail,
  prepareDataDir,
  sendCommand,
  spawnServer,
  watchDiskSpace,
} from './redis-server.ts';

/** The durations of the embedded Redis, in milliseconds. */
const defaultTiming = {
  /** The longest a starting Redis may leave pings without a reply; a "loading" reply counts. */
  startLimitMs: 10_000,
  /** The longest to wait for the answer to one PING. */
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

export type EmbeddedRedis = Awaited<ReturnType<typeof startEmbeddedRedis>>;

/** A server that this process started. */
interface Server {
  child: ChildProcess;
  /** Resolves with the reason when the process has ended. */
  ended: Promise<string>;
}

/**
 * Starts Docket's own Redis on a data folder and keeps it running. It first stops a Redis that a killed Docket left
 * there. Resolves when Redis answers. Rejects with `OperatorError` if another Docket uses the folder, or
 * Redis cannot start.
 */
export async function startEmbeddedRedis({
  dataDir,
  log,
  searchPath,
  cancelled,
  ...options
}: EmbeddedRedisOptions) {
  const timing = { ...defaultTiming, ...options.timing };
  const program = findServer(searchPath);
  const place = prepareDataDir(dataDir);
  const release = lockDataDir(place.folder, dataDir, timing.lockTimeoutMs);
  const { socketPath } = place;
  const diskProblem = watchDiskSpace(place.folder, log);
  const stopping = new AbortController();
  let current: Server | undefined;
  let stopped: Promise<void> | undefined;

  const cancel = () => stopping.abort();
  cancelled?.addEventListener('abort', cancel);
  const first = await start().catch((error: unknown) => {
    release();
    throw error;
  });
  cancelled?.removeEventListener('abort', cancel);
  const watching = supervise(first);
  void rewriteDaily();
  return {
    socketPath,
    /** Returns the problem of a full disk, while it lasts. */
    diskProblem,
    /** Shuts Redis down, waits for its end, and releases the data folder. */
    stop() {
      stopped ??= endInOrder();
      return stopped;
    },
  };

  async function endInOrder(): Promise<void> {
    stopping.abort();
    // Waits for its end, even if nothing else keeps this process running.
    current?.child.ref();
    if (current?.child.pid !== undefined) await shutDown(current.child.pid);
    await watching;
    release();
  }

  async function supervise(first: Server): Promise<void> {
    let server: Server | undefined = first;
    for (;;) {
      const reason = await server?.ended;
      if (stopping.signal.aborted) return;
      const facts = { pid: server?.child.pid, reason, disk: diskProblem(), said: logTail(place) };
      if (server !== undefined) log.warn(facts, 'Redis ended by itself and is started again');
      await pause(timing.restartMs);
      if (stopping.signal.aborted) return;
      server = await start().catch((error: unknown) => {
        if (!stopping.signal.aborted) log.error({ err: error }, 'Redis could not be started again');
        return undefined;
      });
      // Stopped during the start: `stop` shut the previous one down.
      if (stopping.signal.aborted && server?.child.pid !== undefined) await shutDown(server.child.pid);
    }
  }

  /** Removes deleted data from the disk: until a rewrite the append-only file keeps every word ever written. */
  async function rewriteDaily(): Promise<void> {
    await pause(timing.rewriteFirstMs);
    while (!stopping.signal.aborted) {
      const answer = await sendCommand(socketPath, 'BGREWRITEAOF', timing.pingMs);
      const isBegun = answer?.startsWith('+') ?? false;
      if (!isBegun)
        log.warn({ answer }, "Redis' file was not rewritten; what was deleted stays in it for now");
      await pause(isBegun ? timing.rewriteEveryMs : timing.rewriteFirstMs);
    }
  }

  async function start(): Promise<Server> {
    // Two on one folder would corrupt the data.
    const leftover = leftoverPid(place);
    if (leftover !== undefined && !(await shutDown(leftover)))
      throw new OperatorError(
        `An earlier Redis (process ${leftover}) still runs on ${place.folder}, and does not end when it is killed. Check its disk.`,
      );
    if ((await sendCommand(socketPath, 'PING', timing.pingMs)) !== undefined)
      throw new OperatorError(
        `Another Redis answers at ${socketPath}, perhaps in another container. End it, then start again.`,
      );
    const child = spawnServer(program, place);
    let reason: string | undefined;
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
      child.once('error', (error) => resolve(error.message));
    });
    void ended.then((text) => {
      reason = text;
    });
    current = { child, ended };
    if (await answers(() => reason !== undefined)) {
      log.info({ pid: child.pid, socketPath }, 'Started Redis');
      return current;
    }
    const problem =
      reason === undefined
        ? `Redis (${program}) did not answer in time.`
        : `Redis (${program}) exited immediately (${reason}).`;
    child.ref();
    child.kill('SIGKILL');
    await ended;
    throw new OperatorError(`${problem}\nIts last log lines, in ${place.logFile}:\n${logTail(place)}`);
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

  /** Ends a server, in order if possible. Returns whether it is gone. */
  async function shutDown(pid: number): Promise<boolean> {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      try {
        if (isOurServer(pid, place)) process.kill(pid, signal);
      } catch {
        // It ended by itself in the meantime.
      }
      const endsAt = performance.now() + timing.stopLimitMs;
      while (isOurServer(pid, place) && performance.now() < endsAt) await sleep(timing.checkIntervalMs);
    }
    const isGone = !isOurServer(pid, place);
    if (!isGone) log.error({ pid }, 'Redis does not end, not even when killed');
    return isGone;
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
  }
}

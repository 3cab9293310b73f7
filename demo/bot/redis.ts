import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findServer } from '../../src/store/embedded-redis.ts';

const START_LIMIT_MS = 10_000;
const RECHECK_MS = 20;

/** The demo's own Redis, which can be taken away and come back with all that it had acknowledged. */
export interface DemoRedis {
  /** With its password. */
  readonly url: string;
  readonly up: boolean;
  /** A connection for the demo itself; it fails at once while Redis is away. */
  readonly client: Redis;
  /** Resolves when it answers. */
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** For good. */
  close(): Promise<void>;
}

/** Returns a Redis that keeps its data and its log in `folder`, not started yet. `onChange` runs when it comes or goes. */
export function createRedis(parts: {
  folder: string;
  port: number;
  searchPath: string | undefined;
  onChange: () => void;
}): DemoRedis {
  const { folder, port, onChange } = parts;
  const password = randomUUID();
  const url = `redis://:${password}@127.0.0.1:${port}`;
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => RECHECK_MS * 10,
  });
  // Each of its commands says so, too.
  client.on('error', () => {});
  let child: ChildProcess | undefined;
  let up = false;

  function launch(): ChildProcess {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const log = openSync(join(folder, 'redis.log'), 'a', 0o600);
    try {
      // Detached, so that Ctrl-C reaches only the demo, which ends it in order. The password stays out of `ps`.
      const spawned = spawn(findServer(parts.searchPath ?? ''), ['-'], {
        cwd: folder,
        detached: true,
        stdio: ['pipe', log, log],
      });
      spawned.stdin?.on('error', () => {});
      spawned.stdin?.end(
        [
          'bind 127.0.0.1',
          `port ${port}`,
          `requirepass ${password}`,
          'save ""',
          'appendonly yes',
          'appendfsync always',
          'maxmemory-policy noeviction',
          'hz 100',
        ].join('\n'),
      );
      spawned.on('error', () => {});
      spawned.once('exit', () => {
        if (child !== spawned) return;
        up = false;
        onChange();
      });
      return spawned;
    } finally {
      closeSync(log);
    }
  }

  async function kill(): Promise<void> {
    if (child === undefined || hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  return {
    url,
    client,
    get up() {
      return up;
    },
    async start() {
      if (child !== undefined && !hasEnded(child)) return;
      child = launch();
      const endsAt = performance.now() + START_LIMIT_MS;
      for (;;) {
        if (client.status === 'wait' || client.status === 'end') await client.connect().catch(() => {});
        const answer = await client.ping().catch(() => undefined);
        if (answer === 'PONG') break;
        if (hasEnded(child) || performance.now() > endsAt)
          throw new Error(`The demo's Redis did not start; its log is ${join(folder, 'redis.log')}.`);
        await pause(RECHECK_MS);
      }
      up = true;
      onChange();
    },
    kill,
    async close() {
      client.disconnect();
      await kill();
    },
  };
}

const hasEnded = ({ exitCode, signalCode, pid }: ChildProcess) =>
  exitCode !== null || signalCode !== null || pid === undefined;

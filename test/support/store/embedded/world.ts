import { readFileSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach } from 'vitest';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../../../src/store/embedded/embedded-redis.ts';

/** What was logged, as it was: what is looked for stands in the text and in the facts. */
export interface Logged {
  level: 'info' | 'warn' | 'error';
  facts: Record<string, unknown>;
  text: string;
}

/** A data folder for each test, in a folder of its own that is open to others, and Redis on it, stopped at the end. */
export function onDataDirs() {
  const started: EmbeddedRedis[] = [];
  const clients: Redis[] = [];
  const logged: Logged[] = [];
  const note = (level: Logged['level']) => (facts: object, text: string) =>
    void logged.push({ level, facts: { ...facts }, text });
  const world = {
    base: '',
    dataDir: '',
    logged,
    async start(options: Partial<Parameters<typeof startEmbeddedRedis>[0]> = {}): Promise<Redis> {
      const redis = await startEmbeddedRedis({
        dataDir: world.dataDir,
        log: { info: note('info'), warn: note('warn'), error: note('error') },
        searchPath: process.env.PATH ?? '',
        timing: { restartMinMs: 5, restartMaxMs: 20, checkIntervalMs: 2, lockTimeoutMs: 100 },
        ...options,
      });
      started.push(redis);
      const client = new Redis({
        path: redis.socketPath,
        retryStrategy: () => 5,
        maxRetriesPerRequest: null,
      });
      client.on('error', () => {});
      clients.push(client);
      return client;
    },
    async stop() {
      for (const client of clients.splice(0)) client.disconnect();
      for (const redis of started.splice(0)) await redis.stop();
    },
    /** What a start that is refused says, with the folder of the test as `…`. */
    async refusal(options: Partial<Parameters<typeof startEmbeddedRedis>[0]> = {}): Promise<string> {
      const error = await world.start(options).then(
        () => new Error('it started'),
        (reason: unknown) => reason,
      );
      return String(error).replaceAll(world.base, '…');
    },
    file: (...path: string[]) => join(world.dataDir, 'redis', ...path),
    read: (...path: string[]) => readFileSync(world.file(...path)),
  };
  beforeEach(async () => {
    world.base = realpathSync(await mkdtemp(join(tmpdir(), 'docket-data-')));
    world.dataDir = join(world.base, 'data');
    logged.length = 0;
  });
  afterEach(async () => {
    await world.stop();
    await rm(world.base, { recursive: true });
  });
  return world;
}

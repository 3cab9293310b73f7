import { spawnSync } from 'node:child_process';
import { redisAddressOf, type Settings } from '../config/settings.ts';
import { DataDirUnusable, freeBytes, inspectDataDir } from '../store/embedded/data-dir.ts';
import { findServer, RedisMissing, sendCommand } from '../store/embedded/redis-server.ts';
import { setTagName } from '../store/keys.ts';
import { type RedisAddress, tagNameOf } from '../store/redis/address.ts';
import { askNode, type NodeServer } from '../store/redis/ask-node.ts';
import { inspectRedis } from '../store/redis/check.ts';
import { problemsOf, type RedisProblem } from '../store/redis/problems.ts';

/** What is known of Redis. */
export interface RedisAnswer {
  /** Whether it is Docket's own, and then whether it runs; `silent` when it runs and does not answer. */
  own: false | 'running' | 'stopped' | 'silent';
  problems: readonly RedisProblem[];
  version: string | undefined;
  /** The middle of several answers. */
  latencyMs: number | undefined;
  /** How many replicas follow the primary; `undefined` where Redis does not say. */
  replicas?: number | undefined;
  /** Of Docket's own, when it does not run: the program that would be started, or why there is none. */
  program?: string | undefined;
  missing?: string | undefined;
}

export interface RedisParts {
  monotonicMs: () => number;
  /** Folders in which redis-server is searched for, as in PATH. */
  searchPath: string;
}

const ANSWER_MS = 1000;

/** Looks at the Redis of the settings without writing. Docket's own is only asked when it runs, and never started. */
export async function probeRedis(settings: Settings, parts: RedisParts): Promise<RedisAnswer> {
  const external = redisAddressOf(settings);
  if (external !== undefined) {
    setTagName(tagNameOf(external));
    return { own: false, ...(await inspect(external, parts)) };
  }
  const socketPath = findSocket(settings.dataDir);
  const state = socketPath === undefined ? 'absent' : (await sendCommand(socketPath, 'PING', ANSWER_MS)).is;
  if (socketPath !== undefined && state === 'reply')
    return { own: 'running', ...(await inspect({ socketPath }, parts)) };
  return { own: state === 'silent' ? 'silent' : 'stopped', latencyMs: undefined, ...inspectProgram(parts) };
}

/** Returns nothing for a folder that cannot be used: its own line says so. */
function findSocket(dataDir: string): string | undefined {
  try {
    return inspectDataDir(dataDir, freeBytes);
  } catch (error) {
    if (error instanceof DataDirUnusable) return undefined;
    throw error;
  }
}

function inspectProgram({ searchPath }: RedisParts): Omit<RedisAnswer, 'own' | 'latencyMs'> {
  try {
    const program = findServer(searchPath);
    const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 2000 });
    const version = /\bv=([\d.]+)/.exec(stdout ?? '')?.[1];
    const info = { redis_version: version ?? '' };
    const problems = problemsOf({ info, config: undefined }).filter(({ kind }) => kind === 'too-old');
    return { program, version, problems };
  } catch (error) {
    if (error instanceof RedisMissing) return { missing: error.message, version: undefined, problems: [] };
    throw error;
  }
}

async function inspect(
  address: RedisAddress,
  { monotonicMs }: RedisParts,
): Promise<Omit<RedisAnswer, 'own'>> {
  const { problems, server, facts } = await inspectRedis(address);
  const { redis_version, valkey_version, connected_slaves } = facts?.info ?? {};
  const known = {
    problems,
    version: valkey_version ?? redis_version,
    replicas: connected_slaves === undefined ? undefined : Number(connected_slaves),
  };
  // `problems` says why it cannot be asked.
  if (server === undefined || facts === undefined) return { ...known, latencyMs: undefined };
  return { ...known, latencyMs: await measureLatency(server, monotonicMs).catch(() => undefined) };
}

/** Returns the middle of several answers. */
function measureLatency(server: NodeServer, monotonicMs: () => number): Promise<number | undefined> {
  return askNode(server, async (redis) => {
    const times: number[] = [];
    for (let asked = 0; asked < 5; asked += 1) {
      const askedMs = monotonicMs();
      await redis.ping();
      times.push(monotonicMs() - askedMs);
    }
    return times.sort((a, b) => a - b)[2];
  });
}

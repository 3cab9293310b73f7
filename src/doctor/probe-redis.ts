import { redisAddressOf, type Settings } from '../config/settings.ts';
import { DataDirUnusable, inspectDataDir } from '../store/embedded/data-dir.ts';
import { findServer, RedisMissing, sendCommand } from '../store/embedded/redis-server.ts';
import { setTagName } from '../store/keys.ts';
import { tagNameOf } from '../store/redis/address.ts';
import { type CheckedRedis, checkRedis } from '../store/redis/check.ts';

/** What is known of Redis. */
export interface RedisAnswer extends CheckedRedis {
  /** Whether it is Docket's own, and then whether it runs. */
  own: false | 'running' | 'stopped';
  /** Of Docket's own, when it does not run: the program that would be started, or why there is none. */
  program?: string;
  missing?: string;
}

export interface RedisParts {
  /** Folders in which redis-server is searched for, as in PATH. */
  searchPath: string;
}

const ANSWER_MS = 1000;

/** Looks at the Redis of the settings without writing. Docket's own is only asked when it runs, and never started. */
export async function probeRedis(settings: Settings, { searchPath }: RedisParts): Promise<RedisAnswer> {
  const external = redisAddressOf(settings);
  if (external !== undefined) {
    setTagName(tagNameOf(external));
    return { own: false, ...(await checkRedis(external)) };
  }
  const socketPath = findSocket(settings.dataDir);
  if (socketPath !== undefined && (await sendCommand(socketPath, 'PING', ANSWER_MS)) !== undefined)
    return { own: 'running', ...(await checkRedis({ socketPath })) };
  return { own: 'stopped', problems: [], ...findProgram(searchPath) };
}

/** Returns nothing for a folder that cannot be used: its own line says so. */
function findSocket(dataDir: string): string | undefined {
  try {
    return inspectDataDir(dataDir);
  } catch (error) {
    if (error instanceof DataDirUnusable) return undefined;
    throw error;
  }
}

function findProgram(searchPath: string): Pick<RedisAnswer, 'program' | 'missing'> {
  try {
    return { program: findServer(searchPath) };
  } catch (error) {
    if (error instanceof RedisMissing) return { missing: error.message };
    throw error;
  }
}

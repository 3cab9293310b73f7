import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readEnvFile } from '../config/env-file.ts';
import { readPartialSettings, redisAddressOf } from '../config/settings.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import { defaultTiming } from '../runtime/timing.ts';
import { startEmbeddedRedis } from '../store/embedded/embedded-redis.ts';
import { keys, setTagName } from '../store/keys.ts';
import { type RedisAddress, tagNameOf } from '../store/redis/address.ts';
import { connectForRequests } from '../store/redis/connections.ts';
import { checkSchema } from '../store/schema.ts';
import { closeOpenWork, type OpenWork, textOf } from './open-work.ts';

/** How long Redis may take to answer. */
const CONNECT_MS = 5000;

/** Closes the open work in the data of a stopped Docket, prints the counts, and ends the process. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    const settings = readSettings(env);
    const external = redisAddressOf(settings);
    const work = external ? await closeAt(external) : await closeEmbedded(settings.dataDir, env.PATH ?? '');
    process.stdout.write(textOf(work), () => process.exit(0));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    process.stderr.write(`${error.message}\n`, () => process.exit(1));
  }
}

function readSettings(env: NodeJS.ProcessEnv) {
  const file = readEnvFile(fileURLToPath(new URL('../../.env', import.meta.url)));
  if (file.problem !== undefined) throw new OperatorError(file.problem);
  return readPartialSettings({ ...file.values, ...env });
}

/** Docket's own Redis runs during this. If Docket is running, its folder is locked. */
async function closeEmbedded(dataDir: string, searchPath: string): Promise<OpenWork> {
  const log = { info() {}, warn() {}, error() {} };
  const redis = await startEmbeddedRedis({ dataDir, searchPath, log });
  try {
    return await closeAt({ socketPath: redis.socketPath });
  } finally {
    await redis.stop();
  }
}

async function closeAt(address: RedisAddress): Promise<OpenWork> {
  setTagName(tagNameOf(address));
  const redis = connectForRequests(address, defaultTiming, () => {});
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_MS) }).catch(() => {
      throw new OperatorError('Redis cannot be reached. Start it, and run this again.');
    });
    if ((await redis.exists(keys.schema())) === 0)
      throw new OperatorError('There are no data of Docket here. Put them back first, and run this again.');
    await checkSchema(redis);
    return await closeOpenWork(redis);
  } finally {
    redis.disconnect();
  }
}

if (import.meta.main) await main(process.env);

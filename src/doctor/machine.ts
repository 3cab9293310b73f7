import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { redisAddressOf, type Settings } from '../config/settings.ts';
import { listen, PortError } from '../server/http-server.ts';
import { DataDirUnusable, inspectDataDir } from '../store/embedded/data-dir.ts';
import { findServer, RedisMissing } from '../store/embedded/redis-server.ts';
import { setTagName } from '../store/keys.ts';
import { type RedisAddress, tagNameOf } from '../store/redis/address.ts';
import { checkRedis } from '../store/redis/check.ts';
import { type Line, ok, warning, wrong } from './lines.ts';

/** Checks the Redis of the settings, or whether Docket can start its own. Starts none, and writes nothing. */
export async function checkStorage(settings: Settings, searchPath: string): Promise<Line[]> {
  const address = redisAddressOf(settings);
  return address === undefined
    ? [checkOwnRedis(settings.dataDir, searchPath)]
    : await checkExternalRedis(address, settings.redisAllow);
}

async function checkExternalRedis(address: RedisAddress, allow: readonly string[]): Promise<Line[]> {
  setTagName(tagNameOf(address));
  const { problems, version } = await checkRedis(address);
  if (problems.length === 0)
    return [ok('Redis', `${version} answers. It keeps its data on disk, and never drops keys.`)];
  return problems.map(({ kind, text, allowance }) => {
    if (allowance !== undefined && allow.includes(allowance))
      return warning('Redis', `${text} REDIS_ALLOW accepts it.`);
    return kind === 'min-replicas' ? warning('Redis', text) : wrong('Redis', text);
  });
}

function checkOwnRedis(dataDir: string, searchPath: string): Line {
  try {
    inspectDataDir(dataDir);
    const program = findServer(searchPath);
    return ok(
      'Redis',
      `REDIS_URL is not set: Docket starts its own ${program}, with its data in ${resolve(dataDir)}.`,
    );
  } catch (error) {
    if (error instanceof DataDirUnusable || error instanceof RedisMissing)
      return wrong('Redis', error.message);
    throw error;
  }
}

/** Tries to listen on Docket's port. If Docket itself already does, all is well. */
export async function checkPort(settings: Settings, healthAddress: string): Promise<Line> {
  const name = settings.role === 'worker' ? 'HEALTH_PORT' : 'PORT';
  const port = settings.role === 'worker' ? settings.healthPort : settings.port;
  const server = createServer();
  try {
    await listen(server, name, port, settings.host);
    server.close();
    return ok(name, 'It is free.');
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const answer = await fetch(`http://${healthAddress}/healthz`, {
      signal: AbortSignal.timeout(1000),
    }).catch(() => undefined);
    return answer?.ok ? ok(name, 'Docket is running, and answers there.') : wrong(name, error.message);
  }
}

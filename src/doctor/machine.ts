import { createServer } from 'node:http';
import { type EnvFile, healthAddressOf } from '../config/env-file.ts';
import { redisAddressOf, type Settings } from '../config/settings.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { listen } from '../server/http-server.ts';
import { findServer, inspectDataDir } from '../store/embedded-redis.ts';
import { keys, setTagName } from '../store/keys.ts';
import { checkRedis, isAllowed } from '../store/redis/check.ts';
import { ANSWER_MS, connectForCheck, type RedisAddress, tagNameOf } from '../store/redis/connections.ts';
import { type Line, ok, warning, wrong } from './lines.ts';

export function judgeEnvFile({ problem, warning: flaw, text }: EnvFile): Line {
  if (problem !== undefined) return wrong('.env', problem);
  if (flaw !== undefined) return warning('.env', flaw);
  if (text === undefined) return ok('.env', 'There is none. npm run setup writes one.');
  return ok('.env', 'Its owner alone reads it.');
}

/** Checks the Redis of the settings, or whether Docket can start its own. Starts none. Leaves no data behind. */
export async function checkStorage(settings: Settings, searchPath: string): Promise<Line[]> {
  const address = redisAddressOf(settings);
  if (address === undefined) return [checkOwnRedis(settings.dataDir, searchPath)];
  setTagName(tagNameOf(address));
  const { problems, version } = await checkRedis(address);
  if (problems.length === 0) {
    const refused = await refusedWrite(address);
    if (refused !== undefined) return [wrong('Redis', refused)];
    return [
      ok('Redis', `${version} answers and takes a write. It keeps its data on disk, and never drops keys.`),
    ];
  }
  return problems.map((problem) => {
    if (isAllowed(problem, settings.redisAllow))
      return warning('Redis', `${problem.text} REDIS_ALLOW accepts it.`);
    return (problem.level === 'warn' ? warning : wrong)('Redis', problem.text);
  });
}

/** Makes one write that expires at once, since a full Redis still answers reads. Returns why it is refused, if it is. */
async function refusedWrite(address: RedisAddress): Promise<string | undefined> {
  const client = connectForCheck(address, () => {});
  try {
    await withTimeout(3 * ANSWER_MS, client.connect());
    await withTimeout(ANSWER_MS, client.set(keys.probe(), '1', 'PX', 1));
    return undefined;
  } catch (error) {
    const [code = 'no answer'] = /^[A-Z]{2,20}\b/.exec(error instanceof Error ? error.message : '') ?? [];
    return `Redis answers, but refuses a write (${code}). OOM is a full Redis, MISCONF a full disk, NOREPLICAS too few replicas, NOPERM a missing right: docs/scaling.md has the line that grants what Docket needs.`;
  } finally {
    client.disconnect();
  }
}

function checkOwnRedis(dataDir: string, searchPath: string): Line {
  try {
    inspectDataDir(dataDir);
    const program = findServer(searchPath);
    const text = `REDIS_URL is not set: Docket starts its own ${program}, with its data in ${dataDir}.`;
    return ok('Redis', text);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return wrong('Redis', error.message);
  }
}

/** Tries to listen on Docket's port, unless Docket itself does. */
export async function checkPort(settings: Settings, env: NodeJS.ProcessEnv): Promise<Line> {
  const name = settings.role === 'worker' ? 'HEALTH_PORT' : 'PORT';
  const health = `http://${healthAddressOf(env)}/healthz`;
  const answer = await fetch(health, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
  if (answer?.ok) return ok(name, 'Docket is running, and answers there.');
  const server = createServer();
  try {
    await listen(server, name, name === 'PORT' ? settings.port : settings.healthPort, settings.host);
    server.close();
    return ok(name, 'It is free.');
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return wrong(name, error.message);
  }
}

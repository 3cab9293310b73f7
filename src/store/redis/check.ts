import { connect } from 'node:net';
import { Redis, ReplyError } from 'ioredis';
import { within } from '../../runtime/within.ts';
import { type RedisAddress, serverOf } from './address.ts';
import { infoFields } from './primary-connector.ts';
import {
  embeddedRedisDown,
  noTls,
  problemOfError,
  problemsOf,
  type RedisFacts,
  type RedisProblem,
} from './problems.ts';

/** How long connecting, and each answer after it, may take. */
const ANSWER_MS = 1000;

/** Checks Redis over a new connection. Returns its problems; never rejects, and writes nothing. */
export async function checkRedis(address: RedisAddress): Promise<RedisProblem[]> {
  const server = serverOf(address);
  const redis = new Redis({
    ...server,
    lazyConnect: true,
    // `problemOfError` distinguishes a server that loads its data from one that forbids INFO.
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: ANSWER_MS,
  });
  const errors: Error[] = [];
  redis.on('error', (error: Error) => errors.push(error));
  try {
    await within(2 * ANSWER_MS, redis.connect());
    // Such as that of SELECT, after which ioredis goes on.
    if (errors[0]) throw errors[0];
    return problemsOf(await within(ANSWER_MS, loadFacts(redis)));
  } catch (error) {
    if ('socketPath' in address) return [embeddedRedisDown];
    const tls = 'tls' in server;
    const problem = problemOfError(errors[0] ?? error, tls);
    // A Redis without TLS does not answer a TLS handshake at all.
    if (tls && problem.kind === 'unreachable' && (await answersWithoutTls(server))) return [noTls];
    return [problem];
  } finally {
    redis.disconnect();
  }
}

async function loadFacts(redis: Redis): Promise<RedisFacts> {
  const [info, policy, appendonly, save] = await Promise.all([
    undefinedIfForbidden(redis.info()),
    readSetting(redis, 'maxmemory-policy'),
    readSetting(redis, 'appendonly'),
    readSetting(redis, 'save'),
  ]);
  const known = policy !== undefined && appendonly !== undefined && save !== undefined;
  return {
    info: info === undefined ? undefined : infoFields(info),
    config: known ? { policy, appendonly, save } : undefined,
  };
}

async function readSetting(redis: Redis, name: string): Promise<string | undefined> {
  const answer = await undefinedIfForbidden(redis.config('GET', name));
  return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined;
}

async function undefinedIfForbidden<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ReplyError) return undefined;
    throw error;
  }
}

/** Returns whether something answers as Redis does, without TLS. No secret is sent. */
function answersWithoutTls({ host = '', port = 0 }: { host?: string; port?: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => socket.write('PING\r\n'));
    const finish = (answers: boolean) => {
      socket.destroy();
      resolve(answers);
    };
    socket.setTimeout(ANSWER_MS, () => finish(false));
    socket.once('data', (data: Buffer) => finish(/^(\+PONG|-[A-Z]+ )/.test(data.toString('latin1', 0, 40))));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
  });
}

import { connect } from 'node:net';
import { type Redis, ReplyError } from 'ioredis';
import { within } from '../../runtime/within.ts';
import { type RedisAddress, readGroupAddress } from './address.ts';
import { ANSWER_MS, askNode, type NodeServer } from './ask-node.ts';
import { findPrimary } from './find-primary.ts';
import { infoFields } from './primary-connector.ts';
import {
  embeddedProblem,
  noTls,
  problemOfError,
  problemsOf,
  type RedisFacts,
  type RedisProblem,
} from './problems.ts';
import { findLackingRights } from './rights.ts';

/** What a check found. */
export interface CheckedRedis {
  problems: RedisProblem[];
  /** The server that has Docket's data; `undefined` when it cannot be found. */
  server?: NodeServer;
  facts?: RedisFacts;
}

/** Checks Redis over new connections. Returns its problems; never rejects, and writes nothing. */
export async function checkRedis(address: RedisAddress): Promise<RedisProblem[]> {
  return (await inspectRedis(address)).problems;
}

/** The same, with what was found. */
export async function inspectRedis(address: RedisAddress): Promise<CheckedRedis> {
  const found = await findPrimary(address);
  if ('problem' in found) return { problems: [await withoutTls(found.problem, address)] };
  const { server } = found;
  try {
    const facts = await askNode(server, (redis) => within(ANSWER_MS, loadFacts(redis)));
    return { server, facts, problems: problemsOf(facts, 'url' in address ? address.url : '') };
  } catch (error) {
    if ('socketPath' in address) return { server, problems: [embeddedProblem(error)] };
    const tls = 'tls' in server;
    const problem = problemOfError(error, tls);
    // A Redis without TLS does not answer a TLS handshake at all.
    if (tls && problem.kind === 'unreachable' && (await answersWithoutTls(server)))
      return { server, problems: [noTls] };
    return { server, problems: [problem] };
  }
}

/** Returns `noTls` where none of the servers of a group answers a TLS handshake, and one speaks without. */
async function withoutTls(problem: RedisProblem, address: RedisAddress): Promise<RedisProblem> {
  const group = 'url' in address ? readGroupAddress(address.url) : undefined;
  if (!group?.tls || problem.kind !== 'unreachable') return problem;
  const answers = await Promise.all(group.nodes.map(answersWithoutTls));
  return answers.includes(true) ? noTls : problem;
}

async function loadFacts(redis: Redis): Promise<RedisFacts> {
  const [info, policy, appendonly, save] = await Promise.all([
    undefinedIfForbidden(redis.info()),
    readSetting(redis, 'maxmemory-policy'),
    readSetting(redis, 'appendonly'),
    readSetting(redis, 'save'),
  ]);
  const lacking = await findLackingRights(redis);
  const known = policy !== undefined && appendonly !== undefined && save !== undefined;
  return {
    info: info === undefined ? undefined : infoFields(info),
    lacking,
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
function answersWithoutTls({
  host = '',
  port = 0,
}: {
  host?: string | undefined;
  port?: number;
}): Promise<boolean> {
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

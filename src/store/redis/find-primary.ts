import { within } from '../../runtime/within.ts';
import {
  credentialsOf,
  type GroupAddress,
  type RedisAddress,
  readGroupAddress,
  readSentinelPath,
  sentinelCredentialsOf,
  serverOf,
} from './address.ts';
import { ANSWER_MS, askNode, type NodeServer } from './ask-node.ts';
import { slotOfKeys } from './primary-of.ts';
import {
  noSlots,
  notCluster,
  notSentinel,
  problemOfError,
  problemOfSentinel,
  type RedisProblem,
  unknownName,
} from './problems.ts';

/** The server that has Docket's data, or why it cannot be told. */
export type FoundPrimary = { server: NodeServer } | { problem: RedisProblem };

/** Finds the one server that has Docket's data, through sentinels or nodes of a cluster where the address names those. */
export async function findPrimary(address: RedisAddress): Promise<FoundPrimary> {
  const answers = await askAll(address);
  for (const answer of answers) if ('server' in answer) return answer;
  const problems = answers.flatMap((answer) => ('problem' in answer ? [answer.problem] : []));
  return { problem: problems.sort(byWeight)[0] ?? noSlots };
}

/** Returns all servers that are said to have Docket's data: several, while not all have heard of a failover. */
export async function findPrimaries(address: RedisAddress): Promise<NodeServer[]> {
  const answers = await askAll(address);
  const servers = answers.flatMap((answer) => ('server' in answer ? [answer.server] : []));
  return [...new Map(servers.map((server) => [JSON.stringify(server), server])).values()];
}

/** Problems that say more than another one: of several servers, what one of them answered counts first. */
const byWeight = (a: RedisProblem, b: RedisProblem) => Number(b.fatal) - Number(a.fatal);

/** Returns what each sentinel, or node of a cluster, answers; an address of one server is the answer. */
async function askAll(address: RedisAddress): Promise<FoundPrimary[]> {
  const group = 'url' in address ? readGroupAddress(address.url) : undefined;
  if (group === undefined) return [{ server: serverOf(address) }];
  return await Promise.all(
    group.kind === 'sentinel' ? askSentinels(group, address) : askCluster(group, address),
  );
}

function askSentinels(group: GroupAddress, address: RedisAddress): Promise<FoundPrimary>[] {
  const { name, db } = readSentinelPath(group.path) ?? { name: group.path, db: 0 };
  return group.nodes.map(async (sentinel) => {
    const server = { ...sentinel, ...sentinelCredentialsOf(group, address) };
    try {
      const found = await askNode(server, (redis) =>
        within(ANSWER_MS, redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)),
      );
      if (!Array.isArray(found)) return { problem: unknownName };
      const [host, port] = found.map(String);
      return { server: { host: host ?? '', port: Number(port), db, ...credentialsOf(group, address) } };
    } catch (error) {
      if (/^ERR unknown command/i.test(String((error as Error).message))) return { problem: notSentinel };
      return { problem: problemOfSentinel(problemOfError(error, group.tls)) };
    }
  });
}

function askCluster(group: GroupAddress, address: RedisAddress): Promise<FoundPrimary>[] {
  const credentials = credentialsOf(group, address);
  const slot = slotOfKeys();
  return group.nodes.map(async (node) => {
    try {
      const ranges = await askNode({ ...node, ...credentials }, (redis) =>
        within(ANSWER_MS, redis.cluster('SLOTS')),
      );
      const range = ranges.find(([from, to]) => from <= slot && slot <= to);
      if (range?.[2] === undefined) return { problem: noSlots };
      const [host, port] = range[2];
      // A node that was told no name of its own leaves it out.
      return { server: { host: host || node.host, port: Number(port), ...credentials } };
    } catch (error) {
      if (/cluster support disabled/.test(String((error as Error).message))) return { problem: notCluster };
      return { problem: problemOfError(error, group.tls) };
    }
  });
}

import { within } from '../../runtime/within.ts';
import {
  credentialsOf,
  type GroupAddress,
  type RedisAddress,
  type RedisNode,
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
  const group = 'url' in address ? readGroupAddress(address.url) : undefined;
  if (group === undefined) return { server: serverOf(address) };
  return group.kind === 'sentinel' ? await askSentinels(group, address) : await askCluster(group, address);
}

/** Problems that say more than another one: of several servers, what one of them answered counts first. */
const byWeight = (a: RedisProblem, b: RedisProblem) => Number(b.fatal) - Number(a.fatal);

type Answer = { node: RedisNode } | { problem: RedisProblem };

/** Returns the first answer that names a server, else the problem that says most. */
function choose(answers: Answer[], serverAt: (node: RedisNode) => NodeServer): FoundPrimary {
  for (const answer of answers) if ('node' in answer) return { server: serverAt(answer.node) };
  const problems = answers.flatMap((answer) => ('problem' in answer ? [answer.problem] : []));
  return { problem: problems.sort(byWeight)[0] ?? noSlots };
}

async function askSentinels(group: GroupAddress, address: RedisAddress): Promise<FoundPrimary> {
  const { name, db } = readSentinelPath(group.path) ?? { name: group.path, db: 0 };
  const answers = group.nodes.map(async (sentinel): Promise<Answer> => {
    const server = { ...sentinel, ...sentinelCredentialsOf(group, address) };
    try {
      const found = await askNode(server, (redis) =>
        within(ANSWER_MS, redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)),
      );
      if (!Array.isArray(found)) return { problem: unknownName };
      const [host, port] = found.map(String);
      return { node: { host: host ?? '', port: Number(port) } };
    } catch (error) {
      if (/^ERR unknown command/i.test(String((error as Error).message))) return { problem: notSentinel };
      return { problem: problemOfSentinel(problemOfError(error, group.tls)) };
    }
  });
  return choose(await Promise.all(answers), (node) => ({ ...node, db, ...credentialsOf(group, address) }));
}

async function askCluster(group: GroupAddress, address: RedisAddress): Promise<FoundPrimary> {
  const credentials = credentialsOf(group, address);
  const slot = slotOfKeys();
  const answers = group.nodes.map(async (node): Promise<Answer> => {
    try {
      const ranges = await askNode({ ...node, ...credentials }, (redis) =>
        within(ANSWER_MS, redis.cluster('SLOTS')),
      );
      const range = ranges.find(([from, to]) => from <= slot && slot <= to);
      if (range?.[2] === undefined) return { problem: noSlots };
      const [host, port] = range[2];
      // A node that was told no name of its own leaves it out.
      return { node: { host: host || node.host, port: Number(port) } };
    } catch (error) {
      if (/cluster support disabled/.test(String((error as Error).message))) return { problem: notCluster };
      return { problem: problemOfError(error, group.tls) };
    }
  });
  return choose(await Promise.all(answers), (node) => ({ ...node, ...credentials }));
}

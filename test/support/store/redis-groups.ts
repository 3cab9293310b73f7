import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { freePort } from '../../../demo/ports.ts';
import { withTimeout } from '../../../src/runtime/with-timeout.ts';
import { findServer } from '../../../src/store/embedded-redis.ts';
import { temporaryFolder } from '../flows/world.ts';
import { endsWithTests } from '../processes.ts';

/** How soon a node that is gone counts as such while the primary is to be replaced, and else: a busy machine is no reason. */
const DOWN_MS = 500;
const CALM_MS = 60_000;

/** One server of a group. */
export interface GroupNode {
  port: number;
  client: Redis;
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

/** Several servers that stand in for each other. */
export interface RedisGroup {
  url: string;
  nodes: GroupNode[];
  /** The node that has Docket's keys now. */
  primary(): Promise<GroupNode>;
  /** Strikes the primary, and returns it once another one has been promoted, which happens at no other time. */
  replacePrimary(strike: (primary: GroupNode) => unknown): Promise<GroupNode>;
  close(): Promise<void>;
}

export interface GroupOptions {
  /** Serves TLS alone, with the certificates of `makeCertificates`. */
  tls?: { ca: string; cert: string; key: string };
  /** More lines of the configuration of every node. */
  config?: string[];
}

const common = (options: GroupOptions, port: number, dir: string) => [
  ...(options.tls
    ? [
        ...['port 0', `tls-port ${port}`, 'tls-auth-clients no', 'tls-replication yes', 'tls-cluster yes'],
        ...[`tls-cert-file ${options.tls.cert}`, `tls-key-file ${options.tls.key}`],
        `tls-ca-cert-file ${options.tls.ca}`,
      ]
    : [`port ${port}`]),
  ...['bind 127.0.0.1', `dir ${dir}`, 'protected-mode no', 'logfile redis.log'],
];

async function startNode(
  lines: string[],
  port: number,
  file: string,
  options: GroupOptions,
  sentinel = false,
) {
  writeFileSync(file, [...lines, ''].join('\n'));
  const child: ChildProcess = endsWithTests(
    spawn(findServer(process.env.PATH ?? ''), [file, ...(sentinel ? ['--sentinel'] : [])], {
      stdio: 'ignore',
    }),
  );
  const client = new Redis({
    ...{ port, lazyConnect: true, maxRetriesPerRequest: null, retryStrategy: () => 20 },
    ...(options.tls && { tls: { rejectUnauthorized: false } }),
    enableReadyCheck: !sentinel,
  });
  client.on('error', () => {});
  const ended = once(child, 'exit').then(() => Promise.reject(new PortTaken()));
  await Promise.race([client.ping(), ended]).catch((error: unknown) => {
    client.disconnect();
    throw error;
  });
  ended.catch(() => {});
  return {
    port,
    client,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  };
}

/** A server ended at its start: another program has taken its port, or that of its cluster's bus, meanwhile. */
class PortTaken extends Error {
  override readonly name = 'PortTaken';
}

/** Starts servers anew, with other ports, where one was taken. */
async function withFreePorts<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === 10) throw error;
    }
  }
}

/** Waits until an answer is as it is to be. */
const answers = (ask: () => Promise<unknown> | undefined, pattern: RegExp) =>
  vi.waitUntil(async () => pattern.test(String(await ask())), { timeout: 20_000, interval: 50 });

const durable = [
  ...['appendonly yes', 'appendfsync always', 'save ""', 'maxmemory-policy noeviction'],
  ...['min-replicas-to-write 1', 'min-replicas-max-lag 10'],
  ...['repl-diskless-sync-delay 0', 'repl-ping-replica-period 1', 'hz 100'],
];

async function startNodes(
  count: number,
  options: GroupOptions,
  linesOf: (ports: number[], at: number) => string[],
) {
  const folder = temporaryFolder();
  const nodes = await withFreePorts(async () => {
    const ports: number[] = [];
    while (ports.length < count) {
      const port = await freePort();
      if (!ports.includes(port)) ports.push(port);
    }
    const starts = await Promise.allSettled(
      ports.map((port, at) => {
        const dir = join(folder.path, String(port));
        spawnSync('mkdir', ['-p', dir]);
        const lines = [
          ...common(options, port, dir),
          ...durable,
          ...linesOf(ports, at),
          ...(options.config ?? []),
        ];
        return startNode(lines, port, join(dir, 'redis.conf'), options);
      }),
    );
    const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const failed = starts.find((start) => start.status === 'rejected');
    if (failed === undefined) return started;
    await endAll(started);
    throw failed.reason;
  });
  return { folder, nodes };
}

async function endAll(nodes: GroupNode[]) {
  for (const { client } of nodes) client.disconnect();
  await Promise.all(nodes.map((node) => node.kill()));
}

/** Returns `replacePrimary` of a group; `noticeAfter` says how soon a node that is gone counts as such. */
const replacing =
  (primary: () => Promise<GroupNode>, noticeAfter: (ms: number) => Promise<unknown>) =>
  async (strike: (primary: GroupNode) => unknown): Promise<GroupNode> => {
    const before = await primary();
    await noticeAfter(DOWN_MS);
    await strike(before);
    await vi.waitUntil(async () => (await primary()).port !== before.port, { timeout: 30_000, interval: 50 });
    // One that is frozen hears of it when it goes on.
    await withTimeout(1000, noticeAfter(CALM_MS)).catch(() => {});
    return before;
  };

/** Starts a primary, two replicas of it and three sentinels. */
export async function startSentinels(
  options: GroupOptions = {},
): Promise<RedisGroup & { sentinels: GroupNode[] }> {
  const { folder, nodes } = await startNodes(3, options, (ports, at) =>
    at === 0 ? [] : [`replicaof 127.0.0.1 ${ports[0]}`],
  );
  const [first] = nodes;
  const synced = () => first?.client.info('replication');
  await answers(synced, /slave0:.*state=online[\s\S]*slave1:.*state=online/);
  const sentinels = await Promise.all(
    [1, 2, 3].map((number) =>
      withFreePorts(async () => {
        const port = await freePort();
        const dir = join(folder.path, `sentinel${number}`);
        spawnSync('mkdir', ['-p', dir]);
        const lines = [
          ...common(options, port, dir).filter((line) => !line.startsWith('protected')),
          `sentinel monitor docket-test 127.0.0.1 ${first?.port} 2`,
          `sentinel down-after-milliseconds docket-test ${CALM_MS}`,
          'sentinel failover-timeout docket-test 3000',
        ];
        return startNode(lines, port, join(dir, 'sentinel.conf'), options, true);
      }),
    ),
  );
  const known = () => sentinels[0]?.client.call('SENTINEL', 'CKQUORUM', 'docket-test').catch(String);
  await answers(known, /^OK 3/);
  const primary = async () => {
    const asked = sentinels[0]?.client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'docket-test');
    const [, port] = (await asked) as [string, string];
    const found = nodes.find((node) => node.port === Number(port));
    if (found === undefined) throw new Error(`nothing is at ${port}`);
    return found;
  };
  const noticeAfter = (ms: number) =>
    Promise.all(
      sentinels.map(({ client }) =>
        client.call('SENTINEL', 'SET', 'docket-test', 'down-after-milliseconds', ms),
      ),
    );
  const scheme = options.tls ? 'rediss' : 'redis';
  return {
    url: `${scheme}+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/docket-test`,
    nodes,
    sentinels,
    primary,
    replacePrimary: replacing(primary, noticeAfter),
    async close() {
      await endAll([...sentinels, ...nodes]);
      folder.remove();
    },
  };
}

/** Starts a cluster of three primaries, with as many replicas in all as are asked for. */
export async function startCluster(replicas = 0, options: GroupOptions = {}): Promise<RedisGroup> {
  const { folder, nodes } = await startNodes(3 + replicas, options, () => [
    ...['cluster-enabled yes', `cluster-node-timeout ${DOWN_MS}`, 'cluster-config-file nodes.conf'],
    ...['cluster-allow-replica-migration no', 'cluster-replica-validity-factor 0'],
  ]);
  const [first, ...others] = nodes as [GroupNode, ...GroupNode[]];
  await Promise.all(
    nodes.slice(0, 3).map(({ client }, at) => {
      const bounds = [0, 5461, 10_923, 16_384];
      return client.call('CLUSTER', 'ADDSLOTSRANGE', String(bounds[at]), String((bounds[at + 1] ?? 0) - 1));
    }),
  );
  await Promise.all(
    nodes.map(({ client }, at) => client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(at + 1))),
  );
  for (const { port } of others) await first.client.call('CLUSTER', 'MEET', '127.0.0.1', String(port));
  const slotOf = Number(await first.client.call('CLUSTER', 'KEYSLOT', '{docket}:x'));
  const mine = nodes[slotOf < 5461 ? 0 : slotOf < 10_923 ? 1 : 2];
  const id = String(await mine?.client.call('CLUSTER', 'MYID'));
  for (const { client } of nodes.slice(3)) {
    await answers(() => client.call('CLUSTER', 'NODES'), new RegExp(id));
    await client.call('CLUSTER', 'REPLICATE', id);
  }
  for (const { client } of nodes) await answers(() => client.call('CLUSTER', 'INFO'), /cluster_state:ok/);
  const followed = new RegExp(`(?:slave\\d+:.*state=online[\\s\\S]*){${replicas}}`);
  await answers(() => mine?.client.info('replication'), followed);
  const primary = async () => {
    for (const node of nodes) {
      if (node.client.status !== 'ready') continue;
      // One that is frozen never answers.
      const ranges = await withTimeout(500, node.client.cluster('SLOTS')).catch(() => []);
      const range = ranges.find(([from, to]) => from <= slotOf && slotOf <= to);
      const found = nodes.find(({ port }) => port === range?.[2]?.[1]);
      if (found !== undefined) return found;
    }
    throw new Error("no node has Docket's keys");
  };
  const noticeAfter = (ms: number) =>
    Promise.all(
      nodes
        .filter(({ client }) => client.status === 'ready')
        .map(({ client }) => client.config('SET', 'cluster-node-timeout', ms)),
    );
  await noticeAfter(CALM_MS);
  const scheme = options.tls ? 'rediss' : 'redis';
  return {
    url: `${scheme}+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    primary,
    replacePrimary: replacing(primary, noticeAfter),
    async close() {
      await endAll(nodes);
      folder.remove();
    },
  };
}

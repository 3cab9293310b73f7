import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ZodError } from 'zod';
import { readEnvFile } from '../config/env-file.ts';
import { readPartialSettings, redisAddressOf } from '../config/settings.ts';
import type { RestoreCounts } from '../jobs/engine/restore.ts';
import { restores } from '../jobs/index.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import { defaultTiming, retention } from '../runtime/timing.ts';
import { writeIntent } from '../store/call-once.ts';
import { startEmbeddedRedis } from '../store/embedded-redis.ts';
import { keys, setTagName } from '../store/keys.ts';
import type { RedisClient } from '../store/redis/client.ts';
import { askTime } from '../store/redis/clock.ts';
import { connectForRequests, type RedisAddress, tagNameOf } from '../store/redis/connections.ts';
import type { RunRef } from '../store/run-scripts.ts';
import { createRunStore } from '../store/runs.ts';
import { checkSchema } from '../store/schema.ts';

/** How long Redis may take to answer. */
const CONNECT_MS = 5000;

/** Closes the open work in the data of a stopped Docket, prints the counts, and ends the process. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    const file = readEnvFile(fileURLToPath(new URL('../../.env', import.meta.url)));
    if (file.problem !== undefined) throw new OperatorError(file.problem);
    const settings = readPartialSettings({ ...file.values, ...env });
    const external = redisAddressOf(settings);
    const work = external ? await closeAt(external) : await closeEmbedded(settings.dataDir, env.PATH ?? '');
    process.stdout.write(textOf(work), () => process.exit(0));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    process.stderr.write(`${error.message}\n`, () => process.exit(1));
  }
}

/** Docket's own Redis runs during this. If Docket is running, its folder is locked. */
async function closeEmbedded(dataDir: string, searchPath: string) {
  const log = { info() {}, warn() {}, error() {} };
  const redis = await startEmbeddedRedis({ dataDir, searchPath, log });
  try {
    return await closeAt({ socketPath: redis.socketPath });
  } finally {
    await redis.stop();
  }
}

async function closeAt(address: RedisAddress) {
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

const textOf = ({ exports, instructions, skipped }: Awaited<ReturnType<typeof closeOpenWork>>) =>
  `Exports whose start people are asked about: ${exports}
Instructions to the agent that people are asked about: ${instructions}
Digests, scheduled exports, instructions, replies and clicks that are skipped: ${skipped}
Start Docket now.
`;

/** An intent older than any call can be, so the result of its call is unknown. */
const LONG_AGO = { token: 'after-restore', sinceMs: 1 };

/**
 * Changes restored data of a stopped Docket: `restore.ts` of each feature says how. Work may have been done since the
 * backup, so only a person can repeat it. Safe to run twice.
 */
export async function closeOpenWork(redis: RedisClient): Promise<RestoreCounts> {
  const runs = createRunStore(redis);
  const nowMs = await askTime(redis);
  const work: RestoreCounts = { exports: 0, instructions: 0, skipped: 0 };

  /** Leaves out messages that Slack is known to have or to refuse. */
  async function search(sinceMs: number, messages: readonly string[]) {
    for (const key of messages.map(keys.message)) {
      const delivery = JSON.parse((await redis.hget(key, 'json')) ?? '{}');
      if (delivery.ts ?? delivery.refusal ?? delivery.postedAtMs) continue;
      await redis.hset(key, 'json', JSON.stringify({ ...delivery, postedAtMs: sinceMs }));
      if ((await redis.hlen(key)) === 1) await redis.pexpire(key, retention.runMs);
    }
  }

  async function close({ job, id }: RunRef, teams: readonly string[]) {
    const restore = restores.find((one) => one.job === job);
    const loaded = restore && (await ifFound(runs.loadWithInbox(id, restore.schema)));
    if (restore === undefined || loaded === undefined) return;
    await search(loaded.run.sinceMs, restore.keys(loaded.run));
    const closed = await restore.close?.(loaded, {
      runs,
      nowMs,
      teams,
      search,
      async doubt(run, step) {
        const call = (await writeIntent(redis, run, step, LONG_AGO)) ?? LONG_AGO;
        return !('result' in call);
      },
      async forget(run) {
        await runs.unlist(run, true);
        await redis.del(keys.run(run.id));
      },
    });
    for (const name of ['exports', 'instructions', 'skipped'] as const) work[name] += closed?.[name] ?? 0;
  }

  const all = await runs.active();
  const found = await Promise.all(all.map(({ id }) => redis.hget(keys.run(id), 'team')));
  const teams = [...new Set(found.flatMap((team) => team ?? []))];
  const isFirst = ({ job }: RunRef) => restores.some((one) => one.job === job && one.isFirst);
  for (const run of all.toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one))))
    await close(run, teams);
  for (const key of await redis.zrange(keys.undelivered(), '0', '-1'))
    await search(Number(await redis.hget(keys.message(key), 'behindSinceMs')), [key]);
  return work;
}

/** A damaged record is skipped, as Docket does. */
const ifFound = <T>(loading: Promise<T | undefined>): Promise<T | undefined> =>
  loading.catch((error: unknown) => {
    if (!(error instanceof ZodError)) throw error;
    return undefined;
  });

if (import.meta.main) await main(process.env);

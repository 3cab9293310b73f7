import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '../support/flows/reading.ts';
import { type BotOptions, createWorld, type World } from '../support/flows/world.ts';
import { fill, smallDisk } from '../support/small-disk.ts';

interface Outage {
  prepare?(): BotOptions | undefined;
  strike(world: World): Promise<unknown>;
  heal(world: World): Promise<unknown>;
  /** The lines at `warn` and above, each once. */
  lines: string[];
}

const configure = ({ redis }: World, name: string, value: string) => redis.client.config('SET', name, value);

function fullDisk(): Outage {
  let disk: string | undefined;
  let ballast: string;
  return {
    prepare() {
      disk = smallDisk();
      return disk === undefined ? undefined : { dataDir: disk };
    },
    async strike() {
      ballast = fill(String(disk));
    },
    heal: async () => rmSync(ballast),
    lines: ['50 disk'],
  };
}

const outages: Record<string, Outage> = {
  'Redis full': {
    strike: (world) => configure(world, 'maxmemory', '1'),
    heal: (world) => configure(world, 'maxmemory', '0'),
    lines: ['50 redis_full'],
  },
  'Redis read-only': {
    strike: ({ redis }) => redis.client.replicaof('127.0.0.1', '9'),
    heal: ({ redis }) => redis.client.replicaof('NO', 'ONE'),
    lines: ['50 redis_read-only'],
  },
  'Redis without replicas': {
    strike: (world) => configure(world, 'min-replicas-to-write', '1'),
    heal: (world) => configure(world, 'min-replicas-to-write', '0'),
    lines: ['50 redis_refuses-writes'],
  },
  "the disk of Docket's own Redis full": fullDisk(),
};

/** How long an outage lasts here: many sweeps, steps and restarts. */
const OUTAGE_MS = 3000;

test.for(Object.entries(outages))(
  'while an outage lasts, the log has a line when it begins, and one when it ends: %s',
  { timeout: 60_000 },
  async ([, { prepare = () => ({}), strike, heal, lines }], { skip }) => {
    const world = await createWorld();
    const prepared = prepare();
    if (prepared === undefined) return skip('no disk may be mounted here');
    const bot = await world.startBot({
      timing: { redisPingMs: 50, redisCheckMs: 1000, lockMs: 30_000 },
      ...prepared,
    });
    await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['42%']);

    const logged = () =>
      bot
        .output()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    const before = logged().length;
    const struckAtMs = performance.now();
    await strike(world);
    await expect.poll(() => performance.now() - struckAtMs, { timeout: 20_000 }).toBeGreaterThan(OUTAGE_MS);
    await heal(world);
    const isOver = ({ msg }: { msg: string }) => msg === 'a problem is over';
    await expect.poll(() => logged().slice(before).filter(isOver).length).toBeGreaterThan(0);

    const loud = logged()
      .slice(before)
      .filter(({ level }) => level >= 40)
      // A Redis that ends may lose a lock that it had not confirmed.
      .filter(({ err }) => !/^Lock mismatch/.test(err?.message));
    expect(
      loud.map(({ level, problem, msg, err }) => `${level} ${problem ?? `${msg} ${err?.message}`}`),
    ).toEqual(lines);
    await world.close();
  },
);

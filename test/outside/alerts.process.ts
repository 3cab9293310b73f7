import { expect, test, vi } from 'vitest';
import { until } from '../support/flows/reading.ts';
import { createWorld, type World } from '../support/flows/world.ts';
import { hasPrometheus, type Prometheus, startPrometheus } from '../support/prometheus.ts';

const away = { kind: 'answer', status: 503 } as const;

/** What befalls a Docket, the alerts that fire then, and those that may fire besides. */
const causes: Record<string, { make: (world: World) => Promise<void>; fires: string; mayFire?: string[] }> = {
  'Redis away': { make: ({ redis }) => redis.kill(), fires: 'DocketRedisAway', mayFire: ['DocketProblem'] },
  'platform away': {
    make: async ({ platform }) => void platform.wire.order(() => true, away, 10_000),
    fires: 'DocketProblem',
  },
  'a key rejected': {
    make: async ({ platform }) =>
      void platform.wire.order(() => true, { kind: 'answer', status: 401 }, 10_000),
    fires: 'DocketKeyRejected',
    mayFire: ['DocketProblem'],
  },
  'outbox lagging': {
    async make({ slack, platform }) {
      slack.wire.order(({ name }) => name.startsWith('chat.'), away, 10_000);
      platform.finish('docs.acme.com');
    },
    fires: 'DocketOutboxLagging',
    mayFire: ['DocketProblem'],
  },
};

/** Returns the alerts that fire once they pass the check. */
const settles = (prometheus: Prometheus, check: (firing: string[]) => void) =>
  vi.waitFor(
    async () => {
      const firing = await prometheus.firing();
      check(firing);
      return firing;
    },
    { timeout: 60_000, interval: 200 },
  );

/** A busy machine must not have the bot lose a lock, which is an alert, too. */
const timing = { lockMs: 30_000, problemAfterMs: 1000 };

async function worldWithExport() {
  const world = await createWorld();
  const { port } = await world.startBot({ timing });
  await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  await until(world, '#docs', ['42%']);
  return { world, prometheus: await startPrometheus([port]) };
}

type WorldWithExport = Awaited<ReturnType<typeof worldWithExport>>;

/** Returns the alerts that fire for a cause, except those that may fire besides. */
async function firingFor(
  { make, fires, mayFire = [] }: (typeof causes)[string],
  { world, prometheus }: WorldWithExport,
) {
  // Long enough for every alert to fire that would fire without a cause.
  await vi.waitFor(async () => expect(await prometheus.scrapes()).toBeGreaterThan(25), 60_000);
  expect(await prometheus.firing()).toEqual([]);
  await make(world);
  const firing = await settles(prometheus, (firing) => expect(firing).toContain(fires));
  await world.close();
  return firing.filter((name) => !mayFire.includes(name));
}

test.skipIf(!hasPrometheus)(
  'with the rules sixty times as fast: each cause fires its alert, and no other',
  async () => {
    const worlds: [(typeof causes)[string], WorldWithExport][] = [];
    for (const cause of Object.values(causes)) worlds.push([cause, await worldWithExport()]);
    // All at once: each waits for most of its time.
    const firing = await Promise.all(worlds.map(([cause, world]) => firingFor(cause, world)));
    expect(firing).toEqual(worlds.map(([{ fires }]) => [fires]));
  },
);

test.skipIf(!hasPrometheus)(
  'a queue that nobody works on fires, and is over once somebody does',
  async () => {
    const world = await createWorld();
    const { port } = await world.startBot({ process: true, env: { DOCKET_ROLE: 'web' } });
    const prometheus = await startPrometheus([port]);
    await vi.waitFor(async () => expect(await prometheus.scrapes()).toBeGreaterThan(25), 30_000);
    expect(await prometheus.firing()).toEqual([]);
    await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
    await settles(prometheus, (firing) => expect(firing).toEqual(['DocketQueueNotDraining']));
    await world.startBot({ timing, env: { DOCKET_ROLE: 'worker', HEALTH_PORT: '0' } });
    await settles(prometheus, (firing) => expect(firing).toEqual([]));
    await world.close();
  },
);

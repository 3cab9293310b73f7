import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messageWith, plain, until } from '../support/flows/reading.ts';
import { expectNothingTwice, tellStory } from '../support/flows/trouble.ts';
import { createWorld, type World } from '../support/flows/world.ts';

const REFUSAL =
  "I can't keep track of work right now, so I start nothing I might lose. Try again in a minute.";

const FULL =
  "My database is full, so I can't save your request, and nothing was started. Ask your Docket admins to make room.";

/** What can befall Redis, and how it comes back. */
const troubles = {
  dead: { strike: ({ redis }: World) => redis.kill(), heal: ({ redis }: World) => redis.start() },
  frozen: {
    strike: async ({ redis }: World) => redis.freeze(),
    heal: async ({ redis }: World) => redis.thaw(),
  },
  full: {
    strike: async ({ redis }: World) => void (await redis.client.config('SET', 'maxmemory', '1')),
    heal: async ({ redis }: World) => void (await redis.client.config('SET', 'maxmemory', '0')),
  },
};

describe.for([1, 2])('with %i bots', (bots) => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld();
    for (let started = 0; started < bots; started += 1) await world.startBot();
  });
  afterEach(() => world.close());

  const asks = () => world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  const told = (answer: Awaited<ReturnType<typeof asks>>) =>
    answer.ephemeral && plain(world.slack.read(answer.ephemeral));
  const readyz = async () => {
    const answer = await fetch(`http://127.0.0.1:${world.bots.at(-1)?.port}/readyz`);
    return { status: answer.status, body: (await answer.json()) as { parts: Record<string, string> } };
  };

  describe.for(Object.entries(troubles))('Redis %s', ([name, { strike, heal }]) => {
    test('refuses within 3 s, starts nothing later, and works within 2 s of Redis being back', async () => {
      await strike(world);
      const answers = await Promise.all([asks(), asks()]);
      for (const answer of answers) {
        expect(answer).toMatchObject({ ok: true });
        expect(answer.tookMs).toBeLessThan(3000);
        expect(told(answer)).toBe(name === 'full' ? FULL : REFUSAL);
      }
      const ready = await readyz();
      expect(ready.status).toBe(200);
      if (name !== 'full') expect(ready.body.parts.redis).toBe('down');

      const backAtMs = performance.now();
      await heal(world);
      await retryUntilTaken();
      expect(performance.now() - backAtMs).toBeLessThan(2000);

      await until(world, '#docs', ['42%']);
      world.platform.finish('docs.acme.com');
      await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
      expect(world.platform.starts).toHaveLength(1);
      expect(world.slack.messages).toHaveLength(3);
      // The one that is done waits for the end of its link.
      expect(await world.redis.client.zcard('{docket}:runs:active:export:T0ACME')).toBe(1);
    });

    /** Asks again and again, as a person would, until it is not refused. */
    async function retryUntilTaken() {
      for (;;) {
        const answer = await asks();
        expect(answer.ok).toBe(true);
        if (![REFUSAL, FULL].includes(told(answer) ?? '')) return expect(told(answer)).toBeUndefined();
      }
    }

    test('strikes while an export runs: it goes on by itself', async () => {
      await asks();
      await until(world, '#docs', ['42%']);
      await strike(world);
      world.platform.finish('docs.acme.com');
      // A full Redis can still be read.
      expect(told(await asks())).toEqual(
        name === 'full' ? expect.stringContaining('already being exported: 42%') : REFUSAL,
      );
      await heal(world);
      await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
      expect(world.platform.starts).toHaveLength(1);
      expect(world.slack.messages).toHaveLength(3);
    });
  });
});

test('a write that a frozen Redis comes to only after its deadline starts nothing', async () => {
  const world = await createWorld();
  const { slack, platform, redis } = world;
  await world.startBot({ process: true, env: { TEST_FREEZE_BEFORE_WRITE: String(redis.pid()) } });
  const answer = await slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  expect(answer.tookMs).toBeLessThan(3000);
  expect(answer.ephemeral && slack.read(answer.ephemeral)).toContain("I can't tell whether I accepted this");
  redis.thaw();
  await redis.client.ping();
  // Whatever was waiting in front of Redis has been run by now: a second request comes after it.
  await expect
    .poll(async () => (await slack.person('ana').types('#docs', '/docs-export help')).ok)
    .toBe(true);
  expect(await redis.client.zcard('{docket}:runs:active')).toBe(0);
  expect(await redis.client.keys('{docket}:run:*')).toEqual([]);
  expect(platform.wire.calls).toEqual([]);
  await world.close();
});

test('a write whose answer got lost is told as in doubt, and goes on by itself', async () => {
  const world = await createWorld();
  const { slack, platform } = world;
  await world.startBot({ process: true, env: { TEST_LOSE_WRITE: 'yes' } });
  const answer = await slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  expect(answer.ephemeral && plain(slack.read(answer.ephemeral))).toBe(
    "My database stopped answering, so I can't tell whether I accepted this. If nothing appears here within a minute, try again.",
  );
  await until(world, '#docs', ['42%']);
  expectNothingTwice(world, await tellStory(world));
  expect(platform.starts).toHaveLength(1);
  await world.close();
});

test.for(['dead', 'frozen'] as const)(
  'a click while Redis is %s is refused within 3 s, and works later',
  async (name) => {
    const world = await createWorld();
    await world.startBot();
    world.platform.wire.order('POST /v1/static-export/jobs', { kind: 'reset', when: 'before' });
    await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['❔ @ana', '❔ Needs an answer · docs.acme.com']);
    const question = messageWith(world, '❔ @ana');
    await troubles[name].strike(world);
    const answer = await world.slack.person('ana').clicks(question, 'Start anyway');
    expect(answer).toMatchObject({ ok: true });
    expect(answer.tookMs).toBeLessThan(3000);
    expect(world.slack.ephemerals.map((told) => plain(world.slack.read(told)))).toEqual([REFUSAL]);
    await troubles[name].heal(world);
    await expect
      .poll(
        async () => {
          await world.slack
            .person('ana')
            .clicks(question, 'Start anyway')
            .catch(() => {});
          return world.slack.read(question);
        },
        { timeout: 10_000 },
      )
      .toContain('ana started it anyway.');
    await until(world, '#docs', ['42%']);
    expect(world.platform.starts).toHaveLength(1);
    await world.close();
  },
);

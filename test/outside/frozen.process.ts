import { expect, test } from 'vitest';
import { until } from '../support/flows/reading.ts';
import { createWorld } from '../support/flows/world.ts';

test.each(['http', 'socket'] as const)(
  'what a frozen process gets is refused, and starts nothing when the process goes on: %s',
  async (transport) => {
    const world = await createWorld({ transport, mayViolate: /: no answer (?:in time|within 3000 ms)$/ });
    const { slack, platform } = world;
    const ana = slack.person('ana');
    // Else a command that has just gone to Redis would end the connection, and with it what waits.
    const first = await world.startBot({ process: true, timing: { redisRequestSocketMs: 60_000 } });
    const itsUrl = slack.botUrl;
    first.freeze();
    expect(await ana.types('#docs', '/docs-export docs.acme.com')).toMatchObject({ ok: false });

    // Another process does what she asks for again, to the end.
    await world.startBot({ process: true });
    await expect.poll(async () => (await ana.types('#docs', '/docs-export docs.acme.com')).ok).toBe(true);
    await until(world, '#docs', ['42%']);
    platform.finish('docs.acme.com');
    await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);

    first.thaw();
    slack.botUrl = itsUrl;
    // Once it takes work again, it has done all that it got before.
    await expect
      .poll(
        async () => {
          await ana.types('#docs', '/docs-export docs.acme.com --version later');
          return platform.starts.filter(({ version }) => version === 'later');
        },
        { timeout: 20_000, interval: 500 },
      )
      .toHaveLength(1);
    expect(platform.starts.filter(({ version }) => version !== 'later')).toHaveLength(1);
    await world.close();
  },
);

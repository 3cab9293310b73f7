import { afterEach, beforeEach, expect, test } from 'vitest';
import { plain, until } from '../support/flows/reading.ts';
import { createWorld, type World } from '../support/flows/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

test('a Redis that keeps no append-only file any more: everybody can see it, and work goes on', async () => {
  const timing = { redisPingMs: 50, redisCheckMs: 100 };
  await world.startBot({ timing });
  const ana = world.slack.person('ana');
  await ana.types('#docs', '/docs-export docs.acme.com');
  await until(world, '#docs', ['42%']);
  await world.redis.client.config('SET', 'appendonly', 'no');
  const asks = async () => {
    const { ephemeral } = await world.slack.person('ben').types('#docs', '/docs-status');
    return ephemeral ? plain(world.slack.read(ephemeral)) : '';
  };
  await expect.poll(asks, { timeout: 10_000 }).toMatch(/^⚠️ Needs attention\n.*My database has a problem\./);

  world.platform.finish('docs.acme.com');
  await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
});

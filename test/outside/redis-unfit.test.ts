import { afterEach, beforeEach, expect, test } from 'vitest';
import { plain, sees, until } from '../support/flows/reading.ts';
import { createWorld, type World } from '../support/flows/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

test('a Redis that keeps nothing any more: admins hear of it once, everybody can see it, and work goes on', async () => {
  const timing = { redisPingMs: 50, redisCheckMs: 100 };
  await world.startBot({ timing, config: 'allow:\n  admin: [U0ANA]\n' });
  const ana = world.slack.person('ana');
  await ana.types('#docs', '/docs-export docs.acme.com');
  await until(world, '#docs', ['42%']);
  await world.redis.client.config('SET', 'appendonly', 'no');
  const fault = '⚠️ Redis keeps nothing on disk';
  await until(world, '@ana', [fault]);

  const answer = await world.slack.person('ben').types('#docs', '/docs-status');
  const told = answer.ephemeral ? plain(world.slack.read(answer.ephemeral)).split('\n') : [];
  expect(told[0]).toBe('⚠️ Needs attention');
  expect(told[1]).toContain('My database has a problem: Redis keeps nothing on disk');

  world.platform.finish('docs.acme.com');
  await until(world, '#docs', ['is exported', '✅ docs.acme.com exported']);
  expect(sees(world, '@ana')).toHaveLength(1);
});

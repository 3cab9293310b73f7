import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorld, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
  await world.startBot();
});
afterEach(() => world.close());

test('an export: one card, one progress that is edited, one ending with a link that works', async () => {
  const { slack, platform } = world;
  const ana = slack.person('ana');
  const answer = await ana.types('#docs', '/docs-export docs.acme.com');
  expect(answer).toMatchObject({ ok: true });
  await slack.until(() => ana.sees('#docs').some((text) => text.includes('42%')));
  expect(ana.sees('#docs')).toEqual([]);
});

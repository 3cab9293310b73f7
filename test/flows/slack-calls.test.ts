import { expect, test } from 'vitest';
import { tellStory } from './trouble.ts';
import { createWorld } from './world.ts';

test('the end of an export costs Slack one post and one edit of each message, also where the link takes a while', async () => {
  const world = await createWorld();
  await world.startBot();
  const { slack, platform } = world;
  const bundle = 'POST /v1/static-export/jobs/{jobId}/bundle';
  platform.wire.order(bundle, { kind: 'delay', ms: 600 });
  await tellStory(world);
  const asked = platform.wire.calls.find(({ name }) => name === bundle);
  expect(asked).toBeDefined();
  const calls = slack.wire.calls.filter(({ atMs }) => atMs >= (asked?.atMs ?? 0));
  expect(calls.map(({ name }) => name).toSorted()).toEqual([
    'chat.postMessage',
    'chat.update',
    'chat.update',
  ]);
  await world.close();
});

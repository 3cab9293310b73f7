import { expect, test } from 'vitest';
import { tellStory } from '../support/flows/trouble.ts';
import { createWorld } from '../support/flows/world.ts';

test('the end of an export costs Slack one post and one edit of each message, also where the link takes a while', async () => {
  const world = await createWorld();
  await world.startBot();
  const { slack, platform } = world;
  platform.wire.order('POST /v1/static-export/jobs/{jobId}/bundle', { kind: 'delay', ms: 600 });
  await tellStory(world);
  const looks = platform.wire.calls.filter(({ name }) => name === 'GET /v1/static-export/jobs/{jobId}');
  // The look that found it done.
  const doneAtMs = looks.at(-1)?.atMs ?? 0;
  const calls = slack.wire.calls.filter(({ atMs }) => atMs >= doneAtMs).map(({ name }) => name);
  expect(platform.wire.waiting).toBe(0);
  expect(calls.filter((name) => name.startsWith('chat.')).toSorted()).toEqual([
    'chat.postMessage',
    'chat.update',
    'chat.update',
  ]);
  await world.close();
});

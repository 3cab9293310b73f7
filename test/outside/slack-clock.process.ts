import { describe, expect, test } from 'vitest';
import { canMoveClocks, movedClock } from '../support/faketime.ts';
import { expectNothingTwice, tellStory } from '../support/flows/trouble.ts';
import { createWorld } from '../support/flows/world.ts';

const HOUR_MS = 3_600_000;

describe.runIf(canMoveClocks)('a worker whose clock is not that of Slack', () => {
  test.each([150_000, HOUR_MS, -HOUR_MS])('by %i ms finds every post whose answer was lost', async (ms) => {
    const world = await createWorld();
    // No call may be given up on a slow machine: each of those would be one more post to search for.
    const timing = { slackCallMs: 10_000 };
    const worker = await world.startBot({
      process: true,
      timing,
      env: { ...movedClock(ms).env, DOCKET_ROLE: 'worker' },
    });
    await world.startBot({ env: { DOCKET_ROLE: 'web' } });
    const posts = 3;
    world.slack.wire.order('chat.postMessage', { kind: 'reset', when: 'after' }, posts);
    const story = await tellStory(world);
    const searched = () => worker.output().match(/"found":(true|false),"msg":"looked for a post/g) ?? [];
    await world.slack.until(() => searched().length >= posts, 20_000, 'the searches');
    expect(searched().filter((line) => line.includes('true'))).toHaveLength(posts);
    expectNothingTwice(world, story);
    expect(world.slack.wire.waiting).toBe(0);
    await world.close();
  });
});

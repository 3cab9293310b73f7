import { describe, expect, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

describe('a channel whose id changes', () => {
  const scene = stage();
  const { follows, plan, finish, replies, sent, untilBelow } = agentsOn(scene);

  test('keeps its followed threads and the messages of an export', async () => {
    const { jobId, card } = await follows({ where: '#private' });
    plan(jobId);
    await scene.asks('/docs-export docs.acme.com', { where: '#private' });
    await scene.until(['42%'], '#private');
    await scene.slack.changeChannelId('#private');
    await replies(card, 'Shorten the introduction');
    expect(await sent(1)).toEqual(['Shorten the introduction']);
    finish(jobId, 'no_pr');
    await untilBelow(card, '➖ @ana Done, without a pull request');
    scene.platform.finish('docs.acme.com');
    await scene.until(['✅ docs.acme.com exported', 'is exported'], '#private');
    // A second change, and a thread that begins after it.
    await scene.slack.changeChannelId('#private');
    await replies(card, 'And the summary');
    expect(await sent(2)).toEqual(['Shorten the introduction', 'And the summary']);
  });
});

describe('an app that is removed', () => {
  const scene = stage({ mayViolate: /invalid_auth/ });
  const { follows, replies, instructions } = agentsOn(scene);

  test('is noticed at once: calls to Slack wait, and nothing is sent to the agent that nobody could see', async () => {
    const { card } = await follows();
    await scene.slack.uninstall();
    const [first, ...more] = scene.slack.wire.calls.filter(({ outcome }) => outcome !== undefined).slice(-1);
    expect([first?.name, more]).toEqual(['auth.test', []]);
    expect(scene.told(await scene.asks('/docs-status'))).toMatch(/token/i);
    await replies(card, 'Shorten the introduction');
    expect(instructions()).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { agentsOn, LOOK } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';
import { strikeAt } from '../support/flows/strike-at.ts';

describe('a bot that is killed while a request waits for the agent', () => {
  const scene = stage({ processes: true });
  const { follows, plan, finish, replies, sent, untilBelow, below, instructions } = agentsOn(scene);

  async function restarts() {
    await Promise.all(scene.world.bots.map((bot) => bot.kill()));
    await scene.world.startBot();
  }

  test('sends it once, also if that was between the end of the work and the send', async () => {
    const { jobId, card: root } = await follows();
    for (const _ of [1, 2, 3]) plan(jobId);
    await replies(root, 'Add a quickstart');
    await untilBelow(root, '⏳ Working');
    await replies(root, 'Also add error handling');
    await untilBelow(root, '🕒 Waiting · "Also add error handling"');
    await restarts();
    await replies(root, 'And a diagram');
    await untilBelow(root, '1 more request waits behind it');
    expect(instructions()).toEqual(['Add a quickstart']);

    // The platform has answered that the agent is done, and nothing has come of it yet.
    const isDone = ({ name }: { name: string }) =>
      name === LOOK && scene.platform.agent.jobs.get(jobId)?.status === 'completed';
    const killed = strikeAt([scene.platform], { call: isDone, phase: 'after' }, restarts);
    finish(jobId, 'new_pr');
    await killed.done;
    expect(await sent(2)).toEqual(['Add a quickstart', 'Also add error handling']);
    await untilBelow(root, 'For "Add a quickstart" · requested by ana', '🕒 Waiting · "And a diagram"');
    finish(jobId, 'no_pr');
    expect(await sent(3)).toEqual(['Add a quickstart', 'Also add error handling', 'And a diagram']);
    finish(jobId, 'no_pr');
    await untilBelow(root, 'No pull request · "Also add', 'No pull request · "And a diagram"');
    await scene.slack.until(() => !below(root).join().includes('🕒'), 20_000, 'nothing waits');
    expect(scene.platform.agent.messages.filter(({ whileActive }) => whileActive)).toEqual([]);
    expect(instructions()).toHaveLength(3);
  });
});

import { describe, expect, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const down = { kind: 'answer', status: 503 } as const;

describe('trouble with Slack', () => {
  const scene = stage({ bot: { timing: { permissionCacheMs: 0 } } });
  const {
    follows,
    plan,
    finish,
    replies,
    takes,
    reacted,
    sent,
    instructions,
    note,
    notes,
    untilBelow,
    below,
    card,
  } = agentsOn(scene);

  test('that takes no posts for a while: one card, and the instruction goes out after it', async () => {
    scene.slack.wire.order('chat.postMessage', down, 3);
    const jobId = scene.platform.agent.add();
    plan(jobId);
    await scene.asks(`/docs-agent follow ${jobId} Explain the limits`);
    const root = await card('#docs', 'Working');
    expect(await sent(1)).toEqual(['Explain the limits']);
    await untilBelow(root, '⏳ Working · "Explain the limits"');
    expect(scene.slack.messages).toHaveLength(2);
  });

  test('that tells nobody who wrote: the reply waits, and counts once it is known', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    scene.slack.wire.order('users.info', down, 4);
    const reply = await replies(root, 'Explain the limits');
    expect(await sent(1)).toEqual(['Explain the limits']);
    await takes(reply);
  });

  test('that takes no reactions for a while: they come later, and hold up nothing', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    scene.slack.wire.order('reactions.add', down, 3);
    const held = await replies(root, 'what would you say?', { who: 'ben' });
    await replies(root, '@Docket Explain the limits');
    expect(await sent(1)).toEqual(['Explain the limits']);
    await reacted(held, 'double_vertical_bar');
  });

  test('that limits private answers: the question comes later, once', async () => {
    const { card: root } = await follows();
    const limited = { kind: 'answer', status: 429, headers: { 'retry-after': '1' } } as const;
    scene.slack.wire.order('chat.postEphemeral', limited);
    await replies(root, 'what would you say?', { who: 'ben' });
    await note('ben', 'Is this for the agent?');
    const [first, second] = scene.slack.wire.calls.filter(({ name }) => name === 'chat.postEphemeral');
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1000);
    await replies(root, '@Docket go on, please', { who: 'ben' });
    expect(await sent(1)).toEqual(['go on, please']);
    expect(notes('ben')).toHaveLength(1);
  });

  test('where the channel was archived meanwhile: the ending comes by direct message', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Explain the limits');
    await untilBelow(root, '⏳');
    scene.slack.channel('#docs').archived = true;
    finish(jobId, 'new_pr');
    await scene.until(['Pull request · '], '@ana');
    expect(below(root)).toHaveLength(2);
    expect(instructions()).toHaveLength(1);
  });
});

describe('trouble with Redis', () => {
  const scene = stage({ mayViolate: /event \w+: (answered 5|no answer in time)/ });
  const { follows, plan, finish, replies, takes, sent, untilBelow } = agentsOn(scene);

  test('a reply that could not be kept is not acknowledged; told again, it counts once', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    scene.world.redis.freeze();
    const reply = await replies(root, 'Explain the limits');
    const told = scene.slack.events.findLast(({ event }) => event.ts === reply.ts);
    expect(told?.accepted).toBe(false);
    scene.world.redis.thaw();
    for (const _ of [1, 2]) await scene.slack.sendEvent(told?.event ?? {}, { eventId: told?.eventId ?? '' });
    await takes(reply);
    await untilBelow(root, '⏳');
    finish(jobId);
    await replies(root, 'And then the budgets');
    expect(await sent(2)).toEqual(['Explain the limits', 'And then the budgets']);
  });
});

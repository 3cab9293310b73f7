import { describe, expect, onTestFinished, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { digestStage } from '../support/flows/digest-stage.ts';
import { stage, stageOf } from '../support/flows/stage.ts';
import { createWorld, type World } from '../support/flows/world.ts';

describe('a channel whose id changes', () => {
  const scene = stage();
  const { follows, plan, finish, replies, sent, untilBelow } = agentsOn(scene);

  test('keeps its followed threads and the messages of an export', async () => {
    const { jobId, card } = await follows({ where: '#private' });
    plan(jobId);
    await scene.exporting('/docs-export docs.acme.com', { where: '#private' });
    await scene.slack.changeChannelId('#private');
    await replies(card, 'Shorten the introduction');
    expect(await sent(1)).toEqual(['Shorten the introduction']);
    finish(jobId, 'no_pr');
    await untilBelow(card, '➖ @ana No pull request · "Shorten the introduction"');
    scene.platform.finish('docs.acme.com');
    await scene.until(['✅ Exported · docs.acme.com', ', took'], '#private');
    // What their endings replace is gone, whatever the id of the channel was then.
    await scene.slack.until(() => !scene.sees('#private').some((text) => text.startsWith('⏳')));
    const listed = await scene.asks('/docs-agent list', { where: '#private' });
    expect(JSON.stringify(listed.ephemeral)).toContain(`/archives/${scene.slack.channel('#private').id}/`);
    // A second change, and a thread that begins after it.
    await scene.slack.changeChannelId('#private');
    await replies(card, 'And the summary');
    expect(await sent(2)).toEqual(['Shorten the introduction', 'And the summary']);
  });
});

describe('a channel whose id changes before its weekly digest is due', () => {
  const { scene, creates, reads, toBerlin, digest, digests } = digestStage();

  test('gets the digest under its new id', async () => {
    reads('/', '2026-09-14', { human: 700, ai: 70 });
    await creates();
    const before = scene.slack.channel('#docs').id;
    await scene.slack.changeChannelId('#docs');
    for (const [verb, state] of [
      ['list', 'next'],
      ['pause', 'Paused'],
      ['resume', 'next'],
    ] as const) {
      const { ephemeral = expect.fail('no answer') } = await scene.asks(`/docs-digest ${verb}`);
      expect(JSON.stringify(ephemeral.blocks)).toContain(scene.slack.channel('#docs').id);
      expect(JSON.stringify(ephemeral.blocks)).not.toContain(before);
      expect(scene.slack.read(ephemeral)).toContain(state);
    }
    await toBerlin(1, '09:00');
    const { channel } = await digest('14–20 Sep');
    expect(channel).not.toBe(before);
    expect(channel).toBe(scene.slack.channel('#docs').id);
    expect(digests()).toHaveLength(1);
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

describe.each([[['all']], [['web', 'worker']]])(
  'the work of an app that is removed, with the roles %j',
  (roles) => {
    const installs: [string, (world: World, token: string) => Promise<void>][] = [
      [
        'its token works again',
        async ({ slack }, token) => {
          slack.tokens.bot = token;
        },
      ],
      [
        'it is installed again, and Docket has its new token',
        async (world) => {
          await Promise.all(world.bots.map((bot) => bot.end()));
          await startBots(world);
        },
      ],
    ];

    async function startBots(world: World) {
      for (const role of roles) await world.startBot({ env: { DOCKET_ROLE: role } });
    }

    test.each(installs)('asks the platform nothing until %s', async (_, install) => {
      const world = await createWorld({ mayViolate: /invalid_auth/ });
      onTestFinished(() => world.close());
      await startBots(world);
      const scene = stageOf(() => world);
      const { follows, plan, replies, sent, finish, untilBelow } = agentsOn(scene);
      const tries = () => world.slack.wire.calls.length;
      const requests = () => world.platform.wire.calls.length;
      /** Waits until the token was tried so many times more, as each call does, or the platform is asked on and on. */
      const untilTried = (more: number) => {
        const [tried, asked] = [tries(), requests()];
        return world.slack.until(() => tries() >= tried + more || requests() >= asked + 100);
      };

      const { jobId, card } = await follows();
      plan(jobId);
      await replies(card, 'Shorten the introduction');
      await sent(1);
      await scene.exporting();
      const token = world.slack.tokens.bot;
      await world.slack.uninstall();
      // What was under way has ended by then.
      await untilTried(3);
      const before = requests();
      await untilTried(5);
      expect(requests()).toBe(before);
      await install(world, token);
      finish(jobId, 'no_pr');
      await untilBelow(card, '➖ @ana No pull request · "Shorten the introduction"');
      world.platform.finish('docs.acme.com');
      await scene.until(['✅ Exported · docs.acme.com', ', took']);
    });
  },
);

import { describe, type TestContext, test, vi } from 'vitest';
import { canMoveClocks, movedClock } from '../support/faketime.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { messageWith, until } from '../support/flows/reading.ts';
import { stageOf } from '../support/flows/stage.ts';
import { type BotOptions, createWorld } from '../support/flows/world.ts';

const LOOK = 'GET /v1/static-export/jobs/{jobId}';

/** A process that takes requests and one that works, in a world of their own, while an export runs. */
async function exporting(
  { onTestFinished, expect }: TestContext,
  web: BotOptions,
  worker: BotOptions,
  shows = '42%',
) {
  const world = await createWorld({ processes: true });
  onTestFinished(() => world.close());
  const works = await world.startBot({ ...worker, env: { ...worker.env, DOCKET_ROLE: 'worker' } });
  await world.startBot({ ...web, env: { ...web.env, DOCKET_ROLE: 'web' } });
  // Many processes start at once: where that takes too long, people ask again.
  const asks = () => world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  await vi.waitFor(async () => expect((await asks()).ephemeral).toBeUndefined(), { timeout: 20_000 });
  await until(world, '#docs', [shows]);
  const looks = () => world.platform.wire.calls.filter(({ name }) => name === LOOK).length;
  return {
    world,
    works,
    looks,
    moreLooks: (than: number, withinMs: number) =>
      world.slack.until(() => looks() > than, withinMs, `a look after ${than}`),
  };
}

describe.skipIf(!canMoveClocks)('machines whose clocks differ', { concurrent: true }, () => {
  test.for([20_000, -20_000])(
    'a click that arrives at a machine %i ms off is followed at once',
    async (offMs, context) => {
      const timing = { pollMinMs: 29_000, pollMaxMs: 30_000 };
      const { env } = movedClock(offMs, context.onTestFinished);
      const { world, looks, moreLooks } = await exporting(context, { env }, { timing }, '[Check now]');
      const before = looks();
      // A click right after a look, or after the answer to the start, changes nothing.
      const lookedAtMs = performance.now();
      await world.slack.until(() => performance.now() - lookedAtMs > 3000);
      await world.slack.person('ana').clicks(messageWith(world, '[Check now]'), 'Check now');
      await moreLooks(before, 8000);
    },
  );

  test('a worker whose clock is ahead dies: the next one looks as soon as it was due', async (context) => {
    const timing = { pollMinMs: 1000, pollMaxMs: 1500 };
    const { env } = movedClock(40_000, context.onTestFinished);
    const { world, works, looks, moreLooks } = await exporting(context, {}, { timing, env });
    await moreLooks(looks(), 10_000);
    await works.kill();
    const before = looks();
    await world.startBot({ timing, env: { DOCKET_ROLE: 'worker' } });
    await moreLooks(before, 12_000);
  });

  test('a clock that is set back by an hour stops nothing', async (context) => {
    const clock = movedClock(0, context.onTestFinished);
    const { world, looks, moreLooks } = await exporting(context, {}, { env: clock.env });
    await moreLooks(looks(), 10_000);
    clock.move(-3_600_000);
    for (let more = 0; more < 20; more += 1) await moreLooks(looks(), 8000);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', [', took']);
  });

  test("Redis' clock that is set back by an hour stops nothing", async ({ onTestFinished }) => {
    const clock = movedClock(3_600_000, onTestFinished);
    const world = await createWorld({ redisEnv: clock.redisEnv });
    onTestFinished(() => world.close());
    await world.startBot({ timing: { pollMinMs: 500, pollMaxMs: 1000 } });
    await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['42%']);
    const looks = () => world.platform.wire.calls.filter(({ name }) => name === LOOK).length;
    clock.move(0);
    for (let more = 0; more < 10; more += 1) {
      const before = looks();
      await world.slack.until(() => looks() > before, 20_000, `a look after ${before}`);
    }
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', [', took']);
  });

  test("Redis' clock is ahead: after [Follow again], replies go to the agent at once", async ({
    expect,
    onTestFinished,
  }) => {
    const { redisEnv } = movedClock(120_000, onTestFinished);
    const world = await createWorld({ redisEnv });
    onTestFinished(() => world.close());
    await world.startBot();
    const { follows, read, replies, sent, stops, untilBelow } = agentsOn(stageOf(() => world));
    const { card: root } = await follows();
    const ana = world.slack.person('ana');
    await stops(root);
    await world.slack.until(() => read(root).startsWith('➖ Stopped following'));
    await replies(root, 'Talk among people');
    await ana.clicks(root, 'Follow again');
    await untilBelow(root, '✅ Ready · ');
    await replies(root, '@Docket fix the title now');
    await replies(root, 'And the caption below it');
    expect(await sent(2)).toEqual(['fix the title now', 'And the caption below it']);
  });
});

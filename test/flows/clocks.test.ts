import { afterEach, describe, test } from 'vitest';
import { canMoveClocks, movedClock } from '../support/faketime.ts';
import { messageWith, until } from '../support/flows/reading.ts';
import { type BotOptions, createWorld, type World } from '../support/flows/world.ts';

const LOOK = 'GET /v1/static-export/jobs/{jobId}';

let world: World;
afterEach(() => world.close());

const looks = () => world.platform.wire.calls.filter(({ name }) => name === LOOK).length;
const moreLooks = (than: number, withinMs: number) =>
  world.slack.until(() => looks() > than, withinMs, `a look after ${than}`);

/** A process that takes requests and one that works, while an export runs. */
async function exporting(web: BotOptions, worker: BotOptions) {
  world = await createWorld({ processes: true });
  const works = await world.startBot({ ...worker, env: { ...worker.env, DOCKET_ROLE: 'worker' } });
  await world.startBot({ ...web, env: { ...web.env, DOCKET_ROLE: 'web' } });
  await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  await until(world, '#docs', ['42%']);
  return works;
}

describe.skipIf(!canMoveClocks)('machines whose clocks differ', () => {
  test.each([20_000, -20_000])(
    'a click that arrives at a machine %i ms off is followed at once',
    async (offMs) => {
      const timing = { pollMinMs: 29_000, pollMaxMs: 30_000 };
      await exporting({ env: movedClock(offMs).env }, { timing });
      const before = looks();
      // A click right after a look changes nothing.
      const lookedAtMs = performance.now();
      await world.slack.until(() => performance.now() - lookedAtMs > 3000);
      await world.slack.person('ana').clicks(messageWith(world, '42%'), 'Refresh');
      await moreLooks(before, 8000);
    },
  );

  test('a worker whose clock is ahead dies: the next one looks as soon as it was due', async () => {
    const timing = { pollMinMs: 1000, pollMaxMs: 1500 };
    const worker = await exporting({}, { timing, env: movedClock(40_000).env });
    await moreLooks(looks(), 10_000);
    await worker.kill();
    const before = looks();
    await world.startBot({ timing, env: { DOCKET_ROLE: 'worker' } });
    await moreLooks(before, 12_000);
  });

  test('a clock that is set back by an hour stops nothing', async () => {
    const clock = movedClock(0);
    await exporting({}, { env: clock.env });
    await moreLooks(looks(), 10_000);
    clock.move(-3_600_000);
    for (let more = 0; more < 20; more += 1) await moreLooks(looks(), 8000);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', ['is ready']);
  });
});

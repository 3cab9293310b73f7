import { describe, expect, test, vi } from 'vitest';
import { digestWorld, tellDigests } from '../support/flows/digest-stories.ts';
import { type HeldCall, lose } from '../support/flows/strike-at.ts';
import { crowded, crowdedWorld, standingStill, tellStruckStories } from '../support/flows/struck-stories.ts';
import { expectNothingTwice, momentsOfAnExport } from '../support/flows/trouble.ts';
import { type Bot, createWorld, type World } from '../support/flows/world.ts';

const START = 'POST /v1/static-export/jobs';
const LONG_MS = 150_000;

/** Longer than the test: another process goes on only with what is handed back to it. */
const lockMs = 600_000;

/** Of the process that goes on: on a busy machine its own calls must be answered in time, or it would have to ask. */
const docsCallMs = 5000;

const undisturbed = await createWorld();
await undisturbed.startBot();
const moments = await momentsOfAnExport(undisturbed);
await undisturbed.close();

/** The calls under way are answered once the signal is there, or never. */
const cases = [
  { phase: 'before', what: 'are answered', isAnswered: true },
  { phase: 'before', what: 'get no answer', isAnswered: false },
  { phase: 'after', what: 'get no answer', isAnswered: false },
] as const;

/** Sends SIGTERM; has the calls go on once it is there, or lets them be lost with the process. Waits for its end. */
async function stop(bot: Bot | undefined, world: World, calls: readonly HeldCall[], isAnswered: boolean) {
  const ended = bot?.terminate();
  await vi.waitFor(() => expect(bot?.output()).toContain('"msg":"stopping"'));
  if (isAnswered) for (const { goOn } of calls) goOn();
  // One that has taken effect keeps it.
  else lose([world.slack, world.platform], calls);
  expect(await ended).toBe(0);
}

describe('SIGTERM in the middle of a call, while another process runs', { timeout: 180_000 }, () => {
  test.for(cases)('all calls of exports $phase they took effect $what', async ({ isAnswered, phase }) => {
    const world = await crowdedWorld();
    const { timing, ...more } = standingStill(LONG_MS);
    const bot = await world.startBot({ ...more, timing: { ...timing, lockMs }, process: true });
    const stories = await tellStruckStories(
      world,
      moments.filter((moment) => moment.phase === phase),
      async (held) => {
        await world.startBot({ ...crowded, timing: { ...crowded.timing, docsCallMs } });
        await stop(bot, world, held, isAnswered);
      },
    );
    for (const [{ label }, story] of stories)
      expect([label, story.ending]).toEqual([label, label === START && !isAnswered ? 'question' : 'done']);
    await world.close();
    expectNothingTwice(world, ...stories.values());
  });

  test.for(cases)('all calls of digests $phase they took effect $what', async ({ isAnswered, phase }) => {
    const digests = await digestWorld();
    const { world, bot } = digests;
    const limits = { digestWaitMs: 0, slackCallMs: 60_000, docsCallMs: 60_000, lockMs };
    const first = await world.startBot(bot(limits));
    await tellDigests(digests, phase, async (held) => {
      await world.startBot(bot({ docsCallMs }));
      await stop(first, world, held, isAnswered);
    });
    await world.close();
  });
});

import { describe, expect, test } from 'vitest';
import { CLICK, momentsOf } from '../support/flows/digest-moments.ts';
import {
  type DigestWorld,
  digestWorld,
  expectOnce,
  type Held,
  tellDigests,
} from '../support/flows/digest-stories.ts';
import type { World } from '../support/flows/world.ts';

const phases = ['before', 'after'] as const;

/** Enough places that every call can stand still in some of them. */
const crowd = { places: 16, projects: 4 };

/** Calls stand still until all do. */
const standing = { digestWaitMs: 0, slackCallMs: 8000, docsCallMs: 30_000 };

/** The same for a bot that goes on: on a busy machine its locks must not lapse meanwhile. */
const living = { digestWaitMs: 0, slackCallMs: 20_000, docsCallMs: 60_000, lockMs: 30_000 };

/** Calls that never arrive. */
function lose({ slack, platform }: World, held: Held[]) {
  for (const { call } of held) {
    const { wire } = slack.wire.calls.includes(call) ? slack : platform;
    wire.order((other) => other === call, { kind: 'reset', when: 'before' });
  }
}

/** `kill -9` of all bots, and a new one. The calls are lost with them, before or after they took effect. */
async function killBots({ world, bot }: DigestWorld, phase: 'before' | 'after', held: Held[]) {
  if (phase === 'before') lose(world, held);
  await Promise.all(world.bots.map((one) => one.kill()));
  await world.startBot({ ...bot(), process: true });
}

describe('weekly digests, and the agent asked under them', { timeout: 180_000 }, () => {
  describe('kill -9 of the bot', () => {
    test.concurrent.for(phases)('%s each outside call took effect', async (phase) => {
      const digests = await digestWorld({ ...crowd, takesCharts: false });
      const { world, bot } = digests;
      await world.startBot({ ...bot(standing), process: true });
      const others = await tellDigests(digests, {
        ...momentsOf({ takesCharts: false }),
        phase,
        act: (held) => killBots(digests, phase, held),
      });
      expect(others).toEqual([]);
      // Whether the agent's job was made, nobody can know.
      expect((await expectOnce(digests)).size).toBeGreaterThan(0);
      await world.close();
    });
  });

  describe('kill -9 of Redis', () => {
    test.concurrent.for(phases)('%s each outside call took effect', async (phase) => {
      const digests = await digestWorld({ ...crowd, takesCharts: false });
      const { world, bot } = digests;
      await world.startBot({ ...bot(living), process: true });
      const others = await tellDigests(digests, {
        ...unclicked({ takesCharts: false }),
        phase,
        act: async (held) => {
          await world.redis.kill();
          await world.redis.start();
          // On a busy machine: what nobody waits for any more, or not for long enough, must not arrive.
          const limitMs = (call: Held['call']) =>
            world.slack.wire.calls.includes(call) ? living.slackCallMs : living.docsCallMs;
          const isLate = ({ call }: Held) => world.now() - call.atMs > limitMs(call) - 2000;
          if (phase === 'before') lose(world, held.filter(isLate));
        },
      });
      expect(others).toEqual([CLICK]);
      expect((await expectOnce(digests)).size).toBe(0);
      await world.close();
    });
  });

  test('a bot frozen in each outside call until another has taken over, and thawed; then both at once', async () => {
    const digests = await digestWorld({ ...crowd, takesCharts: true });
    const { world, bot, places } = digests;
    const struck = { ...digests, places: places.slice(0, 11) };
    const first = await world.startBot({ ...bot(standing), process: true });
    const itsUrl = world.slack.botUrl;
    const others = await tellDigests(struck, {
      ...unclicked({ takesCharts: true }),
      phase: 'after',
      act: async () => {
        await world.startBot({ ...bot(), process: true });
        first.freeze();
      },
    });
    expect(others).toEqual([CLICK]);
    const answers = await expectOnce(struck);
    expect(answers.size).toBeGreaterThan(0);
    first.thaw();
    world.slack.botUrl = itsUrl;
    await tellDigests({ ...digests, places: places.slice(11) }, undisturbed);
    await expectOnce(digests, answers);
    await world.close();
  });
});

/** All but the click: whoever clicks is told at once that it did not work. */
function unclicked(slack: { takesCharts: boolean }) {
  const { labels, collecting } = momentsOf(slack);
  return { labels: labels.filter((label) => label !== CLICK), collecting };
}

const undisturbed = { labels: [], collecting: [], phase: 'before' as const, act: async () => {} };

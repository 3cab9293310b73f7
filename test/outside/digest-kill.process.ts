import { describe, test } from 'vitest';
import { digestWorld, tellDigests } from '../support/flows/digest-stories.ts';
import { lose } from '../support/flows/strike-at.ts';

const phases = ['before', 'after'] as const;

describe('weekly digests', { timeout: 180_000 }, () => {
  describe('kill -9 of the bot', () => {
    test.concurrent.for(phases)('%s each outside call took effect', async (phase) => {
      const digests = await digestWorld();
      const { world, bot } = digests;
      // Calls stand still until all do.
      await world.startBot(bot({ digestWaitMs: 0, slackCallMs: 8000, docsCallMs: 30_000 }));
      await tellDigests(digests, phase, async (held) => {
        if (phase === 'before') lose([world.slack, world.platform], held);
        await Promise.all(world.bots.map((one) => one.kill()));
        await world.startBot(bot());
      });
      await world.close();
    });
  });

  describe('kill -9 of Redis', () => {
    test.concurrent.for(phases)('%s each outside call took effect', async (phase) => {
      const digests = await digestWorld();
      const { world, bot } = digests;
      // The bot lives: on a busy machine its locks must not lapse while its calls stand still.
      const limits = { slackCallMs: 20_000, docsCallMs: 60_000 };
      await world.startBot(bot({ digestWaitMs: 0, lockMs: 30_000, ...limits }));
      await tellDigests(digests, phase, async (held) => {
        await world.redis.kill();
        await world.redis.start();
        // On a busy machine: what nobody waits for any more, or not for long enough, must not arrive.
        const isLate = ({ call }: (typeof held)[number]) => {
          const limitMs = world.slack.wire.calls.includes(call) ? limits.slackCallMs : limits.docsCallMs;
          return world.now() - call.atMs > limitMs - 2000;
        };
        if (phase === 'before') lose([world.slack, world.platform], held.filter(isLate));
      });
      await world.close();
    });
  });
});

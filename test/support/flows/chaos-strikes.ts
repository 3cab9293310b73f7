import { setTimeout as pause } from 'node:timers/promises';
import type { Call, Phase, Wire } from '../../../demo/wire.ts';
import type { ChaosWorld, Member } from './chaos-world.ts';

/** How often each kind of strike was made. */
export type Strikes = Map<string, number>;

/** What is done to processes and to Redis, and how often it was done. */
export function createStriker(chaos: ChaosWorld, random: () => number) {
  const { redis } = chaos.world;
  const made: Strikes = new Map();
  const starting = new Set<Promise<void>>();
  let redisDown = false;

  const count = (kind: string) => made.set(kind, (made.get(kind) ?? 0) + 1);
  const pick = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0];

  return {
    made,
    count,
    pick,

    /** `kill -9`; a successor starts at once. Returns false for a bot that does not run. */
    async kill(member: Member): Promise<boolean> {
      if (!member.bot.running()) return false;
      count(`kill -9 ${member.role}`);
      await member.bot.kill();
      const started = chaos.replace(member);
      starting.add(started);
      void started.finally(() => starting.delete(started));
      return true;
    },

    /** `kill -9` of Redis, which starts again on its data. Returns false where it is down. */
    async restartRedis(): Promise<boolean> {
      if (redisDown) return false;
      redisDown = true;
      count('kill -9 Redis');
      await redis.kill();
      await pause(100 + random() * 900);
      await redis.start();
      redisDown = false;
      return true;
    },

    /** SIGSTOP, and SIGCONT after so long. */
    async freeze({ bot, role }: Member, forMs: number): Promise<boolean> {
      if (!bot.running()) return false;
      count(`SIGSTOP ${role}`);
      bot.freeze();
      await pause(forMs);
      bot.thaw();
      return true;
    },

    /** Has `act` done at the next such call, while it stands still. Returns what forgets it. */
    atNextCall(wire: Wire, name: string, phase: Phase, act: (call: Call) => Promise<void>): () => void {
      let over = false;
      const forget = wire.onCall(async (call, now) => {
        if (over || call.name !== name || now !== phase) return;
        over = true;
        forget();
        await act(call);
      });
      return forget;
    },

    makerOf: (call: Call) => chaos.fleet.find(({ bot }) => bot.made(call)),

    /** Resolves once all that were killed have a successor that runs. */
    async settled(): Promise<void> {
      await Promise.all(starting);
    },
  };
}

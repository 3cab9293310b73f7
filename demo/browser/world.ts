import type { DemoBot } from '../bot/bot.ts';
import type { DemoRedis } from '../bot/redis.ts';
import type { StandInDeployment } from '../deployment/deployment.ts';
import type { StandInPlatform } from '../docs-platform/platform.ts';
import type { StandInGitHost } from '../git-host/git-host.ts';
import type { StandInSlack } from '../slack/slack.ts';

/** What the demo consists of. */
export interface World {
  slack: StandInSlack;
  platform: StandInPlatform;
  clock: Clock;
  /** Missing where the stand-ins run alone. */
  docket?: { bot: DemoBot; redis: DemoRedis };
  /** The same. */
  deployment?: StandInDeployment;
  /** The same. */
  gitHost?: StandInGitHost;
}

/** The time of the demo: that of this machine, moved on as often as the visitor wants. */
export interface Clock {
  readonly aheadMs: number;
  now(): number;
  moveTo(aheadMs: number): void;
}

export function createClock(): Clock {
  let aheadMs = 0;
  return {
    get aheadMs() {
      return aheadMs;
    },
    now: () => Date.now() + aheadMs,
    moveTo(ms) {
      aheadMs = ms;
    },
  };
}

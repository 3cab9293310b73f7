import { setTimeout as pause } from 'node:timers/promises';
import type { Timing } from '../../../src/runtime/timing.ts';
import {
  type Answers,
  answerQuestions,
  type ChaosOptions,
  converse,
  followJobs,
  openTroubles,
} from './agent-people.ts';
import { type StrikeOptions, type Strikes, strike } from './agent-strikes.ts';
import { type Verdict, verdictOn } from './agent-verdict.ts';
import { createWorld, type World } from './world.ts';

/** Whatever happened, nothing is under way any more so long after the last strike. */
const IDLE_DEADLINE_MS = 300_000;

/** Slow enough that two loaded cores keep up, quick enough that a run takes minutes. */
export const chaosTiming: Partial<Timing> = {
  intakeMs: 1600,
  slackCallMs: 3000,
  docsCallMs: 3000,
  callMarginMs: 500,
  editGapMs: 500,
  lockMs: 8000,
  stalledMs: 1000,
  sweepMs: 500,
  retryMinMs: 100,
  retryMaxMs: 1000,
  pollMinMs: 500,
  pollMaxMs: 2000,
  postsPerMinute: 60_000,
  editsPerMinute: 60_000,
  reactionsPerMinute: 60_000,
  reactionRemovalsPerMinute: 60_000,
};

/** A bot of the fleet; one that was killed is replaced under the same role. */
export interface Member {
  role: 'all' | 'web' | 'worker';
  bot: World['bots'][number];
}

export interface ChaosWorld {
  world: World;
  fleet: Member[];
  /** Starts the successor of one that was killed. */
  replace(member: Member): Promise<void>;
  /** Slack's next request goes to one of those that take requests, also to one that is dead. */
  route(random: () => number): void;
}

export interface FleetOptions {
  roles?: readonly Member['role'][];
  /** Sites that the platform exports. */
  domains?: string[];
  /** Other durations than those of a run of minutes. */
  timing?: Partial<Timing>;
}

/** A world without the limits of Slack and the platform, and a fleet in which each role is there. */
export async function createChaosWorld(
  logLevel: 'debug' | 'info',
  { roles = ['all', 'web', 'worker'], domains, timing: more }: FleetOptions = {},
): Promise<ChaosWorld> {
  const world = await createWorld({
    processes: true,
    slack: { rateLimits: false, eventRetryDelaysMs: Array.from({ length: 100 }, () => 400) },
    platform: { followUpsPerHour: 10_000, ...(domains && { domains }) },
    // What a bot whose Redis is away owes to Slack: not to accept what it cannot keep. How fast commands are answered
    // while a fleet of processes starts is not what is tested.
    mayViolate:
      /^event \w+: (answered 500|no answer in time)$|^(?:block_actions \[.+\]|\/docs-(?:agent|export)): (?:answered 50\d|no answer)/,
  });
  const start = (role: Member['role']) =>
    world.startBot({
      timing: { ...chaosTiming, ...more },
      env: { DOCKET_ROLE: role, LOG_LEVEL: logLevel },
      config:
        'limits: { followUpsPerHour: 10000, exportStatusPerSecond: 100, exportsPerPerson: 1000, exportsPerChannel: 1000 }\n',
    });
  const fleet: Member[] = [];
  for (const role of roles) fleet.push({ role, bot: await start(role) });
  return {
    world,
    fleet,
    async replace(member) {
      const before = world.slack.botUrl;
      member.bot = await start(member.role);
      const same = fleet.find((one) => urlOf(one) === before);
      const open = same ?? fleet.find(({ role }) => role !== 'worker');
      if (open) world.slack.botUrl = urlOf(open);
    },
    route(random) {
      const open = fleet.filter(({ role }) => role !== 'worker');
      const member = open[Math.floor(random() * open.length)];
      if (member) world.slack.botUrl = urlOf(member);
    },
  };
}

const urlOf = ({ bot }: Member) => `http://127.0.0.1:${bot.port}/slack/events`;

/** What a run came to. */
export interface ChaosOutcome {
  verdict: Verdict;
  /** Nothing was under way any more in the end. */
  idle: boolean;
  strikes: Strikes;
  answers: Answers;
  /** Replies, those that are held included. */
  written: number;
  /** Instructions that the platform took. */
  taken: number;
  /** Attempts of Slack to tell the bots something, beyond the first ones. */
  retries: number;
  seconds: number;
}

/** Lets people write in many threads while everything breaks, then repairs it, waits for the end, and judges. */
export async function runChaos(
  chaos: ChaosWorld,
  options: ChaosOptions & StrikeOptions,
  random: () => number,
): Promise<ChaosOutcome> {
  const { slack, platform } = chaos.world;
  const threads = await followJobs(chaos, options.threads);
  const beganAtMs = Date.now();
  const [spoken, over] = [new AbortController(), new AbortController()];
  const striking = strike(chaos, options, random, spoken.signal);
  const answering = answerQuestions(chaos, threads, over.signal);
  try {
    await Promise.all(threads.map((thread) => converse(chaos, thread, options, random)));
  } finally {
    spoken.abort();
  }
  const strikes = await striking;
  const idle = await becomesIdle(chaos);
  over.abort();
  return {
    idle,
    strikes,
    answers: await answering,
    verdict: verdictOn(chaos.world, threads),
    written: threads.reduce((sum, { replies, held }) => sum + replies.length + (held ? 1 : 0), 0),
    taken: platform.agent.messages.length,
    retries: slack.events.reduce((sum, { attempts }) => sum + attempts.length - 1, 0),
    seconds: (Date.now() - beganAtMs) / 1000,
  };
}

/** Waits until nothing is under way any more. Returns false when that did not come. */
export async function becomesIdle({ world }: ChaosWorld): Promise<boolean> {
  const { client } = world.redis;
  const untilMs = Date.now() + IDLE_DEADLINE_MS;
  let calmSince = Date.now();
  while (Date.now() < untilMs) {
    const counts = await Promise.all(
      ['{docket}:runs:active', '{docket}:messages:undelivered'].map((key) => client.zcard(key)),
    );
    const calm = counts.every((count) => count === 0) && openTroubles(world).length === 0;
    if (!calm) calmSince = Date.now();
    else if (Date.now() - calmSince > 2000) return true;
    await pause(200);
  }
  return false;
}

/** Numbers from 0 to 1 that look random; the same seed gives the same. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

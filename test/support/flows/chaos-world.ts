import { setTimeout as pause } from 'node:timers/promises';
import type { SentMessage } from '../../../demo/slack/workspace.ts';
import type { Timing } from '../../../src/runtime/timing.ts';
import { keys } from '../../../src/store/keys.ts';
import { parseMember } from '../../../src/store/run-scripts.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** Whatever happened, nothing is under way any more so long after the last strike. */
const IDLE_DEADLINE_MS = 300_000;

/** Slow enough that two loaded cores keep up, quick enough that a run takes minutes. */
export const chaosTiming = {
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
  readsPerMinute: 60_000,
} satisfies Partial<Timing>;

type Role = 'all' | 'web' | 'worker';

/** A bot of the fleet; one that was killed is replaced under the same role. */
export interface Member {
  role: Role;
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

export interface ChaosWorldOptions {
  logLevel: 'debug' | 'info';
  /** One bot for each. */
  roles: readonly Role[];
  timing?: Partial<Timing>;
  platform?: WorldOptions['platform'];
  /** Exports that run at once. */
  exports?: number;
}

/** A world without the limits of Slack and the platform, and a fleet of bots. */
export async function createChaosWorld(options: ChaosWorldOptions): Promise<ChaosWorld> {
  const { logLevel, roles, timing, platform, exports = 0 } = options;
  const world = await createWorld({
    processes: true,
    slack: { rateLimits: false, eventRetryDelaysMs: Array.from({ length: 100 }, () => 400) },
    platform: { followUpsPerHour: 10_000, ...platform },
    // What a bot whose Redis is away owes to Slack: not to accept what it cannot keep. How fast commands are answered
    // while a fleet of processes starts is not what is tested.
    mayViolate:
      /^event \w+: (answered 500|no answer in time)$|^(?:block_actions \[.+\]|view_submission.*|\/docs-(?:agent|export)): no answer within/,
  });
  const perPlace = exports > 0 ? `, exportsPerPerson: ${exports}, exportsPerChannel: ${exports}` : '';
  const start = (role: Role) =>
    world.startBot({
      timing: { ...chaosTiming, ...timing },
      env: { DOCKET_ROLE: role, LOG_LEVEL: logLevel },
      config: `limits: { followUpsPerHour: 10000, exportStatusPerSecond: 100${perPlace} }\n`,
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

/**
 * Waits until nothing is under way any more, and `isCalm` says so too. Exports that have ended are listed until their
 * links end. Returns false when that did not come.
 */
export async function becomesIdle({ world }: ChaosWorld, isCalm: () => boolean): Promise<boolean> {
  const { client } = world.redis;
  const untilMs = Date.now() + IDLE_DEADLINE_MS;
  let calmSince = Date.now();
  while (Date.now() < untilMs) {
    const listed = await client.zrange(keys.activeRuns(), 0, '-1');
    const busy = listed.filter((member) => parseMember(member).job !== 'export').length;
    const calm = busy === 0 && (await client.zcard(keys.undelivered())) === 0 && isCalm();
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

/** The bot's own name of a message. */
export const keyOf = ({ metadata }: SentMessage) => String(metadata?.event_payload.key ?? '');

/** Returns the messages of the bot that are there twice. */
export function postedTwice({ slack }: World): string[] {
  const first = new Map<string, SentMessage>();
  const twice: string[] = [];
  for (const message of slack.messages.filter(({ from }) => from === 'docket')) {
    const before = first.get(keyOf(message));
    if (before === undefined) first.set(keyOf(message), message);
    else {
      const apartS = (Number(message.ts) - Number(before.ts)).toFixed(1);
      twice.push(`${keyOf(message)}, ${apartS} s apart`);
    }
  }
  return twice;
}

/** Lines of the log at level error and above, by their words. */
export function errorsLogged({ bots }: World): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of bots.flatMap((bot) => bot.output().split('\n'))) {
    if (!/"level":(?:"(?:error|fatal)"|[56]0)/.test(line)) continue;
    const { msg, err, problem } = JSON.parse(line) as {
      msg?: string;
      err?: { message?: string };
      problem?: string;
    };
    // What a strike takes away is named until it is back.
    if (problem !== undefined) continue;
    const words = `${msg ?? ''}: ${err?.message ?? ''}`.replaceAll(/\d{2,}/g, 'n').slice(0, 160);
    found.set(words, (found.get(words) ?? 0) + 1);
  }
  return found;
}

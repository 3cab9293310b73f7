import { setTimeout as pause } from 'node:timers/promises';
import type { Call, Phase, Wire } from '../../../demo/wire.ts';
import { SEND } from './agent-stage.ts';
import { type Injected, injectFaults } from './chaos-faults.ts';
import {
  type Answers,
  answerQuestions,
  askForExport,
  chaosDomains,
  converse,
  followJobs,
  isExported,
  newAnswers,
  openExportQuestions,
  openTroubles,
  verdictOn,
} from './chaos-people.ts';
import {
  becomesIdle,
  type ChaosWorld,
  chaosTiming,
  createChaosWorld,
  type Member,
  seeded,
} from './chaos-world.ts';
import type { World } from './world.ts';

export interface ChaosPlan {
  exports: number;
  /** Each with so many replies of its owner. */
  threads: number;
  replies: number;
  /** `kill -9` of web and worker processes, in turn. */
  kills: number;
  redisKills: number;
  /** SIGSTOP of processes, workers first, until their locks have lapsed. */
  freezes: number;
  /** In which all of that happens. */
  overMs: number;
  /** How long the platform works on an export, at least and at most. */
  durationMs: [number, number];
  /** Of all calls of either side. */
  faults: number;
  bareLimits: boolean;
  lockMs: number;
  seed: number;
  logLevel: 'debug' | 'info';
}

export interface ChaosOutcome {
  world: World;
  verdict: ReturnType<typeof verdictOn>;
  idle: boolean;
  strikes: Strikes;
  injected: Pick<Injected, 'calls' | 'faults'>;
  answers: Answers;
  /** Replies, those that are held included, and instructions that the platform took. */
  written: number;
  taken: number;
  seconds: number;
}

/** The calls at which a bot dies or freezes, beside random moments. */
const START = 'POST /v1/static-export/jobs';
const BUNDLE = 'POST /v1/static-export/jobs/{jobId}/bundle';
/** When no such call comes within so long, the strike is made anywhere. */
const STRIKE_WITHIN_MS = 4000;

/**
 * Exports and threads through kills of bots and of Redis, frozen processes and faults of Slack and the platform. Two bots
 * take requests and two work. Ends when nothing is under way any more; the caller closes the world.
 */
export async function runChaosPlan(plan: ChaosPlan): Promise<ChaosOutcome> {
  const random = seeded(plan.seed);
  const domains = chaosDomains(plan.exports);
  const chaos = await createChaosWorld({
    logLevel: plan.logLevel,
    roles: ['web', 'web', 'worker', 'worker'],
    timing: { lockMs: plan.lockMs },
    platform: { domains },
    exports: plan.exports,
  });
  const { world } = chaos;
  const [shortest, longest] = plan.durationMs;
  for (const domain of domains)
    world.platform.plan({ domain, durationMs: shortest + random() * (longest - shortest) });
  const threads = await followJobs(chaos, plan.threads);
  const beganAtMs = Date.now();
  const over = new AbortController();
  const answers = newAnswers();
  const answering = answerQuestions(chaos, threads, answers, over.signal);
  const injected = injectFaults(world, { share: plan.faults, bareLimits: plan.bareLimits }, random);
  const gapMs = plan.overMs / plan.exports;
  const [strikes] = await Promise.all([
    strikeAsPlanned(chaos, plan, random),
    Promise.all(
      domains.map(async (domain, index) => {
        await pause(gapMs * index);
        await askForExport(chaos, domain, answers, random);
      }),
    ),
    ...threads.map((thread) =>
      converse(chaos, thread, { replies: plan.replies, gapMs: (2 * plan.overMs) / plan.replies }, random),
    ),
  ]);
  injected.stop();
  for (const { wire } of [world.slack, world.platform]) wire.clear();
  const isCalm = () =>
    openTroubles(world).length === 0 &&
    openExportQuestions(world).length === 0 &&
    domains.every((domain) => isExported(world, domain));
  const idle = await becomesIdle(chaos, isCalm);
  over.abort();
  await answering;
  return {
    world,
    verdict: verdictOn(world, threads, domains),
    idle,
    strikes,
    injected,
    answers,
    written: threads.reduce((sum, { replies, held }) => sum + replies.length + (held ? 1 : 0), 0),
    taken: world.platform.agent.messages.length,
    seconds: (Date.now() - beganAtMs) / 1000,
  };
}

/** Makes exactly the strikes of the plan, spread over its time. */
async function strikeAsPlanned(chaos: ChaosWorld, plan: ChaosPlan, random: () => number): Promise<Strikes> {
  const { slack, platform } = chaos.world;
  const striker = createStriker(chaos, random);
  const frozenMs = plan.lockMs + 2 * chaosTiming.stalledMs + 1000;
  const thawing: Promise<unknown>[] = [];
  const times = <T>(count: number, of: (index: number) => T) =>
    Array.from({ length: count }, (_, at) => of(at));
  const member = (role: Member['role']) => {
    const running = chaos.fleet.filter((one) => one.role === role && one.bot.running());
    return running[Math.floor(random() * running.length)];
  };

  /** Strikes at once, or at the next call of some kind before or after it took effect: whoever makes it is hit. */
  async function hit(role: Member['role'], strike: (member: Member) => Promise<boolean>) {
    const anywhere = () => {
      const target = member(role);
      return target === undefined ? Promise.resolve(false) : strike(target);
    };
    if (role === 'web' || random() < 0.3) return anywhere();
    const [wire, name] = striker.pick([
      [platform.wire, START],
      [platform.wire, BUNDLE],
      [platform.wire, SEND],
      [slack.wire, 'chat.postMessage'],
      [slack.wire, 'chat.update'],
    ]);
    const phase = striker.pick<Phase>(['before', 'after']);
    const isLost = random() < 0.5;
    return new Promise<boolean>((resolve) => {
      const forget = striker.atNextCall(wire, name, phase, async (call) => {
        clearTimeout(late);
        if (phase === 'before' && isLost)
          wire.order((other) => other === call, { kind: 'reset', when: 'before' });
        const maker = striker.makerOf(call);
        resolve(maker ? await strike(maker) : await anywhere());
      });
      const late = setTimeout(() => {
        forget();
        resolve(anywhere());
      }, STRIKE_WITHIN_MS);
    });
  }

  const freeze = async (target: Member) => {
    if (!target.bot.running()) return false;
    thawing.push(striker.freeze(target, frozenMs));
    return true;
  };
  const strikes = [
    ...times(plan.kills, (at) => () => hit(at % 2 === 0 ? 'worker' : 'web', striker.kill)),
    ...times(plan.redisKills, () => () => striker.restartRedis()),
    ...times(plan.freezes, (at) => () => hit(at % 3 === 2 ? 'web' : 'worker', freeze)),
  ]
    .map((act) => ({ act, at: random() }))
    .sort((a, b) => a.at - b.at);
  const pauseMs = plan.overMs / (strikes.length + 1);
  for (const { act } of strikes) {
    await pause(pauseMs * (0.5 + random()));
    while (!(await act())) await pause(200);
  }
  await Promise.all(thawing);
  await striker.settled();
  return striker.made;
}

/** How often each kind of strike was made. */
type Strikes = Map<string, number>;

/** What is done to processes and to Redis, and how often it was done. */
function createStriker(chaos: ChaosWorld, random: () => number) {
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

import { setTimeout as pause } from 'node:timers/promises';
import type { Call, Fault, Phase } from '../../../demo/wire.ts';
import { becomesIdle, type ChaosWorld, type Member } from './agent-chaos.ts';
import { type Answers, answerQuestions, type ChaosOptions, converse, followJobs } from './agent-people.ts';
import { SEND } from './agent-stage.ts';
import { faultsFrom, pickerFrom } from './agent-strikes.ts';
import { postedTwice, type Verdict, verdictOn } from './agent-verdict.ts';
import {
  answerStarts,
  askForExports,
  lostExports,
  type StartAnswers,
  startedTwice,
} from './export-people.ts';

export interface FleetChaosOptions extends ChaosOptions {
  domains: string[];
  /** Of bots, half of them in the middle of a call. */
  kills: number;
  redisKills: number;
  /** Of workers, for longer than their locks last. */
  freezes: number;
  frozenMs: number;
  /** The longest pause between two strikes. */
  everyMs: number;
  /** How many of the calls to Slack and to the platform go wrong, 0 to 1. */
  faultRate: number;
}

export interface FleetChaosOutcome {
  /** Of the exports. */
  lost: string[];
  startedTwice: string[];
  postedTwice: string[];
  threads: Verdict;
  idle: boolean;
  /** How often each kind of strike was made. */
  strikes: Map<string, number>;
  starts: StartAnswers;
  sends: Answers;
  seconds: number;
}

/** Exports and threads, while processes die and freeze and calls fail on both sides; then all is repaired and judged. */
export async function runFleetChaos(
  chaos: ChaosWorld,
  options: FleetChaosOptions,
  random: () => number,
): Promise<FleetChaosOutcome> {
  const { world } = chaos;
  world.platform.linkLifeMs = 2000;
  const threads = await followJobs(chaos, options.threads);
  const beganAtMs = Date.now();
  const over = new AbortController();
  orderFaults(chaos, options.faultRate, random);
  const answering = Promise.all([
    answerQuestions(chaos, threads, over.signal),
    answerStarts(world, over.signal),
  ]);
  const [strikes] = await Promise.all([
    strikeFleet(chaos, options, random),
    askForExports(chaos, options.domains, options.gapMs, random),
    ...threads.map((thread) => converse(chaos, thread, options, random)),
  ]);
  for (const wire of [world.slack.wire, world.platform.wire]) wire.clear();
  const idle = await becomesIdle(chaos);
  over.abort();
  const [sends, starts] = await answering;
  return {
    lost: lostExports(world, options.domains),
    startedTwice: startedTwice(world),
    postedTwice: postedTwice(world),
    threads: verdictOn(world, threads),
    idle,
    strikes,
    starts,
    sends,
    seconds: (Date.now() - beganAtMs) / 1000,
  };
}

/** Calls that must not happen twice, and when their process is killed. */
const NOT_TWICE: [[name: string, Phase], ...[name: string, Phase][]] = [
  ['POST /v1/static-export/jobs', 'after'],
  ['chat.postMessage', 'after'],
  [SEND, 'after'],
  ['POST /v1/static-export/jobs', 'before'],
  ['chat.postMessage', 'before'],
  [SEND, 'before'],
];

/** From now on so many calls fail on both sides, in every way in turn. */
function orderFaults({ world }: ChaosWorld, rate: number, random: () => number) {
  const { lost, tooMany, broken } = faultsFrom(random);
  const malformed = (): Fault => ({ kind: 'garbage', when: random() < 0.5 ? 'before' : 'after' });
  const kinds = [lost, lost, broken, broken, malformed, () => tooMany('1')];
  // Each is for one call, so that the next of its kind differs in phase and status.
  for (const wire of [world.slack.wire, world.platform.wire])
    wire.onCall((call, phase) => {
      if (phase !== 'before' || random() >= rate) return;
      const make = kinds[Math.floor(random() * kinds.length)];
      if (make) wire.order(({ n }) => n === call.n, make());
    });
}

/** Makes all strikes in a random order. Everything is up again in the end. */
async function strikeFleet(
  chaos: ChaosWorld,
  { kills, redisKills, freezes, frozenMs, everyMs }: FleetChaosOptions,
  random: () => number,
): Promise<Map<string, number>> {
  const { slack, platform, redis } = chaos.world;
  const pick = pickerFrom(random);
  const made = new Map<string, number>();
  const count = (kind: string) => made.set(kind, (made.get(kind) ?? 0) + 1);
  const frozen = new Set<Member>();
  const under: Promise<unknown>[] = [];

  async function member(roles: readonly Member['role'][]): Promise<Member> {
    for (;;) {
      const [first, ...rest] = chaos.fleet.filter(
        (one) => one.bot.running() && !frozen.has(one) && roles.includes(one.role),
      );
      if (first) return pick([first, ...rest]);
      await pause(50);
    }
  }
  async function kill(one: Member, how: string) {
    count(`kill -9 ${one.role}, ${how}`);
    await one.bot.kill();
    under.push(chaos.replace(one));
  }
  /** Kills whoever makes the next such call, before it takes effect or after. */
  async function killInCall(name: string, phase: Phase) {
    const { wire } = name.startsWith('POST') ? platform : slack;
    const struck = Promise.withResolvers<Member>();
    const forget = wire.onCall(async (call: Call, now) => {
      const one = chaos.fleet.find(({ bot }) => bot.made(call));
      if (call.name !== name || now !== phase || one === undefined || !one.bot.running() || frozen.has(one))
        return;
      forget();
      if (phase === 'before' && random() < 0.5)
        wire.order(({ n }) => n === call.n, { kind: 'reset', when: 'before' });
      await kill(one, 'in a call');
      struck.resolve(one);
    });
    // Late, there may be no call any more.
    const late = pause(5000).then(() => undefined);
    if ((await Promise.race([struck.promise, late])) !== undefined) return;
    forget();
    await kill(await member(['web', 'worker']), 'at any time');
  }
  async function freeze() {
    const one = await member(['worker']);
    count('freeze worker');
    frozen.add(one);
    one.bot.freeze();
    under.push(
      pause(frozenMs).then(() => {
        one.bot.thaw();
        frozen.delete(one);
      }),
    );
  }
  async function killRedis() {
    count('kill -9 Redis');
    await redis.kill();
    await pause(100 + random() * 900);
    await redis.start();
  }

  const strikes = [
    ...Array.from({ length: kills }, (_, n) =>
      n % 2 === 0
        ? () => killInCall(...(NOT_TWICE[(n / 2) % NOT_TWICE.length] ?? NOT_TWICE[0]))
        : async () => kill(await member(['web', 'worker']), 'at any time'),
    ),
    ...Array.from({ length: redisKills }, () => killRedis),
    ...Array.from({ length: freezes }, () => freeze),
  ]
    .map((act) => ({ act, at: random() }))
    .sort((one, other) => one.at - other.at);
  for (const { act } of strikes) {
    await pause(random() * everyMs);
    await act();
  }
  await Promise.all(under);
  return made;
}

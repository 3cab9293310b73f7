import { setTimeout as pause } from 'node:timers/promises';
import type { Call, Fault, Phase, Wire } from '../../../demo/wire.ts';
import type { ChaosWorld, Member } from './agent-chaos.ts';
import { LOOK, SEND } from './agent-stage.ts';

const SLACK_CALLS = ['chat.postMessage', 'chat.update', 'reactions.add', 'chat.postEphemeral', 'users.info'];

export interface StrikeOptions {
  /** The mean pause between two strikes. */
  everyMs: number;
  /** Also "too many" without a time, after which the whole project waits for a minute. */
  bareLimits: boolean;
}

/** How often each kind of strike was made. */
export type Strikes = Map<string, number>;

export const pickerFrom =
  (random: () => number) =>
  <T>(list: readonly [T, ...T[]]): T =>
    list[Math.floor(random() * list.length)] ?? list[0];

/** Faults of both sides. */
export function faultsFrom(random: () => number) {
  const pick = pickerFrom(random);
  return {
    lost: (): Fault => ({
      kind: pick(['reset', 'hang'] as const),
      when: pick(['before', 'after'] as const),
    }),
    tooMany: (after?: string): Fault => ({
      kind: 'answer',
      status: 429,
      body: { ok: false, error: 'ratelimited' },
      ...(after !== undefined && { headers: { 'retry-after': after } }),
    }),
    broken: (): Fault => ({
      kind: 'answer',
      status: pick([500, 502, 503] as const),
      body: { error: 'Internal' },
      when: pick(['before', 'after'] as const),
    }),
  };
}

/** Strikes at random moments until `stop` aborts; then everything is up again and no fault is left. */
export async function strike(
  chaos: ChaosWorld,
  { everyMs, bareLimits }: StrikeOptions,
  random: () => number,
  stop: AbortSignal,
): Promise<Strikes> {
  const { slack, platform, redis } = chaos.world;
  const made: Strikes = new Map();
  const starting = new Set<Promise<void>>();
  const pick = pickerFrom(random);
  const count = (kind: string) => made.set(kind, (made.get(kind) ?? 0) + 1);

  async function kill(member: Member) {
    if (!member.bot.running()) return;
    count(`kill -9 ${member.role}`);
    await member.bot.kill();
    const started = chaos.replace(member);
    starting.add(started);
    void started.finally(() => starting.delete(started));
  }

  async function restartRedis() {
    if (redisDown) return;
    redisDown = true;
    count('kill -9 Redis');
    await redis.kill();
    await pause(100 + random() * 900);
    await redis.start();
    redisDown = false;
  }
  let redisDown = false;

  /** At the next send, before it takes effect or after, the answer unsent. */
  function atNextSend(act: (call: Call) => Promise<void>, phase: Phase) {
    let over = false;
    const forget = platform.wire.onCall(async (call, now) => {
      if (over || call.name !== SEND || now !== phase) return;
      over = true;
      forget();
      await act(call);
    });
  }

  function killAtSend() {
    const phase = pick(['before', 'after'] as const);
    const lost = random() < 0.5;
    atNextSend(async (call) => {
      const member = chaos.fleet.find(({ bot }) => bot.made(call));
      if (phase === 'before' && lost)
        platform.wire.order((other) => other.n === call.n, { kind: 'reset', when: 'before' });
      if (member) await kill(member);
    }, phase);
  }

  function fault(wire: Wire, name: string, one: Fault, kind: string, times = 1) {
    count(kind);
    wire.order(name, one, times);
  }

  const { lost, tooMany, broken } = faultsFrom(random);

  const strikes: [weight: number, act: () => void | Promise<void>][] = [
    [2, () => kill(pick(chaos.fleet as [Member, ...Member[]]))],
    [3, killAtSend],
    [1, restartRedis],
    [1, () => atNextSend(restartRedis, pick(['before', 'after'] as const))],
    [3, () => fault(platform.wire, SEND, tooMany('1'), 'platform: 429 with Retry-After')],
    [bareLimits ? 0.25 : 0, () => fault(platform.wire, SEND, tooMany(), 'platform: 429 without')],
    [4, () => fault(platform.wire, SEND, lost(), 'platform: answer to a send lost')],
    [2, () => fault(platform.wire, SEND, broken(), 'platform: 5xx to a send')],
    [
      1,
      () =>
        fault(
          platform.wire,
          LOOK,
          pick([lost(), broken(), tooMany('1')]),
          'platform: look without answer',
          3,
        ),
    ],
    [3, () => fault(slack.wire, pick(SLACK_CALLS as [string, ...string[]]), tooMany('1'), 'Slack: 429')],
    [3, () => fault(slack.wire, pick(SLACK_CALLS as [string, ...string[]]), lost(), 'Slack: answer lost')],
    [3, () => fault(slack.wire, pick(SLACK_CALLS as [string, ...string[]]), broken(), 'Slack: 5xx')],
  ];
  const upTo = (index: number) => strikes.slice(0, index + 1).reduce((sum, [weight]) => sum + weight, 0);
  const total = upTo(strikes.length - 1);

  while (!stop.aborted) {
    await pause(random() * 2 * everyMs);
    const point = random() * total;
    const passed = strikes.filter((_, index) => upTo(index) <= point).length;
    await strikes[passed]?.[1]();
  }
  slack.wire.clear();
  platform.wire.clear();
  await Promise.all(starting);
  return made;
}

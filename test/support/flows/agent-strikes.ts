import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, Wire } from '../../../demo/wire.ts';
import { LOOK, SEND } from './agent-stage.ts';
import { faultMakers } from './chaos-faults.ts';
import { createStriker, type Strikes } from './chaos-strikes.ts';
import type { ChaosWorld, Member } from './chaos-world.ts';

const SLACK_CALLS = ['chat.postMessage', 'chat.update', 'reactions.add', 'chat.postEphemeral', 'users.info'];

export interface StrikeOptions {
  /** The mean pause between two strikes. */
  everyMs: number;
  /** Also "too many" without a time, after which the whole project waits for a minute. */
  bareLimits: boolean;
}

/** Strikes at random moments until `stop` aborts; then everything is up again and no fault is left. */
export async function strike(
  chaos: ChaosWorld,
  { everyMs, bareLimits }: StrikeOptions,
  random: () => number,
  stop: AbortSignal,
): Promise<Strikes> {
  const { slack, platform } = chaos.world;
  const striker = createStriker(chaos, random);
  const { made, count, pick, kill, restartRedis } = striker;
  const { lost, tooMany, broken } = faultMakers(random);

  function killAtSend() {
    const phase = pick(['before', 'after'] as const);
    const isLost = random() < 0.5;
    striker.atNextCall(platform.wire, SEND, phase, async (call) => {
      const member = striker.makerOf(call);
      if (phase === 'before' && isLost)
        platform.wire.order((other) => other === call, { kind: 'reset', when: 'before' });
      if (member) await kill(member);
    });
  }

  function fault(wire: Wire, name: string, one: Fault, kind: string, times = 1) {
    count(kind);
    wire.order(name, one, times);
  }

  const strikes: [weight: number, act: () => unknown][] = [
    [2, () => kill(pick(chaos.fleet as [Member, ...Member[]]))],
    [3, killAtSend],
    [1, restartRedis],
    [
      1,
      () =>
        striker.atNextCall(platform.wire, SEND, pick(['before', 'after'] as const), async () => {
          await restartRedis();
        }),
    ],
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
  await striker.settled();
  return made;
}

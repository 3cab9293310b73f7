import { forgetHours, wakeRuns } from '../bot/wake.ts';
import type { Planned } from '../docs-platform/plans.ts';
import type { StandInGitHost } from '../git-host/git-host.ts';
import type { Call, Fault, Wire } from '../wire.ts';
import type { Outcome, PullRequestChange, Switch, Switches, Trouble } from './protocol.ts';
import { PLANS } from './seed.ts';
import type { Timeline } from './timeline.ts';
import type { World } from './world.ts';

const HOUR_MS = 3_600_000;
/** Docket reads the pull requests of a repository that often. */
const PULL_REQUESTS_MS = 5 * 60_000;
const SLOW_MS = 4000;
const FAILS_AT = 0.6;
const BUILD_ERROR = 'Error in guides/quickstart.mdx: the closing tag of <Note> is missing.';
/** What a site answers that cannot use an export. */
const REJECTION: Fault = { kind: 'answer', status: 422, text: 'The checksum of the bundle differs.' };

/** Trouble that is on: it says whether it still is, and can be ended. */
interface Live {
  readonly lasts: boolean;
  end(): void;
  untilMs?: number;
}

/** The switches of the panel. */
export interface Switchboard {
  set(name: Switch, on: boolean): void;
  entity(): Switches;
  /** Forgets what ends by itself later. */
  stop(): void;
}

/** `limitMs`: how long 429s last. */
export function createSwitchboard(
  { slack, platform, deployment }: Pick<World, 'slack' | 'platform' | 'deployment'>,
  onChange: () => void,
  limitMs = 60_000,
): Switchboard {
  const live = new Map<Switch, Live>();
  const timers = new Map<Switch, NodeJS.Timeout>();
  const always = Number.POSITIVE_INFINITY;
  const isApi = ({ name }: Call) => /^(?:GET|POST) \/v\d/.test(name);

  const ordered = (order: { readonly left: number; takeBack(): void }): Live => ({
    get lasts() {
      return order.left > 0;
    },
    end: order.takeBack,
  });

  const answering = (wire: Wire, match: (call: Call) => boolean, fault: Fault) =>
    ordered(wire.order(match, fault, always));
  const planned = (plan: Planned): Live => ({
    get lasts() {
      return plan.waits;
    },
    end: plan.takeBack,
  });
  const make: Record<Switch, () => Live> = {
    'fail-next-export': () => planned(platform.plan({ ...PLANS.exportPlan, failAt: FAILS_AT })),
    'fail-next-preview': () => planned(platform.site.plan({ ...PLANS.buildPlan, logs: [BUILD_ERROR] })),
    'fail-next-agent': () => planned(platform.agent.plan({ ...PLANS.agentPlan, outcome: 'failed' })),
    'fail-next-deployment': () => {
      const order = deployment?.wire.order('POST /docket', REJECTION);
      return ordered(order ?? { left: 0, takeBack() {} });
    },
    'slow-answers': () => ordered(platform.wire.order(() => true, { kind: 'delay', ms: SLOW_MS }, always)),
    'platform-429': () =>
      answering(platform.wire, isApi, {
        kind: 'answer',
        status: 429,
        body: { error: 'Rate limit exceeded' },
      }),
    'platform-500': () =>
      answering(platform.wire, isApi, { kind: 'answer', status: 500, body: { error: 'Internal error' } }),
    // A lost answer to a question alone does no harm.
    'lose-next-answer': () =>
      ordered(
        platform.wire.order((call) => isApi(call) && call.name.startsWith('POST'), {
          kind: 'reset',
          when: 'after',
        }),
      ),
    'slack-429': () =>
      answering(slack.wire, ({ name }) => name.includes('.') && name !== 'files.upload', {
        kind: 'answer',
        status: 429,
        body: { ok: false, error: 'ratelimited' },
        headers: { 'retry-after': '5' },
      }),
  };

  function end(name: Switch): void {
    clearTimeout(timers.get(name));
    timers.delete(name);
    live.get(name)?.end();
    live.delete(name);
    onChange();
  }

  return {
    set(name, on) {
      end(name);
      if (!on) return;
      const one = make[name]();
      live.set(name, one);
      if (name.endsWith('-429')) {
        one.untilMs = Date.now() + limitMs;
        timers.set(name, setTimeout(end, limitMs, name));
      }
      onChange();
    },
    entity() {
      for (const [name, { lasts }] of live) if (!lasts) live.delete(name);
      return {
        kind: 'switches',
        on: Object.fromEntries(
          [...live].map(([name, { untilMs }]) => [name, untilMs === undefined ? {} : { untilMs }]),
        ),
      };
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

/** The latest open pull request that Docket has asked for. */
export const openPull = ({ pulls }: StandInGitHost) => pulls.findLast(({ state }) => state === 'open');

type Pull = StandInGitHost['pulls'][number];

const CHANGES: Record<PullRequestChange, (host: StandInGitHost, pull: Pull) => void> = {
  merge: (host, pull) => host.merge(pull),
  'request-changes': (host, pull) => host.review(pull, 'ben', 'CHANGES_REQUESTED'),
  // Checks that end late update nothing, and Docket does not wait for them for ever; but it sees each new commit.
  'fail-checks'(host, pull) {
    host.push(pull);
    host.check(pull, { build: 'failed' });
  },
};

/** Readers find what a merged pull request was asked for, if that was a search under a digest. */
function publish({ agent, readers }: World['platform'], { repository, number }: Pull) {
  const isOf = (link = '') => link.endsWith(`${repository}/pull/${number}`);
  for (const { jobId, prompt } of agent.messages) {
    const [, search] = /^Readers searched "([^"]+)"/.exec(prompt) ?? [];
    if (search !== undefined && isOf(agent.jobs.get(jobId)?.prLink ?? undefined)) readers.answer(search);
  }
}

/** Does to the world what a visitor wants. */
export async function makeTrouble(
  world: World,
  parts: { switches: Switchboard; timeline: Timeline; onChange: () => void },
  trouble: Trouble,
): Promise<Outcome> {
  const { platform, docket, gitHost } = world;
  const { switches, timeline } = parts;
  if (!docket && ['kill-bot', 'redis'].includes(trouble.do))
    return { ok: false, problem: 'The stand-ins run alone here: this bot is not theirs.' };
  if (docket?.redis.up === false && ['move-clock', 'pull-request'].includes(trouble.do))
    return { ok: false, problem: 'Redis is stopped, so nothing could be woken: start it first.' };
  switch (trouble.do) {
    case 'switch':
      await timeline.trouble(`${trouble.name} ${trouble.on ? 'on' : 'off'}`, async () =>
        switches.set(trouble.name, trouble.on),
      );
      return { ok: true };
    case 'end-links':
      await timeline.trouble('end links', async () => platform.endLinks());
      return { ok: true };
    case 'kill-bot':
      await timeline.trouble('kill -9', async () => docket?.bot.kill());
      return { ok: true };
    case 'redis':
      await timeline.trouble(trouble.up ? 'start Redis' : 'stop Redis', async () =>
        trouble.up ? docket?.redis.start() : docket?.redis.kill(),
      );
      return { ok: true };
    case 'pull-request': {
      const pull = gitHost && openPull(gitHost);
      if (!pull) return { ok: false, problem: 'No pull request is open.' };
      await timeline.trouble(`${trouble.change} #${pull.number}`, async () => {
        CHANGES[trouble.change](gitHost, pull);
        if (pull.state === 'merged') publish(platform, pull);
        await moveClock(world, PULL_REQUESTS_MS);
      });
      parts.onChange();
      return { ok: true };
    }
    case 'move-clock':
      await timeline.trouble('move the clock', () => moveClock(world, trouble.byMs));
      parts.onChange();
      return { ok: true };
  }
}

/** Moves everybody's time on, and wakes what is due then. */
async function moveClock(world: World, byMs: number): Promise<void> {
  const { docket, slack } = world;
  const moving = moveClocks(world, world.clock.aheadMs + byMs);
  // Docket refuses what was signed by another time than its own.
  slack.holdEvents(moving);
  await moving;
  if (!docket) return;
  if (byMs >= HOUR_MS) await forgetHours(docket.redis.client);
  await wakeRuns(docket.redis.client);
}

async function moveClocks({ slack, clock, docket }: World, aheadMs: number): Promise<void> {
  const onTheirWay = slack.events.filter(({ attempts }) => attempts.length === 0);
  await slack.until(() => onTheirWay.every(({ attempts }) => attempts.length > 0), 3000).catch(() => {});
  await docket?.bot.moveClock(aheadMs);
  clock.moveTo(aheadMs);
}

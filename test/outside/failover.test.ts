import { describe, expect, onTestFinished, test } from 'vitest';
import { answerQuestions, converse, followJobs, openTroubles } from '../support/flows/agent-people.ts';
import { verdictOn } from '../support/flows/agent-verdict.ts';
import { type ChaosWorld, chaosTiming, type Member, seeded } from '../support/flows/chaos-world.ts';
import { addSite } from '../support/flows/site.ts';
import { expectEachOnce, tellStory } from '../support/flows/trouble.ts';
import { createWorld } from '../support/flows/world.ts';
import {
  type GroupNode,
  type RedisGroup,
  startCluster,
  startSentinels,
} from '../support/store/redis-groups.ts';

const groups = { Sentinel: () => startSentinels(), 'a cluster': () => startCluster(2) };
const freeze = (primary: GroupNode) => primary.freeze();
const strikes = {
  'is killed': (primary: GroupNode) => primary.kill(),
  freezes: freeze,
  // It takes itself for the primary still, and connections that outlived it lead there.
  'freezes until another one is promoted': freeze,
  'is at work when another one is promoted': (_: GroupNode, group: RedisGroup) => group.promoteAnother(),
};

/** From the promotion of another primary until work goes on. */
const BACK_MS = 15_000;

/** Returns what is awaited later on: when the test fails before that, its failure is the one to report. */
function waitedFor<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

describe.each(['Sentinel', 'a cluster'] as const)('with %s', (how) => {
  test.each(Object.keys(strikes) as (keyof typeof strikes)[])(
    'the primary %s in the middle of exports and threads: nothing is lost, and nothing is there twice',
    async (what) => {
      const group = await groups[how]();
      onTestFinished(() => group.close());
      const world = await createWorld({
        processes: true,
        slack: { rateLimits: false, eventRetryDelaysMs: Array.from({ length: 100 }, () => 400) },
        // What a bot whose Redis is away owes to Slack: not to accept what it cannot keep.
        mayViolate: /^event \w+: (answered 500|no answer in time)$|: no answer within/,
      });
      const { slack, platform } = world;
      const fleet: Member[] = [];
      for (const role of ['web', 'worker', 'worker'] as const) {
        const env = { REDIS_URL: group.url, DOCKET_ROLE: role };
        const config = 'limits: { followUpsPerHour: 10000, exportStatusPerSecond: 100 }\n';
        fleet.push({ role, bot: await world.startBot({ timing: chaosTiming, env, config }) });
      }
      const chaos: ChaosWorld = { world, fleet, replace: async () => {}, route: () => {} };
      const random = seeded(7);
      const threads = await followJobs(chaos, 2);
      const over = new AbortController();
      const answering = waitedFor(answerQuestions(chaos, threads, over.signal));
      const talk = { threads: 2, replies: 8, gapMs: 1500 };
      const conversations = threads.map((thread) => waitedFor(converse(chaos, thread, talk, random)));
      const exports = ['one', 'two', 'three'].map((name) =>
        waitedFor(tellStory(world, undefined, addSite(world, name))),
      );

      await slack.until(() => platform.starts.length > 0 && platform.agent.messages.length > 1, 30_000);
      const before = await group.replacePrimary((primary) => strikes[what](primary, group));
      if (what === 'freezes until another one is promoted') before.thaw();
      const late = addSite(world, 'late');
      exports.push(waitedFor(tellStory(world, undefined, late)));
      const isStarted = () => platform.starts.some(({ domain }) => domain === late.domain);
      await slack.until(isStarted, BACK_MS, 'a start after the promotion');
      // Who was the primary may not lead anybody away when it comes back.
      before.thaw();

      const stories = await Promise.all(exports);
      await Promise.all(conversations);
      const { client } = await group.primary();
      const counts = async () => {
        // An export is due again when its link ends.
        const runs = (await client.zrange('{docket}:runs:active', '0', '-1')).filter(
          (run) => !run.startsWith('export '),
        );
        return [runs.length, await client.zcard('{docket}:messages:undelivered'), openTroubles(world).length];
      };
      await expect.poll(counts, { timeout: 60_000 }).toEqual([0, 0, 0]);
      over.abort();
      await answering;
      // A start whose answer came while nobody could keep it is asked about; one after the promotion is not.
      for (const { ending } of stories) expect(['done', 'question']).toContain(ending);
      expect(stories.at(-1)?.ending).toBe('done');
      expectEachOnce(world, ...stories);
      expect(verdictOn(world, threads)).toEqual({
        lost: [],
        twice: [],
        outOfOrder: [],
        unwanted: [],
        withoutOutcome: [],
        postedTwice: [],
        openQuestions: [],
      });
      await world.close();
    },
    180_000,
  );
});

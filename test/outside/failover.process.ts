import { expect, onTestFinished, test } from 'vitest';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { chaosTiming } from '../support/flows/chaos.ts';
import { addSite } from '../support/flows/site.ts';
import { expectNothingTwice, tellStory } from '../support/flows/trouble.ts';
import { createWorld } from '../support/flows/world.ts';
import { type GroupNode, startCluster, startSentinels } from '../support/store/redis-groups.ts';

/** From the strike until a new export is started. */
const BACK_MS = 15_000;

/** Nobody but Redis dies here. So locks and calls last as long as for people, whatever a busy machine makes of a failover. */
const { docsCallMs, slackCallMs, callMarginMs, lockMs } = defaultTiming;
const timing = { ...chaosTiming, docsCallMs, slackCallMs, callMarginMs, lockMs };

const kill = (primary: GroupNode) => primary.kill();
const freeze = (primary: GroupNode) => primary.freeze();

test.each([
  ['Sentinel', 'is killed', 15, () => startSentinels(), kill],
  ['Sentinel', 'freezes', 15, () => startSentinels(), freeze],
  ['a cluster', 'is killed', 5, () => startCluster(2), kill],
] as const)(
  'with %s, the primary %s in the middle of %i exports: all start once, and all get their links',
  async (_, __, exports, startGroup, strike) => {
    const group = await startGroup();
    onTestFinished(() => group.close());
    const world = await createWorld({ processes: true, slack: { rateLimits: false } });
    const { slack, platform } = world;
    for (const role of ['web', 'worker'])
      await world.startBot({
        timing,
        env: { REDIS_URL: group.url, DOCKET_ROLE: role },
        config: 'limits: { exportStatusPerSecond: 100, exportsPerPerson: 20 }\n',
      });
    const stories: ReturnType<typeof tellStory>[] = [];
    const ask = (number: number) => {
      const story = tellStory(world, undefined, addSite(world, `site${number}`));
      // When the test fails before this is awaited, that failure is the one to report.
      story.catch(() => {});
      stories.push(story);
    };

    for (let asked = 0; asked < exports - 1; asked += 1) ask(asked);
    await slack.until(() => platform.starts.length >= 3, 30_000);
    const struckAtMs = performance.now();
    await group.replacePrimary(strike);
    ask(exports - 1);
    const isStarted = () => platform.starts.some(({ domain }) => domain.includes(`site${exports - 1}`));
    await slack.until(isStarted, BACK_MS, 'a start after the failover');
    expect(performance.now() - struckAtMs).toBeLessThan(BACK_MS);

    const ended = await Promise.all(stories);
    expect(ended.map(({ ending }) => ending)).toEqual(Array(exports).fill('done'));
    expect(platform.starts).toHaveLength(exports);
    expectNothingTwice(world, ...ended);
    await world.close();
  },
  60_000,
);

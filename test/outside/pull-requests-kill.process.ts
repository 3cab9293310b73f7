import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetHours } from '../../demo/bot/wake.ts';
import { createStandInGitHost } from '../../demo/git-host/git-host.ts';
import type { Call, Phase } from '../../demo/wire.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stageOf } from '../support/flows/stage.ts';
import { holdAt, lose } from '../support/flows/strike-at.ts';
import { createWorld } from '../support/flows/world.ts';

/** A call about a pull request whose checks fail, and which is then merged. */
interface Moment {
  name: string;
  nth: number;
  /** The words of the post. */
  says?: string;
}

const MOMENTS: Moment[] = [
  { name: 'GitHub pulls/{number}', nth: 1 },
  { name: 'GitHub pulls/{number}/reviews', nth: 1 },
  { name: 'GitHub commits/{sha}/check-runs', nth: 1 },
  { name: 'GitHub commits/{sha}/status', nth: 1 },
  { name: 'GitHub pulls', nth: 1 },
  { name: 'GitHub pulls', nth: 2 },
  { name: 'chat.postMessage', nth: 1, says: 'Checks failed' },
  { name: 'chat.postMessage', nth: 1, says: 'Merged' },
  { name: 'GitHub pulls/{number}', nth: 2 },
];
const phases = ['before', 'after'] as const;
const timing = {
  pullRequestsSoonMs: 300,
  pullRequestsHourlyMs: 300,
  postsPerMinute: 6000,
  editsPerMinute: 6000,
  readsPerMinute: 6000,
};
const LONG_MS = 120_000;
const patient = { deploymentCallMs: LONG_MS, slackCallMs: LONG_MS, docsCallMs: LONG_MS };

async function createPullRequests() {
  const world = await createWorld({
    processes: true,
    slack: { rateLimits: false },
    // What a bot owes that is killed.
    mayViolate: /: no answer (?:in time|within 3000 ms)$/,
  });
  const { slack, platform } = world;
  const scene = stageOf(() => world);
  const agents = agentsOn(scene);
  const repositoryOf = (moment: Moment) => `acme/docs-${MOMENTS.indexOf(moment)}`;
  const host = createStandInGitHost({ repositories: MOMENTS.map(repositoryOf) });
  const { url, close } = await host.listen();
  // Its checks have failed before anybody looks.
  host.wire.onCall(({ name, detail }, at) => {
    if (name !== 'GitHub pulls/{number}' || at !== 'before') return;
    const pull = host.pull(String(detail.repository), Number(detail.number));
    if (pull.checks.size === 0) host.check(pull, { build: 'failed' });
  });
  const bot = {
    env: { GIT_TOKEN: host.token },
    config: `
projects:
  acme:
    projectId: ${platform.projectId}
    pullRequests: { github: { token: { env: GIT_TOKEN }, apiUrl: ${url}/api/v3 }, remindAfterDays: 0 }
`,
  };
  const posts = (moment: Moment, part: string) =>
    slack.messages.filter(
      (one) => !one.deleted && slack.read(one).includes(`${part} · ${repositoryOf(moment)}#`),
    );
  // Docket polls so often here that it would soon use up the requests of its hour.
  const forgetting = setInterval(() => forgetHours(world.redis.client).catch(() => {}), 1000);
  /** Merges each whose failed checks people have seen. */
  const merging = setInterval(() => {
    for (const moment of MOMENTS)
      for (const pull of host.pulls)
        if (pull.repository === repositoryOf(moment) && pull.state === 'open')
          if (posts(moment, 'Checks failed').length > 0) host.merge(pull);
  }, 50);

  return {
    world,
    posts,
    async killAt(phase: Phase) {
      const first = await world.startBot({ ...bot, timing: { ...timing, ...patient } });
      const isOf =
        (moment: Moment) =>
        ({ name, detail }: Call) =>
          name === moment.name &&
          (moment.says === undefined
            ? detail.repository === repositoryOf(moment)
            : JSON.stringify(detail).includes(repositoryOf(moment)) &&
              JSON.stringify(detail).includes(moment.says));
      const outside = [slack, host];
      const moments = MOMENTS.map(
        (moment) => [moment, { call: isOf(moment), phase, nth: moment.nth }] as const,
      );
      const standing = holdAt(outside, moments);
      for (const moment of MOMENTS) {
        const repository = `${url}/${repositoryOf(moment)}`;
        const jobId = platform.agent.add({ repository, prLink: null });
        const { card } = await agents.follows({ jobId });
        await agents.replies(card, `Also add ${repositoryOf(moment)}`);
      }
      await standing.allStand();
      if (phase === 'before') lose(outside, [...standing.held.values()]);
      await first.kill();
      standing.goOn();
      // Who starts after a kill soon takes over what the dead had in hand.
      const soon = { lockMs: 600, stalledMs: 100, sweepMs: 50, deploymentCallMs: 10_000 };
      await world.startBot({ ...bot, timing: { ...timing, ...soon } });
      const isDone = (moment: Moment) =>
        posts(moment, 'Merged').length > 0 &&
        slack.messages.some((one) =>
          new RegExp(`Pull request · ${repositoryOf(moment)}#\\d+ · merged by ben`).test(slack.read(one)),
        );
      await slack.until(() => MOMENTS.every(isDone), 60_000, 'all merges');
    },
    async close() {
      clearInterval(merging);
      clearInterval(forgetting);
      await world.close();
      await close();
    },
  };
}

describe.each(phases)('kill -9 of the bot, %s each call about a pull request took effect', (phase) => {
  let played: Awaited<ReturnType<typeof createPullRequests>>;
  beforeAll(async () => {
    played = await createPullRequests();
    await played.killAt(phase);
  }, 180_000);
  afterAll(() => played.close());

  test.each(MOMENTS)('$name $nth $says: one post of each kind', (moment) => {
    expect(played.posts(moment, 'Checks failed')).toHaveLength(1);
    expect(played.posts(moment, 'Merged')).toHaveLength(1);
    expect(played.posts(moment, 'Pull request')).toHaveLength(1);
  });
});

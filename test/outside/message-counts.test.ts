import { describe, expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { dayAfter, digestStage, digestWorld } from '../support/flows/digest-stage.ts';
import { deploymentStage } from '../support/flows/receiver.ts';
import { stage, stageOf } from '../support/flows/stage.ts';
import { createWorld, type World } from '../support/flows/world.ts';

/** What Slack gets of one job. */
interface Counts {
  posts: number;
  /** The messages that stay. */
  left: number;
  /** Edits that only move the progress depend on how long it takes, and are left out. */
  edits: number;
  reactions: number;
  ephemerals: number;
  files: number;
  /** Whom posts notify. */
  mentions: number;
}

/** The most that a job may take of Slack. */
const bounds = {
  export: { posts: 3, left: 2, edits: 2, reactions: 0, ephemerals: 0, files: 0, mentions: 1 },
  round: { posts: 2, left: 2, edits: 3, reactions: 1, ephemerals: 0, files: 0, mentions: 1 },
  digest: { posts: 2, left: 3, edits: 0, reactions: 0, ephemerals: 0, files: 1, mentions: 0 },
} satisfies Record<string, Counts>;

/** Whether the text of an edit shows progress. */
const isProgress = (text: unknown) => /\d+(?:%| percent)/.test(String(text));

/** Waits until no message is left to deliver. Before it, what changes again soon may never be shown. */
const allShown = ({ redis }: World) =>
  expect.poll(() => redis.client.zcard(keys.undelivered()), { timeout: 20_000 }).toBe(0);

/** Returns a function that waits until everything is shown, and returns what Slack got since it was last called. */
function counterOf(world: World): () => Promise<Counts> {
  const { slack } = world;
  const seen = { calls: 0, messages: 0, ephemerals: 0 };

  return async () => {
    await allShown(world);
    const calls = slack.wire.calls.slice(seen.calls);
    const messages = slack.messages.slice(seen.messages).filter(({ from }) => from === 'docket');
    const left = messages.filter(({ deleted }) => !deleted).length;
    const ephemerals = slack.ephemerals.length - seen.ephemerals;
    Object.assign(seen, {
      calls: slack.wire.calls.length,
      messages: slack.messages.length,
      ephemerals: slack.ephemerals.length,
    });
    const made = (pattern: RegExp) => calls.filter(({ name }) => pattern.test(name));
    return {
      posts: made(/^chat\.postMessage$/).length,
      left,
      edits: made(/^chat\.update$/).filter(({ detail }) => !isProgress(detail.text)).length,
      reactions: made(/^reactions\./).length,
      ephemerals,
      files: made(/^files\.completeUpload/).length,
      mentions: messages.flatMap(({ notifies }) => notifies).length,
    };
  };
}

/** An export with progress, and a round of the agent with two replies and a pull request. */
async function tell(world: World): Promise<{ export: Counts; round: Counts }> {
  const { slack, platform } = world;
  const counts = counterOf(world);
  const scene = stageOf(() => world);
  const { replies, plan, finish, sent } = agentsOn(scene);
  const mentions = () => slack.messages.flatMap(({ notifies }) => notifies).length;

  await scene.exporting('/docs-export docs.acme.com');
  await allShown(world);
  platform.finish('docs.acme.com');
  await slack.until(() => mentions() === 1, 20_000, 'the end of the export');
  const exporting = await counts();

  const jobId = platform.agent.add();
  await scene.asks(`/docs-agent follow ${jobId}`);
  const isCard = /^(?:✅ Ready · |🤖 .* · Idle$)/mu;
  const card = await slack.until(
    () => slack.messages.find((message) => isCard.test(slack.read(message))),
    20_000,
    'the card of the thread',
  );
  await counts();
  plan(jobId);
  await replies(card, 'Add a quickstart');
  await sent(1);
  const status = () => slack.messages.some(({ threadTs, from }) => threadTs === card.ts && from === 'docket');
  await slack.until(status, 20_000, 'the status of the round');
  await allShown(world);
  finish(jobId, 'new_pr');
  await slack.until(() => mentions() === 2, 20_000, 'the end of the round');
  return { export: exporting, round: await counts() };
}

async function countJobs() {
  const world = await createWorld();
  try {
    await world.startBot();
    return await tell(world);
  } finally {
    await world.close();
  }
}

/** Asserts that each count is at most that of the bound. */
function expectAtMost(counts: Counts, bound: Counts) {
  const kinds = Object.keys(bound) as (keyof Counts)[];
  const more = kinds.filter((kind) => counts[kind] > bound[kind]);
  expect(more.map((kind) => `${counts[kind]} ${kind} where ${bound[kind]} may`)).toEqual([]);
}

test('an export and a round of the agent take no more of Slack than this', async () => {
  const now = await countJobs();
  expectAtMost(now.export, bounds.export);
  expectAtMost(now.round, bounds.round);
});

/** The bot's messages that stay in Slack, and whom they mention. */
function leftIn({ slack }: World) {
  const left = slack.messages.filter(({ from, deleted }) => from === 'docket' && !deleted);
  const below = left.filter(({ threadTs }) => threadTs !== undefined).length;
  return {
    cards: left.length - below,
    below,
    mentions: slack.messages.flatMap(({ notifies }) => notifies).length,
  };
}

describe('what stays of an export that is deployed by hand', async () => {
  const { scene, receiver, deploys } = await deploymentStage();

  test('a card, the ending and the deployment, with a mention each', async () => {
    await deploys('v1');
    await scene.until(['Sent to production']);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await scene.until(['✅ @ana Live on production']);
    await allShown(scene.world);
    expect(leftIn(scene.world)).toEqual({ cards: 1, below: 2, mentions: 2 });
  });
});

describe('what stays in a followed thread', () => {
  const scene = stage();
  const { follows, plan, finish, replies, untilBelow } = agentsOn(scene);

  test('a round with a preview leaves two messages and two mentions, and a further round one', async () => {
    const { jobId, card } = await follows();
    const left = () => {
      const below = scene.slack.messages.filter(
        ({ threadTs, from, deleted }) => threadTs === card.ts && from === 'docket' && !deleted,
      );
      return { messages: below.length, mentions: below.flatMap(({ notifies }) => notifies).length };
    };
    plan(jobId);
    await replies(card, 'Add a quickstart');
    await untilBelow(card, '⏳');
    finish(jobId, 'new_pr');
    await untilBelow(card, '✅ @ana Pull request · ');
    await scene.clicks('ben', '✅ @ana Pull request · ', 'Build preview');
    await untilBelow(card, '[Open preview]');
    await allShown(scene.world);
    expect(left()).toEqual({ messages: 2, mentions: 2 });

    plan(jobId);
    await replies(card, 'Also describe the limits');
    await untilBelow(card, '⏳');
    finish(jobId, 'no_pr');
    await untilBelow(card, '➖ @ana No pull request · ');
    await allShown(scene.world);
    expect(left()).toEqual({ messages: 3, mentions: 3 });
  });
});

describe('a weekly digest', () => {
  // A digest that is posted before its pages are collected is edited. On a busy machine, collecting takes longer.
  const bot = { ...digestWorld.bot, timing: { digestWaitMs: 20_000 } };
  const { scene, creates, reads, quiet, toBerlin, toSunday, digest, settled } = digestStage({
    ...digestWorld,
    bot,
  });

  test('takes two posts and a file, and mentions nobody', async () => {
    const week = await toSunday();
    quiet(dayAfter(week, -7), week);
    reads('/quickstart', week, { human: 770, ai: 140 });
    await creates();
    const counts = counterOf(scene.world);
    await counts();
    await toBerlin(1, '09:00');
    await digest('14–20 Sep 2026', { has: ['.csv'] });
    await settled();
    expectAtMost(await counts(), bounds.digest);
  });
});

import { describe, expect, test } from 'vitest';
import type { ExportPlan } from '../../demo/docs-platform/export-jobs.ts';
import type { SentMessage } from '../../demo/slack/workspace.ts';
import { agentsOn, type Followed, SEND } from '../support/flows/agent-stage.ts';
import { releasedProgram } from '../support/flows/released.ts';
import { stageOf } from '../support/flows/stage.ts';
import { createWorld, type World } from '../support/flows/world.ts';

const program = releasedProgram();
if (program === undefined)
  console.warn('Tests with the last release are left out: its history is not here, as in a shallow clone.');

/** Work of every kind, each on a site or in a thread of its own. */
const sites = ['done', 'failed', 'running', 'unclear', 'linkless'].map((name) => `${name}.acme.com`);
const [DONE, FAILED, RUNNING, UNCLEAR, LINKLESS] = sites as [string, string, string, string, string];
const START = 'POST /v1/static-export/jobs';
const BUNDLE = 'POST /v1/static-export/jobs/{jobId}/bundle';

/** How a test has both programs work in a world of its own. */
function storyIn(world: World) {
  const scene = stageOf(() => world);
  const { replies, reacted, untilBelow, plan, finish, instructions, sent, clicksNote, note } =
    agentsOn(scene);
  const released = () => world.startBot({ ...(program !== undefined && { program }) });
  const current = () => world.startBot();
  const exporting = (domain: string, how: ExportPlan = {}) => {
    world.platform.plan({ domain, ...how });
    return scene.asks(`/docs-export ${domain}`);
  };
  /** Waits for the newest message with one of these in it: the two programs do not say everything in the same words. */
  const shown = (texts: string[]) =>
    world.slack.until(
      () =>
        world.slack.messages.findLast((message) =>
          texts.some((text) => !message.deleted && world.slack.read(message).includes(text)),
        ),
      20_000,
      texts.join(' or '),
    );
  const clicks = (message: SentMessage, button: string) => world.slack.person('ana').clicks(message, button);
  const readyText = (domain: string) => [`export of ${domain} is ready`, `${domain} is exported`];
  const questionText = [`whether the export of ${UNCLEAR} started`, `Did the export of ${UNCLEAR} start?`];
  const startsOf = (domain: string) =>
    world.platform.starts.filter((start) => start.domain === domain).length;

  async function follows(where: string): Promise<Followed> {
    const jobId = world.platform.agent.add();
    const before = new Set(world.slack.messages);
    await scene.asks(`/docs-agent follow ${jobId}`, { where });
    const isCard = (message: SentMessage) =>
      !before.has(message) && /^(?:✅ Ready · |🤖 .* · Idle$)/mu.test(world.slack.read(message));
    const card = await world.slack.until(() => world.slack.messages.find(isCard), 20_000, 'a card');
    return { jobId, card };
  }

  /** Has work in every state at the bot that runs. */
  async function leavesWork() {
    const { wire } = world.platform;
    await exporting(DONE, { durationMs: 10 });
    await shown(readyText(DONE));
    await exporting(FAILED, { failAt: 0.3, durationMs: 10 });
    await scene.until([`export of ${FAILED} failed`]);
    await exporting(RUNNING, { holdAt: 0.42, durationMs: 10 });
    await shown([`${RUNNING} — Running`, `⏳ Exporting · ${RUNNING}`]);
    wire.order(START, { kind: 'reset', when: 'after' });
    await exporting(UNCLEAR, { holdAt: 0.42 });
    await shown(questionText);
    wire.order(BUNDLE, { kind: 'answer', status: 503 }, 1000);
    await exporting(LINKLESS, { durationMs: 10 });
    await scene.until(["I can't reach the platform"]);

    const working = await follows('#docs');
    plan(working.jobId);
    await replies(working.card, 'Rewrite the quickstart');
    await untilBelow(working.card, '⏳');
    const asking = await follows('#private');
    wire.order(SEND, { kind: 'reset', when: 'before' });
    await replies(asking.card, 'This one may have arrived');
    await untilBelow(asking.card, '[Send again] [Leave it]');
    await replies(asking.card, 'This one waits behind it');
    await scene.until(['1 instruction waiting'], '#private');
    const held = await follows('#docs');
    const reply = await replies(held.card, 'what would you say?', { who: 'ben' });
    await reacted(reply, 'double_vertical_bar');
    await note('ben', 'Is this for the agent?');
    return { working };
  }

  /** The bot that runs finishes all of it, each once, also by buttons that the other one showed. */
  async function finishes({ working }: Awaited<ReturnType<typeof leavesWork>>) {
    world.platform.wire.clear();
    await shown(readyText(LINKLESS));
    world.platform.finish(RUNNING);
    await shown(readyText(RUNNING));
    await clicks(await shown(questionText), 'Leave it');
    await shown([
      'The platform gave no clear answer to the start. Left at that by @ana.',
      `Whether the export of ${UNCLEAR} started is unclear. ana chose not to start it again.`,
      `It's unclear whether the export of ${UNCLEAR} started. ana chose not to start it again.`,
    ]);
    await clicks(await shown(readyText(DONE)), 'New link');
    world.platform.plan({ domain: FAILED, durationMs: 10 });
    const failed = await shown([`export of ${FAILED} failed`]);
    await clicks(failed, world.slack.read(failed).includes('[Start again]') ? 'Start again' : 'Try again');
    await shown(readyText(FAILED));

    finish(working.jobId, 'new_pr');
    await untilBelow(working.card, 'opened a pull request');
    const unclear = await shown(['may or may not have arrived', 'reach the agent?']);
    await world.slack.person('ben').clicks(unclear, 'Send again');
    await sent(3);
    await clicksNote('ben', 'Is this for the agent?', 'Send');
    expect((await sent(4)).toSorted()).toEqual([
      'Rewrite the quickstart',
      'This one may have arrived',
      'This one waits behind it',
      'what would you say?',
    ]);
    await replies(working.card, 'The thread is still followed');
    await sent(5);
    expect(instructions().indexOf('This one may have arrived')).toBeLessThan(
      instructions().indexOf('This one waits behind it'),
    );
    expect(sites.map(startsOf)).toEqual([1, 2, 1, 1, 1]);
    for (const { text, channel, threadTs } of world.slack.messages.filter(({ from }) => from === 'docket')) {
      const same = world.slack.messages.filter(
        (other) => other.text === text && other.channel === channel && other.threadTs === threadTs,
      );
      expect(same, text).toHaveLength(1);
    }
  }

  return { released, current, exporting, leavesWork, finishes, scene };
}

type Story = ReturnType<typeof storyIn>;

const stories: [string, (story: Story) => Promise<void>][] = [
  [
    'what the last release left is finished, once',
    async ({ released, current, leavesWork, finishes }) => {
      const old = await released();
      const work = await leavesWork();
      await old.kill();
      await current();
      await finishes(work);
    },
  ],
  [
    'what this program left survives the last release, which runs for a while',
    async ({ released, current, leavesWork, finishes, exporting, scene }) => {
      const first = await current();
      const work = await leavesWork();
      await first.kill();
      const old = await released();
      await exporting('docs.acme.com', { failAt: 0.3, durationMs: 10 });
      await scene.until(['export of docs.acme.com failed']);
      await old.kill();
      await current();
      await finishes(work);
    },
  ],
  [
    'both at once: work goes on whoever takes it',
    async ({ released, current, leavesWork, finishes }) => {
      const old = await released();
      const work = await leavesWork();
      await current();
      await finishes(work);
      expect(old.running()).toBe(true);
    },
  ],
];

describe.skipIf(program === undefined)('this program and the last release on one Redis', () => {
  test.concurrent.each(stories)('%s', async (_, plays) => {
    const world = await createWorld({ processes: true });
    try {
      world.platform.domains.push(...sites);
      await plays(storyIn(world));
    } finally {
      await world.close();
    }
  });
});

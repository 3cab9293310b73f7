import { describe, expect, test } from 'vitest';
import type { Phase } from '../../demo/wire.ts';
import { keys } from '../../src/store/keys.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { type Stage, stage } from '../support/flows/stage.ts';

/** The outside calls of a preview or an update, and which one of that name. */
const CALLS = (start: string): [string, number][] => [
  [start, 1],
  ['GET /v1/project/update-status/{statusId}', 1],
  ['chat.update', 1],
  ['chat.postMessage', 1],
  // The card of a followed thread shows its preview, so the ending is the only post.
  ...(start === UPDATE ? ([['chat.postMessage', 2]] as [string, number][]) : []),
];
const PREVIEW = 'POST /v1/project/preview/{projectId}';
const UPDATE = 'POST /v1/project/update/{projectId}';

const momentsOf = (start: string) =>
  CALLS(start).flatMap(([name, nth]) =>
    (['before', 'after'] as const).map((phase) => [phase, nth, name] as const),
  );

/** Who starts after a kill soon takes over what the dead had in hand. A start has as long as elsewhere: its question counts. */
const config = 'limits: { exportStatusPerSecond: 100 }\n';
const bot = { config, timing: { slackCallMs: 600, lockMs: 450, stalledMs: 100, sweepMs: 50 } };

/** Kills the bot at the nth call of this name, which is lost before or after it takes effect; then starts another. */
async function killAt({ world }: Stage, name: string, nth: number, phase: Phase): Promise<void> {
  const killed = world.bots.at(-1);
  let count = 0;
  for (const { wire } of [world.slack, world.platform]) {
    const before = wire.calls.length;
    const struck = new Promise<void>((resolve) => {
      const stop = wire.onCall(async (call, at) => {
        if (call.n <= before || call.name !== name || at !== phase) return;
        count += 1;
        if (count !== nth) return;
        stop();
        if (phase === 'before') wire.order((one) => one === call, { kind: 'reset', when: 'before' });
        await killed?.kill();
        resolve();
      });
    });
    void struck.then(() => world.startBot(bot));
  }
}

/** Waits for the end, and answers the question on the way to it. Nothing was done, or shown, twice. */
async function endsOnce(scene: Stage, what: string, phase: Phase) {
  const [, name = ''] = what.split(' of ');
  const isOfRun = (text: string) =>
    text.includes(what) || (text.includes(name) && /^(?:Preview|Building preview|Updat)/.test(text));
  const shown = () =>
    scene.slack.messages
      .filter(({ deleted, text }) => !deleted && isOfRun(text))
      .map((message) => scene.slack.read(message).split('\n')[0] ?? '');
  const has = (pattern: RegExp) => shown().some((text) => pattern.test(text));
  const isPreview = what.startsWith('preview');
  const isDone = () => has(/^✅ @\w+ (?:Preview ready|Updated)/);
  await scene.slack.until(() => isDone() || has(/^❔ .*Did the/), 60_000, what);
  const isAsked = !isDone();
  if (isAsked) {
    await scene.clicks(
      'ana',
      `Did the ${what} start?`,
      phase === 'before' ? 'Start anyway' : "Don't start again",
    );
    await scene.slack.until(
      () => (phase === 'before' ? isDone() : has(/Not started again|chose not to start it again/)),
      60_000,
      what,
    );
  }
  // A second message would come later.
  const due = () => scene.world.redis.client.zrange(keys.activeRuns(), '0', '-1');
  await expect
    .poll(async () => (await due()).filter((one) => /^(?:site|outbox) /.test(one)), { timeout: 30_000 })
    .toEqual([]);
  expect(scene.platform.site.builds).toHaveLength(1);
  // An update has a line, too. The answer stands in the place of a question; if it is [Don't start again], no ending follows.
  expect(shown()).toHaveLength((isAsked && phase === 'before' ? 2 : 1) + (isPreview ? 0 : 1));
}

/** The outside calls of a scheduled export after an update, from the poll that shows its end. */
const CALLS_OF_EXPORT: [string, number][] = [
  ['GET /v1/project/update-status/{statusId}', 1],
  ...([2, 3, 4] as const).map((nth): [string, number] => ['chat.postMessage', nth]),
  ['POST /v1/static-export/jobs', 1],
  ['GET /v1/static-export/jobs/{jobId}', 1],
  ['chat.update', 2],
];

/** The stories of each stage come one after the other; the two stages go on at once. */
const inTurn = { concurrent: false };
const fast = { durationMs: 100 };
const world = { processes: true, platform: { exportPlan: fast, buildPlan: fast }, bot };

describe.concurrent('kill -9 of the bot', { timeout: 120_000 }, () => {
  const scene = stage(world);
  const agents = agentsOn(scene);

  test.each(momentsOf(PREVIEW))('%s call %i of %s: one preview', inTurn, async (phase, nth, name) => {
    const { card } = await agents.follows();
    await killAt(scene, name, nth, phase);
    await scene.person('ana').clicks(card, 'Build preview');
    await endsOnce(scene, 'preview of agent/quickstart', phase);
  });

  test.each(momentsOf(UPDATE))('%s call %i of %s: one update', inTurn, async (phase, nth, name) => {
    await killAt(scene, name, nth, phase);
    await scene.asks('/docs-site update');
    await endsOnce(scene, 'update of the site', phase);
  });
});

describe.concurrent('kill -9 of the bot at an export after an update', { timeout: 120_000 }, () => {
  const scene = stage(world);

  test.each(
    CALLS_OF_EXPORT.flatMap(([name, nth]) =>
      (['before', 'after'] as const).map((phase) => [phase, nth, name] as const),
    ),
  )('%s call %i of %s: one export for each of two updates', inTurn, async (phase, nth, name) => {
    const starts = () => scene.platform.starts.length;
    const exported = (times: number) => () =>
      scene.sees().filter((text) => text.includes(', took')).length === times;
    const asked = () => scene.sees().some((text) => text.includes('❔ @ana Did the export'));
    await scene.asks('/docs-export schedule');
    await scene
      .person('ana')
      .submits({ Domain: 'docs.acme.com', Day: 'After each site update started in Slack' });
    await scene.until(['Not exported yet', '[Run now]']);
    await killAt(scene, name, nth, phase);
    await scene.asks('/docs-site update');
    await scene.slack.until(() => exported(1)() || asked(), 60_000, 'an export');
    if (asked()) {
      expect(name).toBe('POST /v1/static-export/jobs');
      await scene.clicks('ana', 'Did the export', phase === 'before' ? 'Start anyway' : "Don't start again");
    }
    const first = asked() && phase === 'after' ? 0 : 1;
    await scene.slack.until(exported(first), 60_000, 'the first export');
    await scene.asks('/docs-site update');
    await scene.slack.until(exported(first + 1), 60_000, 'the second export');
    expect(starts()).toBe(2);
  });
});

import { describe, expect, test } from 'vitest';
import type { Phase } from '../../demo/wire.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { type Stage, stage } from '../support/flows/stage.ts';

/** The outside calls of a preview or an update, and which one of that name. */
const CALLS = (start: string): [string, number][] => [
  ['chat.postMessage', 1],
  [start, 1],
  ['GET /v1/project/update-status/{statusId}', 1],
  ['chat.update', 1],
  ['chat.postMessage', 2],
];
const PREVIEW = 'POST /v1/project/preview/{projectId}';
const UPDATE = 'POST /v1/project/update/{projectId}';

const momentsOf = (start: string) =>
  CALLS(start).flatMap(([name, nth]) =>
    (['before', 'after'] as const).map((phase) => [phase, nth, name] as const),
  );

/** Kills the bot at the nth call of this name, which is lost before or after it takes effect; then starts another. */
async function killAt({ world }: Stage, name: string, nth: number, phase: Phase): Promise<void> {
  const bot = world.bots.at(-1);
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
        await bot?.kill();
        resolve();
      });
    });
    void struck.then(() => world.startBot());
  }
}

/** Waits for the end, and answers the question on the way to it. Nothing was done, or shown, twice. */
async function endsOnce(scene: Stage, what: string, phase: Phase) {
  const shown = () =>
    scene.slack.messages
      .filter(({ deleted, text }) => !deleted && text.includes(what))
      .map((message) => scene.slack.read(message).split('\n')[0] ?? '');
  const has = (pattern: RegExp) => shown().some((text) => pattern.test(text));
  const isDone = () => has(/ is (?:ready|done)\./) && has(/^✅ (?:Ready|Updated)/);
  await scene.slack.until(() => isDone() || has(/^⚠️ .*Did the/), 60_000, what);
  if (!isDone()) {
    await scene.clicks('ana', `Did the ${what} start?`, phase === 'before' ? 'Start again' : 'Leave it');
    await scene.slack.until(() => (phase === 'before' ? isDone() : has(/Not started again/)), 60_000, what);
  }
  expect(scene.platform.site.builds).toHaveLength(1);
  expect(new Set(shown()).size).toBe(shown().length);
}

describe('kill -9 of the bot', { timeout: 120_000 }, () => {
  const scene = stage({ processes: true });
  const agents = agentsOn(scene);

  test.each(momentsOf(PREVIEW))('%s call %i of %s: one preview', async (phase, nth, name) => {
    const { card } = await agents.follows();
    await killAt(scene, name, nth, phase);
    await scene.person('ana').clicks(card, 'Preview');
    await endsOnce(scene, 'preview of agent/quickstart', phase);
  });

  test.each(momentsOf(UPDATE))('%s call %i of %s: one update', async (phase, nth, name) => {
    await killAt(scene, name, nth, phase);
    await scene.asks('/docs-site update');
    await endsOnce(scene, 'update of the site', phase);
  });
});

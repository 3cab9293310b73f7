import { expect, test } from 'vitest';
import { agentsOn, type Followed, SEND } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const timing = { docsCallMs: 5000, postsPerMinute: 600 };
const bot = { timing, config: 'whileWorking: send\n' };
const scene = stage({ processes: true, slack: { rateLimits: false }, bot });
const { follows, plan, finish, replies, sent, instructions, below, untilBelow } = agentsOn(scene);

test('a deploy under load: with 25 replies under way, each is sent once, and nobody is asked about any', async () => {
  const { world, platform } = scene;
  const threads: Followed[] = [];
  for (let n = 0; n < 5; n += 1) threads.push(await follows());
  for (const { jobId } of threads) for (let n = 0; n < 5; n += 1) plan(jobId);
  platform.wire.order(SEND, { kind: 'delay', ms: 700 }, 25);
  const sends = () => platform.wire.calls.filter(({ name }) => name === SEND);

  const written = threads.flatMap(({ card }, thread) =>
    [1, 2, 3, 4, 5].map((n) => ({ card, text: `Thread ${thread}, instruction ${n}` })),
  );
  for (const { card, text } of written) await replies(card, text);
  await scene.slack.until(() => sends().length >= 8);
  const [first] = world.bots;
  const before = sends().length;
  const ended = first?.terminate();
  await world.startBot(bot);
  expect(await ended).toBe(0);
  await sent(25);
  for (const { jobId } of threads) finish(jobId, 'no_pr');
  await Promise.all(threads.map(({ card }) => untilBelow(card, '➖ @')));

  expect(instructions().toSorted()).toEqual(written.map(({ text }) => text).toSorted());
  expect(
    threads.flatMap(({ card }) => below(card)).filter((text) => /❔|reach the agent\?/u.test(text)),
  ).toEqual([]);
  // Each thread had at most one on its way when the signal came.
  expect(sends().filter((call) => first?.made(call)).length).toBeLessThanOrEqual(before + threads.length);
});

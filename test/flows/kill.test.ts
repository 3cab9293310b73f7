import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectNothingTwice, type Moment, momentsOfAnExport, tellStory } from '../support/flows/trouble.ts';
import { type BotOptions, createWorld, temporaryFolder, type World } from '../support/flows/world.ts';

const START = 'POST /v1/static-export/jobs';

const undisturbed = await createWorld();
await undisturbed.startBot();
const moments = await momentsOfAnExport(undisturbed);
await undisturbed.close();

/** Tells the story until the moment has come up: calls that depend on timing may be missing from one run. */
async function until(moment: Moment, once: () => Promise<{ struck: boolean }>) {
  for (let tries = 0; tries < 4; tries += 1) {
    const { struck } = await once();
    if (struck) return;
  }
  throw new Error(`${moment.label} never came up`);
}

/** `kill -9` of the bot that makes the call; the call itself is lost with it, before or after it took effect. */
async function killAt(moment: Moment, count: number) {
  const world = await createWorld({ processes: true });
  for (let started = 0; started < count; started += 1) await world.startBot();
  const isIt = (name: string) => moment.label.startsWith(name);
  let killed: Promise<unknown> | undefined;
  const story = await tellStory(world, {
    moment,
    async act(bot) {
      const wire = isIt('GET') || isIt('POST') ? world.platform.wire : world.slack.wire;
      const call = wire.calls.at(-1);
      if (moment.phase === 'before')
        wire.order((other) => other.n === call?.n, { kind: 'reset', when: 'before' });
      await bot.kill();
      killed = world.startBot();
    },
  });
  await killed;
  expectNothingTwice(world, story);
  if (story.struck) expect(story.ending).toBe(moment.label === START ? 'question' : 'done');
  await world.close();
  return story;
}

test('the moments are every outside call of an export', () => {
  const labels = moments.filter(({ phase }) => phase === 'before').map(({ label }) => label);
  expect(
    labels.map((label) => label.replace(/ (card \S+|Queued|Running|Done|at its end|while it runs|✅)$/, '')),
  ).toEqual(
    expect.arrayContaining([
      'users.info',
      'chat.postMessage',
      'chat.update',
      START,
      'GET /v1/static-export/jobs/{jobId}',
      'POST /v1/static-export/jobs/{jobId}/bundle',
    ]),
  );
  expect(labels).toEqual(
    expect.arrayContaining(['chat.postMessage card Queued', 'chat.update card Done', 'chat.postMessage ✅']),
  );
});

describe.concurrent('kill -9 of the only bot', () => {
  test.for(moments)('$phase $label', (moment) => until(moment, () => killAt(moment, 1)));
});

describe.concurrent('kill -9 of one of two bots', () => {
  test.for(moments)('$phase $label', (moment) => until(moment, () => killAt(moment, 2)));
});

describe.concurrent('kill -9 of the embedded Redis', () => {
  test.for(moments)('$phase $label', (moment) =>
    until(moment, async () => {
      const folder = temporaryFolder();
      const world = await createWorld({ processes: true });
      await world.startBot({ dataDir: folder.path });
      const story = await tellStory(world, { moment, act: async () => killEmbeddedRedis(folder.path) });
      expectNothingTwice(world, story);
      expect(story.ending).toBe('done');
      await stopWithRedis(world);
      folder.remove();
      return story;
    }),
  );
});

function killEmbeddedRedis(dataDir: string) {
  process.kill(Number(readFileSync(join(dataDir, 'redis', 'redis.pid'), 'utf8')), 'SIGKILL');
}

/** The bot's own Redis goes only in order with it. */
async function stopWithRedis(world: World) {
  for (const bot of world.bots) expect(await bot.terminate()).toBe(0);
  await world.close();
}

/** The commands of a request on its way into Redis, in order: the clock, the write, the queue, the wake. */
describe.concurrent('kill -9 inside the intake', () => {
  test.for([1, 2, 3, 4, 5].flatMap((command) => ['before', 'after'].map((phase) => ({ command, phase }))))(
    '$phase command $command of the request',
    async ({ command, phase }) => {
      const world = await createWorld({ processes: true });
      const options: BotOptions = { env: { TEST_KILL_AT: `${command} ${phase}` } };
      const first = await world.startBot(options);
      const died = world.slack
        .until(() => !first.running(), 60_000, 'the end of the bot')
        .then(() => world.startBot());
      const story = await tellStory(world);
      await died;
      expectNothingTwice(world, story);
      expect(story.ending).toBe('done');
      await world.close();
    },
  );
});

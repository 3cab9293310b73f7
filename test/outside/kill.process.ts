import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { lose } from '../support/flows/strike-at.ts';
import { crowded, crowdedWorld, standingStill, tellStruckStories } from '../support/flows/struck-stories.ts';
import {
  type ExportStory,
  expectNothingTwice,
  type Moment,
  momentsOfAnExport,
  tellStory,
} from '../support/flows/trouble.ts';
import { type BotOptions, createWorld, temporaryFolder } from '../support/flows/world.ts';

const START = 'POST /v1/static-export/jobs';

const undisturbed = await createWorld();
await undisturbed.startBot();
const moments = await momentsOfAnExport(undisturbed);
await undisturbed.close();

const phases = ['before', 'after'] as const;

/**
 * Has each moment of an export struck, those of a phase at once in a world that `play` makes. What depends on timing
 * may be missing from one run: it is played again.
 */
function struck(play: (moments: Moment[]) => Promise<Map<Moment, ExportStory>>) {
  const stories = new Map<Moment, ExportStory>();
  const left = (phase: string) =>
    moments.filter((moment) => moment.phase === phase && !stories.get(moment)?.struck);
  beforeAll(async () => {
    for (let tries = 0; tries < 12; tries += 1)
      await Promise.all(
        phases.map(async (phase) => {
          if (left(phase).length === 0) return;
          for (const [moment, story] of await play(left(phase))) stories.set(moment, story);
        }),
      );
  }, 400_000);
  return (moment: Moment) => stories.get(moment);
}

/** `kill -9` of the bot while its calls stand still; they are lost with it, before or after they took effect. */
async function killAt(moments: Moment[]) {
  const world = await crowdedWorld();
  const bot = await world.startBot({ ...standingStill(150_000), process: true });
  const stories = await tellStruckStories(world, moments, async (held) => {
    lose(
      [world.slack, world.platform],
      held.filter(({ moment }) => moment.phase === 'before'),
    );
    await bot.kill();
    await world.startBot(crowded);
  });
  await world.close();
  expectNothingTwice(world, ...stories.values());
  return stories;
}

test('the moments are every outside call of an export', () => {
  const labels = moments.filter(({ phase }) => phase === 'before').map(({ label }) => label);
  expect(
    labels.map((label) =>
      label.replace(/ (card \S+|ending|Queued|Exporting|SITE:? \w+|at its end|while it runs)$/, ''),
    ),
  ).toEqual(
    expect.arrayContaining([
      'users.info',
      'chat.postMessage',
      'chat.update',
      'chat.delete',
      START,
      'GET /v1/static-export/jobs/{jobId}',
      'POST /v1/static-export/jobs/{jobId}/bundle',
    ]),
  );
  expect(labels).toEqual(
    expect.arrayContaining([
      'chat.postMessage card Queued',
      'chat.update card Exported',
      'chat.postMessage ending',
    ]),
  );
});

describe('kill -9 of the bot', () => {
  const storyOf = struck(killAt);
  test.for(moments)('$phase $label', (moment) => {
    const ending = moment.label === START ? 'question' : 'done';
    expect(storyOf(moment)).toMatchObject({ struck: true, ending });
  });
});

describe('kill -9 of the embedded Redis', () => {
  const storyOf = struck(async (moments) => {
    const folder = temporaryFolder();
    const world = await crowdedWorld();
    const { timing, ...more } = standingStill(150_000);
    // The process lives: on a busy machine its locks must not lapse while its calls stand still.
    await world.startBot({ ...more, timing: { ...timing, lockMs: 30_000 }, dataDir: folder.path });
    const stories = await tellStruckStories(world, moments, async () => killEmbeddedRedis(folder.path));
    await world.close();
    expectNothingTwice(world, ...stories.values());
    folder.remove();
    return stories;
  });
  test.for(moments)('$phase $label', (moment) => {
    expect(storyOf(moment)).toMatchObject({ struck: true, ending: 'done' });
  });
});

function killEmbeddedRedis(dataDir: string) {
  process.kill(Number(readFileSync(join(dataDir, 'redis', 'redis.pid'), 'utf8')), 'SIGKILL');
}

/** The commands of a request on its way into Redis, in order: the clock, the write and, once it is acknowledged, the queue. */
describe.concurrent('kill -9 inside the intake', () => {
  test.for([1, 2, 3].flatMap((command) => ['before', 'after'].map((phase) => ({ command, phase }))))(
    '$phase command $command of the request',
    async ({ command, phase }) => {
      const world = await createWorld();
      const options: BotOptions = { process: true, env: { TEST_KILL_AT: `${command} ${phase}` } };
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

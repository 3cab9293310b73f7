import { expect, test } from 'vitest';
import { keys } from '../../src/store/keys.ts';
import { canMoveClocks, movedClock } from '../support/faketime.ts';
import { digestsOn } from '../support/flows/digest-stage.ts';
import { stageOf } from '../support/flows/stage.ts';
import { createWorld } from '../support/flows/world.ts';
import { leftoverKeys, permanentRuns } from '../support/store/leftover-keys.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = 'POST /v1/static-export/jobs';

test.skipIf(!canMoveClocks)('after 40 days nothing is left but what lasts', async () => {
  const clock = movedClock(0);
  const world = await createWorld({
    redisEnv: clock.redisEnv,
    platform: {
      domains: ['docs.acme.com', 'beta.acme.com', 'gamma.acme.com'],
      exportPlan: { durationMs: 40 },
      pages: 3,
    },
  });
  await world.startBot({ env: { DOCS_DOMAIN: 'docs.acme.com' } });
  const scene = stageOf(() => world);
  const { asks, person, until, messageWith, slack, platform } = scene;
  const { creates, digest } = digestsOn(scene);
  const { client } = world.redis;

  await asks('/docs-export docs.acme.com');
  await until(['Exported · docs.acme.com · 12 pages, ', '✅ Exported · docs.acme.com']);
  await asks('/docs-export beta.acme.com --private');
  await until(['Exported · beta.acme.com · 12 pages, ']);
  platform.wire.order(START, { kind: 'reset', when: 'before' });
  await asks('/docs-export gamma.acme.com');
  await until(['Did the export of gamma.acme.com start?']);
  const follow = async (ref: string) => {
    await asks(`/docs-agent follow ${platform.agent.add({ ref })}`);
    return slack.until(() => slack.messages.find((message) => slack.read(message).includes(ref)));
  };
  const [kept, stopped] = [await follow('agent/kept'), await follow('agent/stopped')];
  await person('ana').says('#docs', 'please improve the page about errors', { threadTs: kept.ts });
  await person('ben').says('#docs', 'is this about version one?', { threadTs: kept.ts });
  await person('ana').says('#docs', 'and the one about limits', { threadTs: stopped.ts });
  await slack.until(() => platform.agent.messages.length >= 2);
  await person('ana').says('#docs', '@docket stop', { threadTs: stopped.ts });
  await person('ben').says('#docs', 'who reads this?', {
    threadTs: messageWith('gamma.acme.com').threadTs ?? '',
  });
  await creates();
  await asks('/docs-digest pause');
  await asks('/docs-digest last week');
  await digest('📊');
  await person('ana').opensHome();
  await asks('/docs-status');

  // Links end, and what is under way settles, before all else gets old.
  for (const atMs of [2 * HOUR_MS, 32 * DAY_MS]) {
    clock.move(atMs);
    await expect
      .poll(async () => (await client.zrangebyscore(keys.activeRuns(), '-inf', Date.now() + atMs)).length)
      .toBe(0);
  }
  const permanent = await permanentRuns(client);
  expect(permanent.map(({ job }) => job).toSorted()).toEqual(['agent-thread', 'digest-schedule']);
  // Without a bot, which keeps writing down how it is.
  await Promise.all(world.bots.map((bot) => bot.end()));
  clock.move(40 * DAY_MS);
  await expect.poll(() => leftoverKeys(client, permanent)).toEqual([]);
  await world.close();
});

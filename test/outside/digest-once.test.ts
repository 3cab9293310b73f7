import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dayAfter, digestsOn, digestWorld, SUNDAY_MS } from '../support/flows/digest-stage.ts';
import { stageOf } from '../support/flows/stage.ts';
import { createWorld, type World } from '../support/flows/world.ts';

describe('with two processes, a digest comes once', () => {
  let world: World;
  const scene = stageOf(() => world);
  const { asks, told, person } = scene;
  const { creates, reads, quiet, toBerlin, digest, digests, below, note, settled, toSunday } =
    digestsOn(scene);
  beforeEach(async () => {
    world = await createWorld({ startMs: SUNDAY_MS, platform: digestWorld.platform });
    await Promise.all([world.startBot(digestWorld.bot), world.startBot(digestWorld.bot)]);
    const week = await toSunday();
    quiet(dayAfter(week, -7), week);
    reads('/quickstart', week, { human: 770, ai: 140 });
  });
  afterEach(() => world.close());

  /** One digest of the week, with its one file; what is asked of the platform is asked once. */
  async function isOnce() {
    const root = await digest('14–20 Sep 2026', { has: ['Top pages', '.csv'] });
    await settled();
    expect(digests()).toEqual([root]);
    expect(below(root)).toHaveLength(2);
    expect(scene.slack.files).toHaveLength(1);
    const { views, searches } = scene.platform.analyticsRequests();
    expect({ views, searches }).toEqual({ views: 16, searches: 2 });
    expect((await scene.audit()).filter((line) => line.endsWith('→ posted'))).toHaveLength(1);
  }

  test('when it is due while several people have it sent', async () => {
    await creates();
    await toBerlin(1, '09:00');
    const answers = await Promise.all([
      asks('/docs-digest run'),
      asks('/docs-digest run', { who: 'ben' }),
      asks('/docs-digest run'),
    ]);
    for (const answer of answers)
      expect(told(answer)).toMatch(/^(?:On its way|Already posted) · digest of docs\.acme\.com in #docs/);
    await isOnce();
    expect(told(await asks('/docs-digest run', { who: 'ben' }))).toContain('Already posted');
  });

  test('when it was sent by hand before it was due', async () => {
    await creates();
    await toBerlin(1, '08:00');
    await asks('/docs-digest run');
    await digest('14–20 Sep 2026', { has: ['.csv'] });
    await toBerlin(1, '09:00');
    await isOnce();
  });

  test('when it is removed and set up again, twice in that week', async () => {
    for (const day of ['Monday', 'Tuesday', 'Thursday']) {
      const created = await creates({ Day: day });
      await toBerlin(['Monday', 'Tuesday', '', 'Thursday'].indexOf(day) + 1, '09:00');
      await digest('14–20 Sep 2026', { has: ['.csv'] });
      await person('ana').clicks(created, 'Remove');
      await person('ana').clicks(await note('ana', 'Remove the weekly digest'), 'Remove');
      await note('ana', 'Removed · ');
      await expect.poll(async () => told(await asks('/docs-digest list'))).toContain('no scheduled digests');
    }
    await isOnce();
  });
});

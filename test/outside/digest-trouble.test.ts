import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  DAY_MS,
  dayAfter,
  digestStage,
  digestsOn,
  digestWorld,
  HOUR_MS,
  SUNDAY_MS,
} from '../support/flows/digest-stage.ts';
import { stageOf } from '../support/flows/stage.ts';
import { createWorld, type World } from '../support/flows/world.ts';

/** What somebody has open. */
function shown<View>(view: View | undefined): View {
  if (view === undefined) throw new Error('nothing is open');
  return view;
}

describe('a digest that cannot be posted', () => {
  const {
    scene,
    asks,
    told,
    person,
    toldLast,
    creates,
    reads,
    quiet,
    toBerlin,
    toSunday,
    digest,
    digests,
    read,
    post,
    note,
    begun,
    untilWoken,
  } = digestStage();
  let week: string;
  beforeEach(async () => {
    week = await toSunday();
    quiet(dayAfter(week, -7), week);
    reads('/quickstart', week, { human: 700, ai: 70 });
  });
  const members = () => scene.slack.channel('#docs').members;
  const failures = () => scene.sees('@ana').filter((text) => text.includes('Digest not posted'));

  test('goes to its owner with the fix; after /invite, [Run now] posts it', async () => {
    await creates();
    members().delete(scene.slack.workspace.bot.userId);
    await toBerlin(1, '09:00');
    const failed = await post('Digest not posted', '@ana');
    expect(read(failed)).toBe(
      "❌ Digest not posted · docs.acme.com in #docs\nI'm not in #docs. Type /invite @Docket there, then choose [Run now].\n[Run now] [Remove]",
    );
    expect(digests()).toEqual([]);
    await person('ana').types('#docs', '/invite @Docket');
    await person('ana').clicks(failed, 'Run now');
    expect(read(await note('ana', 'On its way'))).toMatch(
      /^On its way · digest of docs\.acme\.com in #docs\n/,
    );
    const root = await digest('2026', { has: ['770 views', '.csv'] });
    expect(read(root)).not.toContain('Sent late');
    expect(digests()).toHaveLength(1);
    expect(failures()).toHaveLength(1);
  });

  test('is told to whoever chose [Run now] as well', async () => {
    await creates();
    members().delete(scene.slack.workspace.bot.userId);
    expect(told(await asks('/docs-digest run', { who: 'ben' }))).toContain('On its way');
    const [ofBen, ofAna] = [await post('Digest not posted', '@ben'), await post('Digest not posted', '@ana')];
    expect(read(ofBen)).toBe(read(ofAna));
    await person('ben').types('#docs', '/invite @Docket');
    await person('ben').clicks(ofBen, 'Run now');
    await post('Posted · digest of docs.acme.com', '@ben');
    expect(scene.sees('@ana').join()).not.toContain('Posted');
  });

  test('and may be there all the same is found by [Run now] after /invite, and not posted again', async () => {
    await creates();
    scene.slack.wire.order('chat.postMessage', { kind: 'reset', when: 'after' });
    await toBerlin(1, '09:00');
    await scene.slack.until(() => digests().length === 1);
    members().delete(scene.slack.workspace.bot.userId);
    const failed = await post('Digest not posted', '@ana');
    await person('ana').types('#docs', '/invite @Docket');
    await person('ana').clicks(failed, 'Run now');
    await digest('2026', { has: ['770 views', '.csv'] });
    expect(digests()).toHaveLength(1);
  });

  test('is on the Home of its owner, whose answer posts it once; then it goes from there', async () => {
    await creates();
    await person('ana').opensHome();
    members().delete(scene.slack.workspace.bot.userId);
    await toBerlin(1, '09:00');
    const home = () => {
      const view = person('ana').home();
      return view === undefined ? '' : person('ana').reads(view);
    };
    await scene.slack.until(() => home().includes('Needs you (1)\n❌ Digest not posted'));
    await person('ana').types('#docs', '/invite @Docket');
    await person('ana').clicks(shown(person('ana').home()), 'Fix');
    expect(person('ana').reads(person('ana').modal())).toContain('[Run now] [Remove]');
    await person('ana').clicks(shown(person('ana').modal()), 'Run now');
    expect(person('ana').reads(person('ana').modal())).toMatch(/^Needs you\nOn its way · /);
    await digest('2026', { has: ['770 views', '.csv'] });
    expect(digests()).toHaveLength(1);
    await scene.slack.until(() => home() !== '' && !home().includes('Needs you'));
  });

  test('is paused after three failures, and goes on once one could be posted', async () => {
    await creates();
    members().delete(scene.slack.workspace.bot.userId);
    for (const n of [1, 2, 3]) {
      await toBerlin(1, '09:00');
      await scene.slack.until(() => failures().length === n);
    }
    const third = await post('Paused after 3 failures', '@ana');
    expect(read(third).split('\n').slice(2)).toEqual([
      'Paused after 3 failures; it resumes once a post succeeds.',
      '[Run now] [Resume] [Remove]',
    ]);
    await toBerlin(1, '09:00');
    expect(told(await asks('/docs-digest list'))).toContain('paused after 3 failures');
    expect(failures()).toHaveLength(3);
    await person('ana').types('#docs', '/invite @Docket');
    await person('ana').clicks(third, 'Run now');
    const root = await digest('2026', { has: ['.csv'] });
    await expect.poll(async () => told(await asks('/docs-digest list'))).toContain('next TIME');
    await toBerlin(1, '09:00');
    await scene.slack.until(() => digests().length === 2);
    expect(digests()[0]).toBe(root);
  });

  test('goes on in the hands of whoever takes it over, once its owner has left', async () => {
    await creates();
    const ana = scene.slack.workspace.users.find(({ name }) => name === 'ana');
    if (ana === undefined) throw new Error('no ana');
    ana.deleted = true;
    try {
      // Longer than look-ups of people are cached.
      await toBerlin(1, '09:00');
      const told = await post('who set up the weekly digest of docs.acme.com, has left.');
      expect(read(told)).toBe(
        "⚠️ ana, who set up the weekly digest of docs.acme.com, has left.\nTake it over to hear when a digest can't be posted.\n[Take over]",
      );
      await digest('2026', { has: ['.csv'] });
      await person('ben').clicks(told, 'Take over');
      expect(toldLast('ben')).toBe(
        "Yours now · the weekly digest of docs.acme.com in #docs\nI'll message you if a digest can't be posted.",
      );
      await scene.slack.until(() => read(told).includes('ben took over'));
      await toBerlin(1, '09:00');
      await scene.slack.until(() => digests().length === 2);
      expect(scene.sees('#docs', 'ben').filter((text) => text.includes('has left'))).toHaveLength(1);
      members().delete(scene.slack.workspace.bot.userId);
      await toBerlin(1, '09:00');
      await post('Digest not posted', '@ben');
    } finally {
      ana.deleted = false;
    }
  });

  test('that the platform has no numbers for is said to be missing', async () => {
    await creates();
    scene.platform.wire.order('GET /v1/analytics/{projectId}/views', { kind: 'answer', status: 404 }, 100);
    await toBerlin(1, '09:00');
    await begun();
    // That it is asked again shows that the first answer is on record, with its time.
    const asked = () =>
      scene.platform.wire.calls.filter(
        ({ name, detail }) => name.endsWith('/views') && JSON.stringify(detail.query).includes(week),
      );
    await untilWoken(() => asked().length > 1);
    await scene.world.jumpTo(scene.world.now() + 49 * HOUR_MS);
    await untilWoken(() => failures().length > 0);
    const failed = await post('Digest not posted', '@ana');
    expect(read(failed)).toContain(
      "The platform doesn't know this project. Ask your Docket admins to check the project's id, then choose [Run now].\nHTTP 404",
    );
    scene.platform.wire.clear();
    await person('ana').clicks(failed, 'Run now');
    await digest('2026', { has: ['770 views', '.csv'] });
  });
});

describe('an hour of requests', () => {
  const { scene, creates, toBerlin, digest, digests, below, read, inBerlin, untilWoken, requests } =
    digestStage({
      ...digestWorld,
      platform: { pages: 2000, analyticsPerHour: 30 },
      bot: { ...digestWorld.bot, config: 'limits: { analyticsPerHour: 30 }\n' },
    });

  test('that is used up: the totals come in time, the list of pages later', async () => {
    await creates();
    await toBerlin(1, '09:00');
    const root = await digest('14–20 Sep 2026', { has: ['The page list follows after'] });
    const [, totals, ...rest] = read(root).split('\n');
    expect(totals).toBe('131,213 views −58 (131,271 the week before)');
    // The hour's requests, but for those that are kept for people.
    expect(rest).toContainEqual(
      `The page list follows after ${inBerlin('2026-09-21', '10:00')}, because of the platform's hourly limit.`,
    );
    expect(below(root)).toEqual([]);
    expect(requests()).toBe(24);
    await scene.world.jumpTo(scene.world.now() + HOUR_MS);
    await untilWoken(() => below(root).length === 2 && !read(root).includes('The page list follows'));
    expect(read(root)).toContain('Biggest change: /');
    // Neither waits for the other.
    expect(below(root)).toContainEqual(expect.stringContaining('Rising, people: /'));
    expect(below(root)).toContain('[file: page-views-2026-W38.csv]');
    expect(digests()).toEqual([root]);
  });
});

describe('a digest that was missed while nothing ran', () => {
  let world: World;
  const scene = stageOf(() => world);
  const { creates, toBerlin, digest, digests, read, post } = digestsOn(scene);
  const bot = { ...digestWorld.bot };
  beforeEach(async () => {
    world = await createWorld({ startMs: SUNDAY_MS, platform: digestWorld.platform });
    await world.startBot(bot);
    await creates();
    await world.bots[0]?.end();
  });
  afterEach(() => world.close());

  test('is caught up within two days, and says that it is late', async () => {
    await toBerlin(1, '09:00');
    await world.jumpTo(world.now() + 47 * HOUR_MS);
    await world.startBot(bot);
    const root = await digest('14–20 Sep 2026', { has: ['.csv'] });
    expect(read(root)).toContain('Sent late. It was due 2026-09-21 07:00 UTC.');
    expect(digests()).toHaveLength(1);
  });

  test('is skipped after that, with a note to its owner', async () => {
    await toBerlin(1, '09:00');
    await world.jumpTo(world.now() + 2 * DAY_MS + HOUR_MS);
    await world.startBot(bot);
    expect(read(await post('Skipped', '@ana'))).toBe(
      "➖ Skipped a digest of docs.acme.com in #docs, because I couldn't post it within two days:\n14–20 Sep 2026 (Mon–Sun, UTC), due 2026-09-21 07:00 UTC\nThe next one comes on schedule. [Run now] posts that of 14–20 Sep 2026.\n[Run now]",
    );
    await toBerlin(1, '09:00');
    await digest('21–27 Sep 2026', { has: ['.csv'] });
    expect(digests()).toHaveLength(1);
  });
});

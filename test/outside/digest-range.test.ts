import { beforeEach, describe, expect, test } from 'vitest';
import { dayAfter, digestStage, digestWorld } from '../support/flows/digest-stage.ts';

describe('a digest of any dates', () => {
  const { scene, asks, told, reads, quiet, toSunday, digest, digests, below, read, requests } = digestStage();
  let week: string;
  beforeEach(async () => {
    week = dayAfter(await toSunday(), -7);
    for (let back = 0; back < 5; back += 1) {
      quiet(dayAfter(week, 7 - 7 * back));
      reads('/quickstart', dayAfter(week, -7 * back), { human: 700, ai: 70 * (back + 1) });
    }
    reads('/quickstart', dayAfter(week, 7), { human: 70, ai: 0 });
  });

  const range = (from: string, to: string) => `/docs-digest ${from}..${to}`;

  test('"last week" is the last ISO week, and is posted here', async () => {
    expect(told(await asks('/docs-digest last week', { who: 'ben' }))).toBe(
      "On its way · digest of docs.acme.com\nI'll post it here in a moment.\n7–13 Sep 2026 (Mon–Sun, UTC)",
    );
    const root = await digest('7–13 Sep 2026', { has: ['Top pages', '.csv'] });
    expect(read(root).split('\n')).toEqual([
      '📊 docs.acme.com · 7–13 Sep 2026 (Mon–Sun, UTC)',
      '770 views ▼ 8% (840 the week before)',
      expect.stringMatching(
        /^People 700 ±0 {2}· {2}AI 70 ▼ 50% {2}· {2}AI share 9% \(was 17%\) {2}· {2}Visitors \d+ \(approximate\)$/,
      ),
      'Views by people and by AI',
      'People: Mon 7 100, Tue 8 100, Wed 9 100, Thu 10 100, Fri 11 100, Sat 12 100, Sun 13 100',
      'AI: Mon 7 10, Tue 8 10, Wed 9 10, Thu 10 10, Fri 11 10, Sat 12 10, Sun 13 10',
      'Biggest change: /quickstart, AI views 140 → 70, ▼ 50%',
      'Requested by ben',
    ]);
    expect(below(root)[1]).toBe('[file: page-views-2026-W37.csv]');
  });

  test('"14d" is the last 14 finished days', async () => {
    await asks('/docs-digest 14d');
    const root = await digest('6–19 Sep 2026', { has: ['Top pages', '.csv'] });
    const chart = read(root)
      .split('\n')
      .filter((line) => line.startsWith('People: '));
    expect(chart.map((line) => line.split(', ').length)).toEqual([14]);
    expect(requests()).toBeLessThanOrEqual(20);
  });

  test('of two dates both count; above 14 days a point is a week', async () => {
    await asks(range(dayAfter(week, -21), dayAfter(week, 6)));
    const root = await digest('2026', { has: ['.csv'] });
    expect(read(root)).toContain('3,500 views');
    const chart = read(root)
      .split('\n')
      .filter((line) => line.startsWith('People: '));
    expect(chart.map((line) => line.split(', ').length)).toEqual([4]);
    expect(told(await asks(range(dayAfter(week, -7), dayAfter(week, -7))))).toContain('On its way');
    await scene.slack.until(() => digests().length === 2);
  });

  test('a range up to today says that today is not over; whole days are compared with whole days', async () => {
    const today = new Date(scene.world.now()).toISOString().slice(0, 10);
    await asks('/docs-digest this week.');
    const root = await digest('2026', { has: ['Top pages', '.csv'] });
    const [, work, totals, ...rest] = read(root).split('\n');
    expect(work).toBe('1 thing needs work, see the thread');
    expect(totals).toMatch(/^60 views .* on the same weekdays a week before\)$/);
    expect(rest).toContain("Today isn't over, so it's left out.");
    await asks(`/docs-digest ${today}.`);
    await scene.slack.until(() => digests().some((one) => read(one).includes('these are its views so far')));
    const [, now] = read(digests().at(-1) ?? root).split('\n');
    expect(now).toBe('10 views');
  });

  test('a row that cannot be read costs neither the totals nor the list', async () => {
    const row = { path: '/guides/sso', human: 60, ai: 6, total: null };
    const views = [{ ...row, path: null }, row, { path: '/api', human: null, ai: 1, total: 1 }];
    const body = { totals: { human: 70, ai: 8, total: null }, views, hasMore: false };
    scene.platform.wire.order(
      'GET /v1/analytics/{projectId}/views',
      { kind: 'answer', status: 200, body },
      1000,
    );
    await asks('/docs-digest 7d');
    const root = await digest('13–19 Sep 2026', { has: ['Top pages', '.csv'] });
    expect(read(root)).toContain('546 views');
    expect(below(root)[0]).toContain('/guides/sso | 60 | 6 | 66');
  });

  test('where the app cannot be, it comes to direct messages', async () => {
    expect(told(await asks('/docs-digest last week', { where: 'ana+ben' }))).toContain(
      "I'll send it as a direct message in a moment.",
    );
    await digest('2026', { where: '@ana', has: ['Top pages'] });
  });

  test.each([
    ['2026-02-30', '2026-03-02', "2026-02-30 isn't a day. Type days like 2026-11-01."],
    ['2026-09-02', '2026-09-01', 'The range ends before it begins. Type the earlier day first.'],
    ['2026-01-01', '2026-09-01', 'That is 244 days, and I can read 92 at once. Ask for fewer.'],
    ['2026-09-01', '2029-09-01', "2029-09-01 hasn't begun yet in UTC. The latest day you can ask for is "],
  ])('%s to %s is refused', async (from, to, problem) => {
    expect(told(await asks(range(from, to)))).toContain(problem);
    expect(scene.platform.analyticsRequests().views).toBe(0);
  });

  test('a third at once has to wait', async () => {
    scene.platform.wire.order(() => true, { kind: 'delay', ms: 800 }, 3);
    const days = [dayAfter(week, 0), dayAfter(week, 1), dayAfter(week, 2)] as const;
    for (const day of days.slice(0, 2)) await asks(range(day, day));
    expect(told(await asks(range(days[2], days[2])))).toBe(
      '2 of your digests are on their way. Ask again when they have arrived.',
    );
    await scene.slack.until(() => digests().length === 2);
    await expect.poll(async () => told(await asks(range(days[2], days[2])))).toContain('On its way');
    await scene.slack.until(() => digests().length === 3);
  });
});

describe('dates of a large site', () => {
  const platform = { ...digestWorld.platform, pages: 10_000 };
  const { scene, digest, below, read, requests } = digestStage({ ...digestWorld, platform });

  test('are read in 20 requests: the totals, with a word about the pages', async () => {
    await scene.asks('/docs-digest last week');
    const root = await digest('7–13 Sep 2026', { has: ['more pages than I can read'] });
    expect(read(root)).toContain(
      'This site has more pages than I can read at once, so these are the totals only.',
    );
    await scene.slack.until(() => below(root).length > 0);
    expect(below(root).join()).not.toContain('Top pages');
    expect(requests()).toBeLessThanOrEqual(20);
  });
});

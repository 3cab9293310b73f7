import { beforeEach, describe, expect, test } from 'vitest';
import { dayAfter, digestStage } from '../support/flows/digest-stage.ts';

describe('a weekly digest', () => {
  const {
    scene,
    creates,
    reads,
    quiet,
    searched,
    rated,
    toBerlin,
    toSunday,
    digest,
    digests,
    below,
    read,
    roots,
  } = digestStage();
  let week: string;
  let before: string;
  beforeEach(async () => {
    week = await toSunday();
    before = dayAfter(week, -7);
    quiet(before, week);
  });

  const asked = (unanswered: number, all: number) =>
    Array.from({ length: all }, (_, n) => ({
      resolutionStatus: n < unanswered ? 'unanswered' : 'answered',
      queryCategory: 'Authentication',
      query: `I am reader-${n}@example.com and cannot sign in`,
    }));

  test('comes at its time, and is read as a whole', async () => {
    reads('/quickstart', before, { human: 700, ai: 70 });
    reads('/quickstart', week, { human: 770, ai: 140 });
    reads('/guides/webhooks', before, { human: 350, ai: 140 });
    reads('/guides/webhooks', week, { human: 350, ai: 560 });
    reads('/guides/sso', before, { human: 420, ai: 70 });
    reads('/guides/sso', week, { human: 210, ai: 70 });
    reads('/api/errors', before, { human: 7, ai: 140 });
    reads('/api/errors', week, { human: 7, ai: 168 });
    reads('/new/agents', week, { human: 84, ai: 21 });
    reads('/npm/lodash@es.mjs', before, { human: 70, ai: 0 });
    searched(week, [
      { searchQuery: 'sso okta', hits: 41 },
      { searchQuery: 'webhook retry', hits: 18 },
      { searchQuery: 'api key', hits: 60, clicks: 30, topClickedPage: '/quickstart' },
      { searchQuery: 'rare', hits: 9 },
    ]);
    rated(week, [
      { path: '/guides/sso', thumbsUp: 2, thumbsDown: 9 },
      { path: '/quickstart', thumbsUp: 20, thumbsDown: 1 },
      { path: '/rarely/rated', thumbsUp: 0, thumbsDown: 2 },
    ]);
    scene.platform.readers.setConversations(before, asked(12, 100));
    scene.platform.readers.setConversations(week, asked(16, 100));
    scene.platform.readers.setVisitors(before, week, { human: 2500, ai: 500, total: 3000 });
    scene.platform.readers.setVisitors(week, dayAfter(week, 7), { human: 2600, ai: 520, total: 3120 });

    await creates();
    expect(roots().map(read)).toEqual([
      '📊 Weekly digest of docs.acme.com, posted here from now on\nMondays 09:00 Europe/Berlin · set up by ana · /docs-digest list',
    ]);
    await toBerlin(1, '08:55');
    expect(digests()).toEqual([]);
    await toBerlin(1, '09:00');
    const root = await digest('14–20 Sep 2026', { has: ['Biggest change', '.csv'] });
    expect(read(root).split('\n')).toEqual([
      '📊 docs.acme.com · 14–20 Sep 2026 (Mon–Sun, UTC)',
      '5 things need work, see the thread',
      '2,380 views ▲ 21% (1,967 the week before)',
      'People 1,421 ▼ 8%  ·  AI 959 ▲ 128%  ·  AI share 40% (was 21%)  ·  Visitors 3,120 ▲ 4% (approximate)',
      'Views by people and by AI',
      'People: Mon 14 203, Tue 15 203, Wed 16 203, Thu 17 203, Fri 18 203, Sat 19 203, Sun 20 203',
      'AI: Mon 14 137, Tue 15 137, Wed 16 137, Thu 17 137, Fri 18 137, Sat 19 137, Sun 20 137',
      'Biggest change: /guides/webhooks, AI views 140 → 560, ▲ 300%',
    ]);
    // What a phone shows, and a screen reader says.
    expect(root.text.split('\n')).toEqual([
      'Digest of docs.acme.com, 14–20 Sep 2026: 5 things need work. 2,380 views, up 21 percent. People 1,421, down 8 percent. AI 959, up 128 percent.',
      'Mon 14 to Sun 20: People 203, 203, 203, 203, 203, 203, 203; AI 137, 137, 137, 137, 137, 137, 137.',
      'Biggest change: /guides/webhooks, AI views 140 → 560, up 300%',
    ]);
    const [pages = '', file] = below(root);
    expect(pages.split('\n')).toEqual([
      '5 things need work on docs.acme.com',
      'Searched, nothing clicked · "sso okta" 41 times',
      'Searched, nothing clicked · "webhook retry" 18 times',
      'Unanswered · Authentication · 16 of 100 questions',
      'Thumbs down · /guides/sso · 9 down, 2 up',
      'Unanswered in all: 16 of 100 questions to the assistant (16%, was 12%)',
      'Falling',
      '/guides/sso · people 420 → 210, ▼ 50%',
      'Top pages of docs.acme.com',
      'Page | People | AI | Total | Change',
      '/guides/webhooks | 350 | 560 | 910 | ▲ 86%',
      '/quickstart | 770 | 140 | 910 | ▲ 18%',
      '/guides/sso | 210 | 70 | 280 | ▼ 43%',
      '/api/errors | 7 | 168 | 175 | ▲ 19%',
      '/new/agents | 84 | 21 | 105 | new',
      'Rising, AI: /guides/webhooks 140 → 560, ▲ 300% · /quickstart 70 → 140, ▲ 100%',
      'New this week: /new/agents 105',
      'Gone quiet: /npm/lodash@es.mjs 70 → 0',
      'Read by AI, rarely by people: /api/errors 96% AI',
      '[Ask the agent] [Ask the agent] [Ask the agent] [Ask the agent] [Ask the agent] [Ask the agent]',
    ]);
    expect(file).toBe('[file: page-views-2026-W38.csv]');
    // With a byte order mark, without which spreadsheets read UTF-8 as something else.
    expect(scene.slack.files.map(({ bytes }) => Buffer.from(bytes).toString().split('\r\n'))).toEqual([
      [
        '\uFEFFpath,people,ai,total,people_before,ai_before,total_before,change',
        '"/guides/webhooks",350,560,910,350,140,490,420',
        '"/quickstart",770,140,910,700,70,770,140',
        '"/guides/sso",210,70,280,420,70,490,-210',
        '"/api/errors",7,168,175,7,140,147,28',
        '"/new/agents",84,21,105,0,0,0,105',
        '"/npm/lodash@es.mjs",0,0,0,70,0,70,-70',
        '',
      ],
    ]);
    expect(below(root)).toHaveLength(2);
    // It mentions nobody, and what readers wrote is nowhere.
    expect(scene.notified('ana')).toBe(0);
    expect(JSON.stringify(scene.slack.messages)).not.toContain('example.com');
    await expect
      .poll(() => scene.audit())
      .toEqual(['ana digest schedule docs.acme.com → set up', 'ana digest docs.acme.com → posted']);
  });

  test('without any views says what that usually means', async () => {
    reads('/quickstart', before, { human: 700, ai: 70 });
    await creates();
    await toBerlin(1, '09:00');
    const root = await digest('2026', { has: ['0 views', 'Visitors'] });
    expect(read(root).split('\n').slice(1)).toEqual([
      expect.stringMatching(/^0 views all week \([1-9][\d,]+ the week before\)\.$/),
      "Analytics probably stopped. Check that the site opens and its analytics are on; your Docket admins can check the project's id.",
      expect.stringMatching(/^Visitors /),
    ]);
    expect(root.text).toMatch(/:\n0 views all week \([\d,]+ the week before\)\.\nAnalytics probably stopped/);
  });

  test('has the sections that were chosen', async () => {
    reads('/quickstart', before, { human: 0, ai: 0 });
    reads('/quickstart', week, { human: 700, ai: 70 });
    searched(week, [{ searchQuery: 'sso okta', hits: 41 }]);
    await creates({ 'Also include': ['What readers looked for'] });
    await toBerlin(1, '09:00');
    const root = await digest('2026', { has: ['sso okta'] });
    expect(read(root)).toContain('770 views new');
    expect(below(root).join()).not.toMatch(/quickstart|csv/);
    expect(scene.slack.files).toEqual([]);
  });

  test('leaves out what the platform does not have, and does not ask for it again', async () => {
    const { without } = scene.platform.readers;
    without.set('searches', 404).set('feedback', 403).set('assistant', 405).set('visitors', 404);
    reads('/quickstart', before, { human: 0, ai: 0 });
    reads('/guides/webhooks', before, { human: 7, ai: 0 });
    reads('/quickstart', week, { human: 700, ai: 70 });
    searched(week, [{ searchQuery: 'sso okta', hits: 41 }]);
    await creates();
    await toBerlin(1, '09:00');
    const root = await digest('2026', { has: ['Top pages', '.csv'] });
    expect(below(root)[0]?.split('\n')).toEqual([
      'Top pages of docs.acme.com',
      'Page | People | AI | Total | Change',
      '/quickstart | 700 | 70 | 770 | new',
      'New this week: /quickstart 770',
      '[Ask the agent]',
    ]);
    const { views: _, ...once } = scene.platform.analyticsRequests();
    await scene.asks('/docs-digest preview');
    await digest('2026', { where: '@ana', has: ['Top pages'] });
    expect(scene.platform.analyticsRequests()).toMatchObject(once);
    without.clear();
  });
});

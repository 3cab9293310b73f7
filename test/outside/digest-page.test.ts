import { beforeEach, describe, expect, test } from 'vitest';
import { createRunStore } from '../../src/store/runs.ts';
import { DAY_MS, dayAfter, digestStage } from '../support/flows/digest-stage.ts';
import { aRow } from '../support/jobs/digest/builders.ts';

const SHORTCUT = 'Numbers for this page';
const SITE = 'https://docs.acme.com';
const NOT_NOW =
  "I have no numbers of pages of docs.acme.com now: its digest is paused, leaves out pages, or hasn't come yet.";
const NO_DIGEST =
  'No digest that you can see here has collected numbers of docs.acme.com yet.\n[Set up a digest]';

describe('the numbers of a page, for one person', () => {
  const stage = digestStage();
  const { scene, asks, told, toldLast, person, creates, reads, quiet, searched, rated } = stage;
  const { toBerlin, toSunday, digest, requests } = stage;

  let week: string;
  beforeEach(async () => {
    week = await toSunday();
    quiet(dayAfter(week, -7), week, dayAfter(week, 7));
    reads('/guides/sso', dayAfter(week, -7), { human: 350, ai: 70 });
    reads('/guides/sso', week, { human: 308, ai: 210 });
    reads('/k%C3%B6ln/', week, { human: 70, ai: 0 });
    reads('/old', dayAfter(week, -7), { human: 70, ai: 7 });
    searched(week, [
      { searchQuery: 'sso', hits: 50, clicks: 31, topClickedPage: '/guides/sso' },
      { searchQuery: 'okta', hits: 10, clicks: 1, topClickedPage: '/guides/sso/' },
      { searchQuery: 'api', hits: 40, clicks: 20, topClickedPage: '/api' },
      { searchQuery: 'nothing', hits: 40 },
    ]);
    rated(week, [{ path: '/guides/sso', thumbsUp: 2, thumbsDown: 9 }]);
  });

  const days = () => scene.slack.read(digestRoot).split(' · ')[1]?.split('\n')[0];
  let digestRoot: Awaited<ReturnType<typeof digest>>;
  async function posted(where = '#docs') {
    await creates({}, { where });
    await toBerlin(1, '09:00');
    digestRoot = await digest('2026', { where, has: ['.csv'] });
  }
  const page = async (text: string, options: Parameters<typeof asks>[1] = {}) =>
    told(await asks(`/docs-digest page ${text}`, options));
  async function shortcut(text: string, who: 'ana' | 'gus' = 'ana') {
    await person(who).usesShortcut(SHORTCUT, await person('ben').says('#docs', text));
    return toldLast(who);
  }

  test('typed as a path or an address: the same answer, without a request to the platform', async () => {
    await posted();
    const before = requests();
    const whole = [
      '/guides/sso · people 308 last week ▼ 12%, AI 41%',
      '█▇ 2 weeks',
      '9 thumbs down, 2 up',
      'Searches that led here most often, with their click rate: "sso" 62%, "okta" 10%',
      `docs.acme.com · ${days()}`,
      '[Ask the agent]',
    ].join('\n');
    const same = [
      '/guides/sso',
      '/guides/sso/#okta',
      `${SITE}/guides/sso?from=slack`,
      'Docs.Acme.com/guides/sso',
    ];
    for (const typed of same) expect(await page(typed)).toBe(whole);
    expect(await page('/köln')).toContain('/köln/ · people 70 last week (new), AI 0%');
    expect(await page('/old')).toContain('/old · nobody read it last week, 77 views before');
    expect(await page('')).toContain('/docs-digest page <path or address>');
    expect(await page('https://docs.globex.com/guides/sso')).toBe(
      "That isn't a page of docs.acme.com.\nFor one page, type /docs-digest page /guides/sso.",
    );
    expect(requests()).toBe(before);
    expect(scene.slack.messages.map(scene.slack.read).join()).not.toContain('308 last week');
  });

  test('[Ask the agent] asks about the page, also if the digest does not list it', async () => {
    await posted();
    for (const [path, task] of [
      ['/guides/sso', 'The page "/guides/sso" had 518 views last week'],
      ['/unlisted', 'Check the page "/unlisted"'],
    ] as const) {
      const { ephemeral } = await asks(`/docs-digest page ${path}`);
      if (ephemeral) await person('ana').clicks(ephemeral, 'Ask the agent');
      expect(person('ana').fields()[0]?.value).toContain(task);
      await person('ana').submits();
      await scene.slack.until(() => scene.platform.agent.messages.at(-1)?.prompt.includes(task));
    }
  });

  test('of a message: each page once, at most five; the rest is counted', async () => {
    await posted();
    const linked = ['/guides/sso', '/guides/sso/', '/guides/sso?a#b', '/old', '/a', '/b', '/c', '/d', '/e'];
    const links = linked.map((path) => `<${SITE}${path}|docs>`).join(' ');
    expect(await shortcut(`Look: ${links} <https://docs.globex.com/x> ${SITE}/no-link`)).toBe(
      [
        '/guides/sso · people 308 last week ▼ 12%, AI 41% · 9 thumbs down, 2 up',
        '/old · nobody read it last week, 77 views before',
        ...['/a', '/b', '/c'].map((path) => `${path} · nobody read it last week`),
        ...['and 2 more', `docs.acme.com · ${days()}`, Array(5).fill('[Ask the agent]').join(' ')],
      ].join('\n'),
    );
    expect(await shortcut('no link at all')).toContain('No link here leads to a page of docs.acme.com.');
    expect(await shortcut(`<${SITE}/old>`, 'gus')).toContain(
      "You can't set up digests here, ask for them or see the numbers of a page",
    );
  });

  test('addresses that are made to mislead are no pages of the site', async () => {
    await posted();
    const hostile = [
      `https://docs.acme.com@evil.example/old`,
      `https://docs.acme.com:pw@docs.acme.com/old`,
      `https://docs.acme.com.evil.example/old`,
      `https://döcs.acme.com/old`,
      `${SITE}/${'x'.repeat(10_000)}`,
    ];
    for (const one of hostile) expect(await shortcut(`<${one}>`)).toContain('No link here leads to');
    const many = Array.from({ length: 500 }, (_, n) => `<${SITE}/p${n}>`).join('');
    expect(await shortcut(many)).toContain('\nand 495 more\n');
  });

  test('requests under digests keep more weeks of a page: at most eight, without a gap', async () => {
    await posted();
    const keep = (name: string, agos: number[], project = 'default') =>
      createRunStore(scene.world.redis.client).accept(
        aRow({
          ...{ id: `row-${name}`, project, subject: { kind: 'page', name } },
          lookAtMs: scene.world.now() + DAY_MS,
          weeks: agos.map((ago) => ({
            from: dayAfter(week, -7 * ago),
            numbers: { human: { count: 440 - 40 * ago, of: 1000 } },
          })),
        }),
      );
    await keep('/guides/sso', [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    await keep('/old/', [0, 1, 2, 3, 5]);
    await keep('/k%C3%B6ln/', [0, 1, 2, 3], 'globex');
    // What the digests collected counts.
    expect(await page('/guides/sso')).toContain('\n▄▅▆▆▇██▇ 8 weeks\n');
    expect(await page('/old')).toContain('\n▇█▂▁ 4 weeks\n');
    expect(await page('/köln')).toContain(' 2 weeks\n');
  });

  test('before the first digest, and while last week is not collected', async () => {
    expect(await page('/guides/sso')).toBe(NO_DIGEST);
    await creates();
    expect(await page('/guides/sso')).toBe(NOT_NOW);
    await toBerlin(1, '09:00');
    digestRoot = await digest('2026', { has: ['.csv'] });
    await asks('/docs-digest pause');
    await scene.world.jumpTo(scene.world.now() + 7 * DAY_MS);
    expect(await page('/guides/sso')).toContain(
      `/guides/sso · people 308 during ${days()?.split(' (')[0]} ▼ 12%, AI 41%\n`,
    );
  });

  test('a digest of a private channel has no numbers for others', async () => {
    await posted('#private');
    expect(await page('/old', { who: 'ben' })).toBe(NO_DIGEST);
    expect(await page('/old', { who: 'ben', where: '#private' })).toContain('nobody read it last week');
    expect(await page('/old')).toContain('nobody read it last week');
  });

  test('thumbs beyond those that the platform lists are not known', async () => {
    rated(
      week,
      Array.from({ length: 101 }, (_, n) => ({ path: `/p${n}`, thumbsUp: 3, thumbsDown: 1 })),
    );
    await posted();
    expect(await page('/guides/sso')).toContain('\nthumbs not known\n');
    expect(await page('/p1')).toContain('\n1 thumb down, 3 up\n');
  });
});

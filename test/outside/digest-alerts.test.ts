import { beforeEach, describe, expect, test } from 'vitest';
import { dayAfter, digestStage, digestWorld } from '../support/flows/digest-stage.ts';
import { plain } from '../support/flows/reading.ts';
import { statusDetails } from '../support/flows/status.ts';

describe('an unusual day', () => {
  const { scene, creates, reads, quiet, toBerlin, toSunday, roots, post, read, settled } = digestStage();
  let week: string;
  let next: string;
  beforeEach(async () => {
    week = await toSunday();
    next = dayAfter(week, 7);
    for (let back = -1; back < 9; back += 1) {
      const one = dayAfter(week, -7 * back);
      quiet(one);
      reads('/quickstart', one, { human: 2807, ai: 350 });
      reads('/guides/webhooks', one, { human: 2933, ai: 350 });
    }
  });
  const set = (day: string, human: number) => scene.platform.views.set('/quickstart', day, { human, ai: 50 });
  const alerts = () =>
    roots()
      .map(read)
      .filter((text) => /^(?:⚠️|📈|📉)/u.test(text));

  test('is told at the hour of the digest, with what moved, also after one of AI; then it is quiet, but for no views at all', async () => {
    const thursday = dayAfter(next, 3);
    scene.platform.views.set('/quickstart', next, { human: 401, ai: 350 });
    set(thursday, 10);
    for (const path of ['/quickstart', '/guides/webhooks'])
      scene.platform.views.set(path, dayAfter(thursday, 2), { human: 0, ai: 0 });
    set(dayAfter(thursday, 1), 5);
    await creates({ 'Also include': ['A post about each unusual day'] });
    await post('I also post about days with unusually many or few views.');
    await toBerlin(1, '09:00');
    await settled();
    expect(alerts()).toEqual([]);
    await toBerlin(2, '09:00');
    await post('📈 AI up 300%');
    for (const weekday of [3, 4]) {
      await toBerlin(weekday, '09:00');
      await settled();
    }
    expect(alerts()).toHaveLength(1);
    await toBerlin(5, '09:00');
    await post('📉 People');
    const [, month = '', day = ''] = thursday.split('-');
    const date = `${Number(day)} ${new Date(`2026-${month}-01`).toLocaleString('en', { month: 'short' })}`;
    expect(alerts()[1]).toBe(
      `📉 People down 48% on Thu ${date} · docs.acme.com · 820 → 429\nmostly /quickstart 401 → 10\ncompared with the last eight Thursdays`,
    );
    // Friday was unusual as well, but people are quiet for a week.
    await toBerlin(6, '09:00');
    await settled();
    expect(alerts()).toHaveLength(2);
    await toBerlin(7, '09:00');
    await post('Analytics probably stopped');
    expect(alerts()).toHaveLength(3);
    expect(alerts()[2]).toMatch(
      /^⚠️ People down 100%, AI down 100% on Sat .* · docs\.acme\.com · People 820 → 0, AI 100 → 0\nAnalytics probably stopped\. Check that the site opens/,
    );
  });

  test('and a lasting fall, of which no day is unusual, is told within two weeks', async () => {
    await creates({ 'Also include': ['A post about each unusual day'] });
    for (const path of ['/quickstart', '/guides/webhooks'])
      for (const one of [next, dayAfter(next, 7)]) reads(path, one, { human: 1866, ai: 350 });
    for (const weekday of [1, 2, 3, 4, 5, 6, 7]) {
      await toBerlin(weekday, '09:00');
      await settled();
    }
    await post('📉 People down');
    expect(alerts()).toHaveLength(1);
    expect(alerts()[0]).toMatch(
      /^📉 People down \d\d% over the last week · docs\.acme\.com · 820 → [\d,]+ a day\nmostly \/guides\/webhooks 419 → 288, \/quickstart 401 → 285\ncompared with the seven weeks before$/,
    );
  });

  test('is told only where that was chosen', async () => {
    set(dayAfter(next, 3), 96);
    await creates();
    for (const weekday of [1, 2, 3, 4, 5, 6]) {
      await toBerlin(weekday, '09:00');
      await settled();
    }
    expect(alerts()).toEqual([]);
  });
});

describe('what Home and /docs-status tell of digests', () => {
  const { scene, creates, toBerlin, toSunday, digest, inBerlin, requests } = digestStage();

  test('the schedules with the next time, and the requests of the hour', async () => {
    const week = await toSunday();
    const status = () => statusDetails(scene, 'ben', (text) => text);
    expect(await status()).toContain('Schedules — Nothing is scheduled.');
    await creates();
    await creates({ Day: 'Tuesday' }, { where: '#private' });
    await scene.asks('/docs-digest pause', { where: '#private' });
    const at = inBerlin(dayAfter(week, 7), '09:00');
    expect(await status()).toContain(`Schedules — 2 weekly digests, next ${at}, 1 paused`);
    await toBerlin(1, '09:00');
    await digest('2026', { has: ['.csv'] });
    expect(await status()).toContain(
      `Limit — analytics requests: ${requests()} of 10,000 used in the past hour`,
    );

    const person = scene.person('ana');
    await person.opensHome();
    await scene.slack.until(() => person.home() !== undefined);
    const home = plain(person.reads(person.home()));
    expect(home).toContain(
      'Weekly digest · docs.acme.com in #docs · Mondays 09:00 Europe/Berlin · next TIME',
    );
    expect(home).toContain(
      'Weekly digest · docs.acme.com in #private · Tuesdays 09:00 Europe/Berlin · paused by you',
    );
    expect(home.indexOf('Scheduled\n')).toBeGreaterThan(-1);
  });
});

describe('digests that only some people may set up', () => {
  const { scene, creates } = digestStage({
    ...digestWorld,
    bot: { ...digestWorld.bot, config: 'allow: { digest: [U0BEN] }\n' },
  });

  test('are refused to others, with whom to ask', async () => {
    expect(scene.told(await scene.asks('/docs-digest create'))).toBe(
      "You can't set up digests here, ask for them or see the numbers of a page, so nothing was done. Ask @ben.",
    );
    const created = await creates({}, { who: 'ben' });
    await expect(scene.person('ana').clicks(created, 'Remove')).rejects.toThrow('does not see');
    expect((await statusDetails(scene)).join()).toContain('Schedules — 1 weekly digest');
  });
});

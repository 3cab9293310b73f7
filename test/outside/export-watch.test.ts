import { describe, expect, test } from 'vitest';
import { startsElsewhere } from '../support/flows/site.ts';
import { type Stage, stage } from '../support/flows/stage.ts';

describe('/docs-export watch', () => {
  const scene = stage();
  const { asks, exporting, clicks, person, told, sees, until, notified, toldLast } = scene;
  const watch = (jobId: string, options: Parameters<Stage['asks']>[1] = {}) =>
    asks(`/docs-export watch ${jobId}`, options);

  test('joins an export that runs, and mentions who watches when it is exported', async () => {
    const jobId = await startsElsewhere(scene);
    expect(told(await watch(jobId))).toBeUndefined();
    await until(['42%', '⏳ Exporting · job se_…']);
    expect(sees()).toEqual([
      '⏳ Exporting · job se_…\nWatched by ana',
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · started TIME\njob se_…\n[Check now] [⋯ Notify me too]',
    ]);
    scene.platform.finish(jobId);
    await until([
      '✅ @ana Exported · job se_… · 12 pages, 1 byte, took 1 s\nWatched by ana · job se_… · the link works until TIME',
      '✅ Exported · job se_… · 12 pages\n',
    ]);
    expect(scene.platform.starts).toHaveLength(1);
    expect(scene.slack.messages).toHaveLength(3);
    expect(notified('ana')).toBe(1);
  });

  test('of one that is done already tells no time that nobody knows', async () => {
    scene.platform.plan({ dates: 'none', durationMs: 0 });
    const jobId = await startsElsewhere(scene);
    await watch(jobId);
    await until(['✅ @ana Exported · job se_… · 12 pages, 1 byte\n']);
    expect(sees().join()).not.toMatch(/took|started/);
    await expect.poll(() => sees()).toHaveLength(2);
  });

  test('of one that is done already takes the time from the platform', async () => {
    const jobId = await startsElsewhere(scene);
    scene.platform.finish(jobId);
    const times = { createdAt: '2026-09-14T10:00:00Z', updatedAt: '2026-09-14T10:06:00Z' };
    const body = { jobId, status: 'completed', pageCount: 412, ...times };
    scene.platform.wire.order('GET /v1/static-export/jobs/{jobId}', { kind: 'answer', status: 200, body }, 2);
    await watch(jobId);
    await until(['412 pages, 1 byte, took 6 min']);
  });

  test('of one that failed tells so, without a button that would start something unknown', async () => {
    const jobId = await startsElsewhere(scene);
    scene.platform.fail(jobId, 'Out of disk');
    await watch(jobId);
    await until([
      '❌ @ana Export failed · job se_…',
      'The platform said: "Out of disk"',
      '❌ Export failed · job se_…',
    ]);
    expect(sees().join()).not.toContain('[Try again]');
  });

  test('of an id that the platform does not know says so privately, and shows nothing', async () => {
    await watch('nonsense');
    await scene.slack.until(() => toldLast('ana') === 'No export with the ID "nonsense".');
    expect(scene.slack.messages).toEqual([]);
    expect(scene.platform.wire.calls).toHaveLength(1);
  });

  test.each([
    ['', 'Which export? Type its job ID, such as /docs-export watch se_3f9a77bd04c24a06.'],
    [
      'se_3f9a…4a06',
      'No job that you can see here matches that. Type its whole ID, such as /docs-export watch se_3f9a77bd04c24a06.',
    ],
    [
      'se_1 --private',
      "--private doesn't go with watch. Leave it out: /docs-export watch se_3f9a77bd04c24a06",
    ],
  ])('"%s" is refused, with the fix', async (id, text) => {
    expect(told(await watch(id))).toBe(text);
    expect(scene.slack.messages).toEqual([]);
  });

  test('of one that I started leads to its thread', async () => {
    await exporting();
    const { jobId = '' } = scene.platform.starts[0] ?? {};
    const answer = await watch(jobId, { who: 'ben' });
    expect(told(answer)).toBe(
      'docs.acme.com is already being exported: 42%, requested by ana 1 s ago.\n[Open thread] [Notify me too] [Start another]',
    );
    if (answer.ephemeral) await person('ben').clicks(answer.ephemeral, 'Notify me too');
    expect(toldLast('ben')).toBe("I'll mention you when it ends.");
    scene.platform.finish(jobId);
    await until(['✅ @ana @ben Exported · docs.acme.com · 12 pages, ']);
  });

  test('of one that has ended leads to its thread, where [Try again] keeps others from starting the same', async () => {
    await exporting('/docs-export docs.acme.com --version 1.2');
    const { jobId = '' } = scene.platform.starts[0] ?? {};
    scene.platform.fail(jobId);
    await until(['at 42%, after', '❌ Export failed · docs.acme.com']);
    expect(told(await watch(jobId, { who: 'ben' }))).toBe('This export already has a thread.\n[Open thread]');
    await clicks('ana', 'at 42%, after', 'Try again');
    await until(['⏳ Exporting · docs.acme.com']);
    expect(told(await asks('/docs-export docs.acme.com --version 1.2', { who: 'ben' }))).toMatch(
      /^docs\.acme\.com 1\.2 is already being exported: (\d+%, )?requested by ana 1 s ago\./,
    );
    expect(scene.platform.starts).toHaveLength(2);
  });

  test('twice at once is one watch, and the second is told of the first', async () => {
    const jobId = await startsElsewhere(scene);
    const answers = await Promise.all([watch(jobId), watch(jobId, { who: 'ben' })]);
    const texts = answers.map(told).filter((text) => text !== undefined);
    expect(texts).toEqual([
      expect.stringMatching(/^job se_… is already being exported: (\d+%, )?watched by (ana|ben)\.\n/),
    ]);
    await until(['42%']);
    expect(scene.slack.messages).toHaveLength(2);
    expect(told(await watch(jobId))).toMatch(
      /^job se_… is already being exported: 42%, watched by (you|ben)\.\n\[Open thread\] \[Notify me too\]$/,
    );
  });
});

describe('of a site that the platform names, while links are private', () => {
  const scene = stage({ bot: { config: 'links: requester\n' } });
  const { asks, clicks, until } = scene;

  test("a person's own link names the site, too", async () => {
    const jobId = await startsElsewhere(scene);
    const body = { jobId, status: 'completed', domain: 'docs.acme.com' };
    scene.platform.wire.order('GET /v1/static-export/jobs/{jobId}', { kind: 'answer', status: 200, body }, 2);
    scene.platform.finish(jobId);
    await asks(`/docs-export watch ${jobId}`);
    await until(['[Get my own link]']);
    await clicks('ben', '[Get my own link]', 'Get my own link');
    await until(['Your own link · docs.acme.com'], '@ben', 'ben');
  });
});

describe('with one poll a second', () => {
  const scene = stage({ bot: { config: 'limits: { exportStatusPerSecond: 1 }\n' } });

  test('job IDs that people type are looked up within the limit of polls', async () => {
    const { asks, slack, platform } = scene;
    const ids = ['se_1', 'se_2', 'se_3', 'se_4'];
    await Promise.all(ids.map((id) => asks(`/docs-export watch ${id}`)));
    await slack.until(() => slack.ephemerals.length === ids.length);
    const times = platform.wire.calls.map(({ atMs }) => atMs);
    expect(times).toHaveLength(ids.length);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1500);
  });
});

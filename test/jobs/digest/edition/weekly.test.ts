import { describe, expect, test } from 'vitest';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { editionJob } from '../../../../src/jobs/digest/edition/job.ts';
import { planWeekly } from '../../../../src/jobs/digest/edition/new-edition.ts';
import { rootKey } from '../../../../src/jobs/digest/edition/record.ts';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { lastCompleteWeek } from '../../../../src/jobs/digest/weeks.ts';
import { SlackApiError } from '../../../../src/slack/errors.ts';
import type { RunBase } from '../../../../src/store/runs.ts';
import { aSchedule } from '../../../support/jobs/digest/builders.ts';
import { accept, load, MONDAY, post, setUp, textOf, weekly } from '../../../support/jobs/digest/editions.ts';
import { redisForTests } from '../../../support/redis.ts';

const HOUR_MS = 3_600_000;

const redis = redisForTests();

describe('the digest of a week', () => {
  test('has totals, a chart, its pages in the thread, and a file with all of them', async () => {
    const { shown, world } = await setUp(redis.client);
    const run = await post(world, weekly());
    expect(run).toMatchObject({ state: 'ended', ended: { why: 'done' }, week: '2026-W38' });
    const root = shown.messages.get(rootKey(run));
    expect(root).toMatchObject({ place: { channel: 'C0DOCS' } });
    expect(root?.message.blocks.map(({ type }) => type)).toEqual([
      'rich_text',
      'data_visualization',
      'rich_text',
      'context',
    ]);
    // Replies below it instruct nobody.
    const place = { teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1.1' };
    expect(await world.context.threads.isClosed(place)).toBe(true);
    const { totals } = world.platform.views.between('2026-09-14', '2026-09-21');
    expect(root?.message.text).toContain(`${totals.total.toLocaleString('en-US')} views`);
    expect(textOf(shown, `${run.id}.pages`)).toContain('"type":"table"');
    expect(shown.files.map(({ filename, completed }) => [filename, completed])).toEqual([
      ['page-views-2026-W38.csv', [{ title: 'page-views-2026-W38.csv', channel: 'C0DOCS', threadTs: '1.1' }]],
    ]);
    const rows = Buffer.from(shown.files[0]?.bytes ?? [])
      .toString()
      .trim()
      .split('\r\n');
    const read = rows.slice(1).filter((row) => Number(row.split(',')[3]) > 0);
    expect(read).toHaveLength(run.pages?.count ?? 0);
  });

  test('is posted whole where all is there, and never edited', async () => {
    const { shown, world } = await setUp(redis.client);
    const { publish } = world.context.outbox;
    const looks = new Set<string>();
    Object.assign(world.context.outbox, {
      publish: async (...args: Parameters<typeof publish>) => {
        looks.add(`${args[1].key} ${JSON.stringify(args[1].message)}`);
        await publish(...args);
      },
    });
    const planned = weekly();
    await post(world, planned);
    expect(shown.messages.size).toBe(2);
    expect(looks.size).toBe(2);
  });

  test('comes on time with its totals, says until when the rest waits, and is completed then', async () => {
    const { shown, world } = await setUp(redis.client, {}, { context: { limits: { analyticsPerHour: 25 } } });
    const planned = weekly();
    await accept(world, planned);
    // Of 20 requests the first week takes 13 and its totals 7; the second week has 7 left, for its totals.
    for (const { id } of planned.figures) await world.drive(figuresJob, id, 1000);
    await world.drive(editionJob, planned.edition.id, 1000);
    const open = await load(world, planned);
    expect(open.state).toBe('posted');
    expect(shown.messages.get(rootKey(open))?.message.text).toContain(
      'Totals are complete, and the list of pages follows (request budget) by <!date^',
    );
    expect((open.pagesByMs ?? 0) - MONDAY).toBeGreaterThanOrEqual(HOUR_MS);
    expect((open.pagesByMs ?? 0) - MONDAY).toBeLessThanOrEqual(HOUR_MS + 5 * 60_000);
    expect([...shown.messages.keys()]).toEqual([rootKey(open)]);
    await redis.client.del(...(await redis.client.keys('{docket}:limit:*')));
    world.nowMs += HOUR_MS;
    for (const { id } of planned.figures) await world.drive(figuresJob, id);
    await world.drive(editionJob, planned.edition.id);
    expect(await load(world, planned)).toMatchObject({ state: 'ended', ended: { why: 'done' } });
    expect(textOf(shown, rootKey(open))).not.toContain('request budget');
    expect([...shown.messages.keys()]).toEqual([rootKey(open), `${open.id}.pages`]);
  });

  test('says not before when the rest comes where nobody knows how long its list of pages is', async () => {
    const { shown, world } = await setUp(
      redis.client,
      {},
      { platform: { pages: 25_000 }, context: { limits: { analyticsPerHour: 60 } } },
    );
    const planned = weekly();
    await accept(world, planned);
    for (const { id } of planned.figures) await world.drive(figuresJob, id, 1000);
    await world.drive(editionJob, planned.edition.id, 90_000);
    const run = await load(world, planned);
    expect(run.pagesByMs).toBeUndefined();
    expect(shown.messages.get(rootKey(run))?.message.text).toContain(
      'Totals are complete, and the list of pages follows (request budget) not before <!date^',
    );
  });

  test('where the workspace refuses charts, a picture takes its place, and the answer is remembered', async () => {
    const { shown, world } = await setUp(redis.client, { refusesCharts: true });
    const run = await post(world, weekly());
    expect(run.chart).toBe('picture');
    const picture = shown.files.find(({ filename }) => filename.endsWith('.png'));
    expect(picture?.completed).toEqual([{ title: expect.stringContaining('docs.acme.com') }]);
    expect(textOf(shown, rootKey(run))).toContain(`"slack_file":{"id":"${picture?.fileId}"}`);
    expect(
      Buffer.from(picture?.bytes ?? [])
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    expect(await redis.client.keys('{docket}:lacks:slack-charts:*')).toHaveLength(1);
    const next = planWeekly(
      {
        schedule: aSchedule({ channel: 'C0OTHER' }),
        week: lastCompleteWeek(MONDAY),
        dueAtMs: MONDAY,
        late: false,
      },
      MONDAY,
    );
    shown.refusesCharts = false;
    expect((await post(world, next)).chart).toBe('picture');
  });

  test('a picture that is there before its message could be edited is not given up', async () => {
    const { shown, world } = await setUp(redis.client, { refusesCharts: true, editsWait: true });
    const run = await post(world, weekly());
    expect(run).toMatchObject({ chart: 'picture', picture: { state: 'done' }, ended: { why: 'done' } });
    expect(textOf(shown, rootKey(run))).toContain('slack_file');
  });

  test('where another block is refused than the chart, nobody takes charts for refused', async () => {
    const { shown, world } = await setUp(redis.client, { refusesCharts: true, fallsBackTo: 'text' });
    expect(await post(world, weekly())).toMatchObject({ chart: 'block', ended: { why: 'done' } });
    expect(shown.files.map(({ filename }) => filename)).toEqual(['page-views-2026-W38.csv']);
    expect(await redis.client.keys('{docket}:lacks:slack-charts:*')).toEqual([]);
  });

  test('has its pages and its file while its picture cannot be uploaded', async () => {
    const { shown, world } = await setUp(redis.client, { refusesCharts: true });
    const { getUploadAddress } = world.context.slack;
    let isDown = true;
    Object.assign(world.context.slack, {
      async getUploadAddress(file: Parameters<typeof getUploadAddress>[0]) {
        if (isDown && file.filename.endsWith('.png'))
          throw new SlackApiError('unreachable', 'files.getUploadURLExternal', 'ECONNREFUSED');
        return getUploadAddress(file);
      },
    });
    const planned = weekly();
    await accept(world, planned);
    const [figures, before] = planned.figures;
    if (figures === undefined || before === undefined) throw new Error('no figures');
    await world.drive(figuresJob, figures.id);
    await world.drive(editionJob, planned.edition.id, 5 * 60_000);
    expect(await load(world, planned)).toMatchObject({ state: 'posted', picture: { state: 'wanted' } });
    await world.drive(figuresJob, before.id);
    await world.drive(editionJob, planned.edition.id, 5 * 60_000);
    const open = await load(world, planned);
    expect(open).toMatchObject({ state: 'completing', picture: { state: 'wanted' }, csv: { state: 'done' } });
    expect(textOf(shown, `${open.id}.pages`)).toContain('"type":"table"');
    isDown = false;
    await world.drive(editionJob, planned.edition.id);
    expect(await load(world, planned)).toMatchObject({ chart: 'picture', ended: { why: 'done' } });
  });

  test.each([
    ['disabled', new SlackApiError('refused', 'files.getUploadURLExternal', 'file_uploads_disabled')],
    [
      'without the scope',
      new SlackApiError('token', 'files.getUploadURLExternal', 'missing_scope', { needed: 'files:write' }),
    ],
  ])('where files are %s as well, the tables stand alone', async (_, error) => {
    const { shown, world } = await setUp(redis.client, { refusesCharts: true });
    let asked = 0;
    Object.assign(world.context.slack, {
      async getUploadAddress() {
        asked += 1;
        throw error;
      },
    });
    const run = await post(world, weekly());
    expect(run).toMatchObject({
      state: 'ended',
      ended: { why: 'done' },
      chart: 'none',
      csv: { state: 'failed' },
    });
    expect(asked).toBeLessThanOrEqual(2);
    expect(textOf(shown, rootKey(run))).not.toContain('image');
    expect(textOf(shown, `${run.id}.pages`)).toContain('"type":"table"');
  });

  test('is one digest, one picture and one file, whatever dies between any two writes', async () => {
    const { shown, world } = await setUp(redis.client, { refusesCharts: true });
    const planned = weekly();
    await accept(world, planned);
    for (const { id } of planned.figures) await world.drive(figuresJob, id);
    let saves = 0;
    const { runs } = world.context;
    const dying: JobContext = {
      ...world.context,
      runs: {
        ...runs,
        async save<R extends RunBase>(next: R, release?: boolean) {
          saves += 1;
          if (saves % 2 === 1) throw new Error('died before the save');
          return runs.save(next, release);
        },
      },
    };
    for (;;) {
      const outcome = await editionJob.run({ runId: planned.edition.id }, dying).catch(() => undefined);
      if (outcome?.kind === 'done') break;
      if (outcome?.kind === 'again') world.nowMs += outcome.inMs;
    }
    const completed = shown.files.filter((file) => file.completed.length > 0);
    expect(completed.map(({ filename }) => filename.split('.')[1])).toEqual(['png', 'csv']);
    for (const file of completed) expect(file.completed).toHaveLength(1);
  });

  test('a completion without an answer is looked up, and made again only where it did not happen', async () => {
    for (const happened of [true, false]) {
      await redis.client.flushall();
      const { shown, world } = await setUp(redis.client);
      const { completeUpload } = world.context.slack;
      let failures = 1;
      Object.assign(world.context.slack, {
        async completeUpload(file: Parameters<typeof completeUpload>[0]) {
          if (happened || failures === 0) await completeUpload(file);
          if (failures === 0) return;
          failures -= 1;
          throw new SlackApiError('unclear', 'files.completeUploadExternal', 'timeout');
        },
      });
      const run = await post(world, weekly());
      expect(run.csv).toMatchObject({ state: 'done' });
      expect(shown.files.flatMap(({ completed }) => completed)).toHaveLength(1);
    }
  });

  test('without a place ends and says so to its schedule, after nothing was posted', async () => {
    const { world } = await setUp(redis.client, { refusesPlace: 'not_in_channel' });
    expect(await post(world, weekly())).toMatchObject({ ended: { why: 'place', code: 'not_in_channel' } });
  });

  test('a week without a view says what that usually means', async () => {
    const { shown, world } = await setUp(redis.client);
    world.platform.views.silence('2026-09-14', '2026-09-21');
    const run = await post(world, weekly(true));
    const root = shown.messages.get(rootKey(run))?.message;
    expect(root?.text).toMatch(/0 views all week.*\. That usually means that counting broke\./);
    expect(root?.text).toContain('Sent late. It was due');
    expect(root?.blocks.map(({ type }) => type)).not.toContain('data_visualization');
  });

  test.each([
    [10 * HOUR_MS, true],
    [HOUR_MS, false],
  ])('says so, too, where its totals came %d ms late: %s', async (lateMs, isLate) => {
    const { shown, world } = await setUp(redis.client);
    const planned = weekly();
    await accept(world, planned);
    world.nowMs += lateMs;
    for (const { id } of planned.figures) await world.drive(figuresJob, id);
    world.nowMs = MONDAY + lateMs;
    await world.drive(editionJob, planned.edition.id);
    expect(textOf(shown, rootKey(planned.edition)).includes('Sent late. It was due')).toBe(isLate);
  });

  test('says when the list of pages does not add up to the totals', async () => {
    const { shown, world } = await setUp(redis.client);
    const { context } = world;
    const docs = context.docs('acme');
    if (docs === undefined) throw new Error('no client');
    const short = {
      ...docs,
      async getPageViews(...args: Parameters<typeof docs.getPageViews>) {
        const answer = await docs.getPageViews(...args);
        return { ...answer, views: answer.views.slice(1) };
      },
    };
    Object.assign(context, { docs: () => short });
    const run = await post(world, weekly());
    expect(textOf(shown, `${run.id}.pages`)).toMatch(
      /The list of pages of the days before adds up to [\d,]+ of [\d,]+ views, so changes of pages may be wrong/,
    );
    expect(textOf(shown, `${run.id}.pages`)).toMatch(/The list of pages adds up to [\d,]+ of [\d,]+ views/);
  });
});

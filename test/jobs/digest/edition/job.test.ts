import { describe, expect, test } from 'vitest';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { editionJob } from '../../../../src/jobs/digest/edition/job.ts';
import {
  type PlannedEdition,
  planAsked,
  planWeekly,
} from '../../../../src/jobs/digest/edition/new-edition.ts';
import { type EditionRun, editionRun, rootKey } from '../../../../src/jobs/digest/edition/record.ts';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { analyticsLimit } from '../../../../src/jobs/digest/figures/limits.ts';
import { lastCompleteWeek } from '../../../../src/jobs/digest/weeks.ts';
import { SlackApiError } from '../../../../src/slack/errors.ts';
import type { OutboxMessage } from '../../../../src/slack/outbox.ts';
import type { RunBase } from '../../../../src/store/runs.ts';
import { aSchedule } from '../../../support/jobs/digest/builders.ts';
import { type DigestWorld, digestWorld } from '../../../support/jobs/digest/world.ts';
import type { JobContextParts } from '../../../support/jobs/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const MONDAY = Date.parse('2026-09-21T07:00:00Z');
const HOUR_MS = 3_600_000;

const redis = redisForTests();

/** A Slack that shows what is published, and takes files, as far as the test lets it. */
interface Shown {
  messages: Map<string, OutboxMessage>;
  refusesCharts: boolean;
  /** What is shown where they are refused. */
  fallsBackTo: 'fallback' | 'text';
  /** Edits wait for their slots: what was posted first is still shown. */
  editsWait?: boolean;
  refusesPlace?: string;
  files: { fileId: string; filename: string; bytes: Uint8Array | undefined; completed: object[] }[];
}

function slackOf(shown: Shown): Pick<JobContextParts, 'outbox' | 'slack'> {
  const hasChart = (key: string) =>
    shown.messages.get(key)?.message.blocks.some(({ type }) => type === 'data_visualization') ?? false;
  return {
    outbox: {
      async publish(_team, message) {
        shown.messages.set(message.key, message);
      },
      async deliveryState(key) {
        if (shown.refusesPlace !== undefined) return { kind: 'refused', code: shown.refusesPlace };
        if (!shown.messages.has(key)) return { kind: 'waiting' };
        const outdated = shown.editsWait && !hasChart(key);
        const fellBack = shown.refusesCharts && (outdated || hasChart(key));
        return {
          kind: 'shown',
          channel: 'C0DOCS',
          ts: '1.1',
          ...(outdated && { outdated }),
          ...(fellBack && { fellBack: shown.fallsBackTo }),
        };
      },
    },
    slack: {
      async getUploadAddress({ filename }) {
        const fileId = `F${shown.files.length + 1}`;
        shown.files.push({ fileId, filename, bytes: undefined, completed: [] });
        return { fileId, uploadUrl: `https://files.example/${fileId}` };
      },
      async uploadBytes(url, bytes) {
        const file = shown.files.find(({ fileId }) => url.endsWith(`/${fileId}`));
        if (file) file.bytes = bytes;
      },
      async completeUpload({ fileId, ...rest }) {
        shown.files.find((file) => file.fileId === fileId)?.completed.push(rest);
      },
      async fileInfo(fileId) {
        const file = shown.files.find((one) => one.fileId === fileId);
        if (!file || file.completed.length === 0)
          throw new SlackApiError('missing', 'files.info', 'file_not_found');
        return { ready: true, sharedIn: [{ channel: 'C0DOCS', ts: '2.2', threadTs: '1.1' }] };
      },
    },
  };
}

async function setUp(changes: Partial<Shown> = {}, options: Parameters<typeof digestWorld>[2] = {}) {
  const shown: Shown = {
    messages: new Map(),
    refusesCharts: false,
    fallsBackTo: 'fallback',
    files: [],
    ...changes,
  };
  const world = await digestWorld(redis.client, MONDAY, {
    ...options,
    context: { ...slackOf(shown), ...options.context },
  });
  return { shown, world };
}

const weekly = (late = false) =>
  planWeekly({ schedule: aSchedule(), week: lastCompleteWeek(MONDAY), dueAtMs: MONDAY, late }, MONDAY);

async function accept(world: DigestWorld, { edition, figures }: PlannedEdition) {
  for (const run of [...figures, edition]) await world.accept(run);
}

async function post(world: DigestWorld, planned: PlannedEdition): Promise<EditionRun> {
  await accept(world, planned);
  for (const { id } of planned.figures) await world.drive(figuresJob, id);
  await world.drive(editionJob, planned.edition.id);
  return load(world, planned);
}

async function load(world: DigestWorld, { edition }: PlannedEdition): Promise<EditionRun> {
  const run = await world.context.runs.load(edition.id, editionRun);
  if (run === undefined) throw new Error('the record is gone');
  return run;
}

const textOf = ({ messages }: Shown, key: string) => JSON.stringify(messages.get(key)?.message ?? {});

describe('the digest of a week', () => {
  test('has totals, a chart, its pages in the thread, and a file with all of them', async () => {
    const { shown, world } = await setUp();
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
    const { shown, world } = await setUp();
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
    const { shown, world } = await setUp({}, { context: { limits: { analyticsPerHour: 25 } } });
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
    await redis.client.del(...(await redis.client.keys('{docket}:budget:*')));
    world.nowMs += HOUR_MS;
    for (const { id } of planned.figures) await world.drive(figuresJob, id);
    await world.drive(editionJob, planned.edition.id);
    expect(await load(world, planned)).toMatchObject({ state: 'ended', ended: { why: 'done' } });
    expect(textOf(shown, rootKey(open))).not.toContain('request budget');
    expect([...shown.messages.keys()]).toEqual([rootKey(open), `${open.id}.pages`]);
  });

  test('says not before when the rest comes where nobody knows how long its list of pages is', async () => {
    const { shown, world } = await setUp(
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
    const { shown, world } = await setUp({ refusesCharts: true });
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
    const { shown, world } = await setUp({ refusesCharts: true, editsWait: true });
    const run = await post(world, weekly());
    expect(run).toMatchObject({ chart: 'picture', picture: { state: 'done' }, ended: { why: 'done' } });
    expect(textOf(shown, rootKey(run))).toContain('slack_file');
  });

  test('where another block is refused than the chart, nobody takes charts for refused', async () => {
    const { shown, world } = await setUp({ refusesCharts: true, fallsBackTo: 'text' });
    expect(await post(world, weekly())).toMatchObject({ chart: 'block', ended: { why: 'done' } });
    expect(shown.files.map(({ filename }) => filename)).toEqual(['page-views-2026-W38.csv']);
    expect(await redis.client.keys('{docket}:lacks:slack-charts:*')).toEqual([]);
  });

  test('has its pages and its file while its picture cannot be uploaded', async () => {
    const { shown, world } = await setUp({ refusesCharts: true });
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
    const { shown, world } = await setUp({ refusesCharts: true });
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
    const { shown, world } = await setUp({ refusesCharts: true });
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
      const { shown, world } = await setUp();
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
    const { world } = await setUp({ refusesPlace: 'not_in_channel' });
    expect(await post(world, weekly())).toMatchObject({ ended: { why: 'place', code: 'not_in_channel' } });
  });

  test('a week without a view says what that usually means', async () => {
    const { shown, world } = await setUp();
    world.platform.views.silence('2026-09-14', '2026-09-21');
    const run = await post(world, weekly(true));
    const root = shown.messages.get(rootKey(run))?.message;
    expect(root?.text).toContain('0 views all week. That usually means that counting broke.');
    expect(root?.text).toContain('Sent late. It was due');
    expect(root?.blocks.map(({ type }) => type)).not.toContain('data_visualization');
  });

  test.each([
    [10 * HOUR_MS, true],
    [HOUR_MS, false],
  ])('says so, too, where its totals came %d ms late: %s', async (lateMs, isLate) => {
    const { shown, world } = await setUp();
    const planned = weekly();
    await accept(world, planned);
    world.nowMs += lateMs;
    for (const { id } of planned.figures) await world.drive(figuresJob, id);
    world.nowMs = MONDAY + lateMs;
    await world.drive(editionJob, planned.edition.id);
    expect(textOf(shown, rootKey(planned.edition)).includes('Sent late. It was due')).toBe(isLate);
  });

  test('says when the list of pages does not add up to the totals', async () => {
    const { shown, world } = await setUp();
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

describe('dates that somebody asked for', () => {
  const request = {
    teamId: 'T0ACME',
    user: { id: 'U0ANA', name: 'ana', fullMember: true },
    channel: { id: 'C0DOCS', name: 'docs' },
    requestId: 'r1',
  };
  const asked = (
    range: { from: string; to: string },
    kind: 'asked' | 'preview' = 'asked',
    inDirectMessage = false,
  ) =>
    planAsked(
      {
        request,
        project: 'acme',
        site: 'docs.acme.com',
        channel: 'C0DOCS',
        range,
        kind,
        inDirectMessage,
        sections: ['pages', 'readers', 'csv'],
      },
      MONDAY,
    );

  test.each([
    ['two weeks', { from: '2026-09-07', to: '2026-09-21' }],
    ['92 days', { from: '2026-06-20', to: '2026-09-20' }],
  ])('%s take twenty requests at most', async (_, range) => {
    const { world } = await setUp({}, { platform: { pages: 300 } });
    const run = await post(world, asked(range));
    expect(run).toMatchObject({ state: 'ended', ended: { why: 'done' } });
    expect(run.spans.length).toBeLessThanOrEqual(14);
    const requests = Object.values(world.platform.analyticsRequests()).reduce((all, count) => all + count, 0);
    expect(requests).toBeLessThanOrEqual(20);
    const { totals } = world.platform.views.between(range.from, range.to);
    expect(run.totals).toEqual({ human: totals.human, ai: totals.ai });
  });

  test('of a large site are told as totals, with a word', async () => {
    const { shown, world } = await setUp({}, { platform: { pages: 25_000 } });
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-21' }));
    expect(run).toMatchObject({ noPages: 'tooMany', ended: { why: 'done' } });
    expect(textOf(shown, rootKey(run))).toContain('more pages than I read at once');
    expect(shown.files).toEqual([]);
  });

  test('a preview goes to the person alone, without files', async () => {
    const { shown, world } = await setUp({ refusesCharts: true });
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-21' }, 'preview'));
    expect(shown.messages.get(rootKey(run))?.place).toEqual({ user: 'U0ANA' });
    expect(shown.files).toEqual([]);
    expect(textOf(shown, `${run.id}.pages`)).not.toContain('Ask the agent');
  });

  test('leave no pages for longer than two days, and those of the weekly digest of these dates as they are', async () => {
    const { world } = await setUp();
    await post(world, weekly());
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-21' }));
    expect(run.pages?.count).toBeGreaterThan(0);
    const kept = await redis.client.keys('*:figures:*pages:*');
    const days = await Promise.all(
      kept.map(async (key) => Math.ceil((await redis.client.pttl(key)) / 86_400_000)),
    );
    expect(days.toSorted((one, other) => one - other)).toEqual([2, 2, 2, 2, 17, 17, 17, 17]);
  });

  test('that were asked for in direct messages come there, with the title of their dates', async () => {
    const { shown, world } = await setUp({ refusesCharts: true });
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-20' }, 'asked', true));
    const root = shown.messages.get(rootKey(run));
    expect(root?.place).toEqual({ user: 'U0ANA' });
    expect(root?.message.text).toMatch(/^Digest of docs\.acme\.com, 14–19 Sep 2026: /);
    expect(textOf(shown, rootKey(run))).not.toMatch(/preview/i);
    expect(textOf(shown, rootKey(run))).toContain('asked for by ana');
    expect(shown.files).toEqual([]);
    expect(textOf(shown, `${run.id}.pages`)).not.toContain('Ask the agent');
  });

  describe('held up by limits', () => {
    const privately: { url: string; text: string }[] = [];
    /** The hour's requests are used up; `responseUrl` is that of the command. */
    async function heldUp(kind: EditionRun['kind'], responseUrl: string | undefined, minutes = 40) {
      privately.length = 0;
      const { shown, world } = await setUp(
        {},
        {
          context: {
            postEphemeral: async (url, { text }) => privately.push({ url, text }) > 0,
          },
        },
      );
      const limit = analyticsLimit(world.context.docs('acme')?.keyId ?? '', 10_000);
      await world.context.rateLimiter.hold(limit, minutes * 60_000);
      const planned = kind === 'weekly' ? weekly() : asked({ from: '2026-09-14', to: '2026-09-21' }, kind);
      for (const run of planned.figures) await world.accept(run);
      await world.context.runs.accept(planned.edition, Number.MAX_SAFE_INTEGER, 0, responseUrl);
      for (const { id } of planned.figures) await world.drive(figuresJob, id, 1000);
      for (let times = 0; times < 3; times += 1) await world.drive(editionJob, planned.edition.id, 60_000);
      return { shown, waits: shown.messages.get(`${planned.edition.id}.wait`) };
    }
    const WAITS = /^Waiting · the digest of docs\.acme\.com\nIt comes by about <!date\^(\d+)\^/;

    test.each(['asked', 'preview', 'weekly'] as const)(
      '%s: says once, where they asked, by when',
      async (kind) => {
        const { shown } = await heldUp(kind, 'https://hooks.example/1');
        expect(privately).toEqual([{ url: 'https://hooks.example/1', text: expect.stringMatching(WAITS) }]);
        const byMs = 1000 * Number(WAITS.exec(privately[0]?.text ?? '')?.[1]);
        expect(byMs - MONDAY).toBeGreaterThanOrEqual(40 * 60_000);
        expect(byMs - MONDAY).toBeLessThanOrEqual(45 * 60_000);
        expect(shown.messages.size).toBe(0);
      },
    );

    test('says it by direct message where that is gone', async () => {
      const { waits } = await heldUp('asked', undefined);
      expect(waits).toMatchObject({ place: { user: 'U0ANA' } });
      expect(waits?.message.text).toMatch(WAITS);
    });

    test('says nothing of a weekly one that nobody asked for', async () => {
      expect((await heldUp('weekly', undefined)).shown.messages.size).toBe(0);
    });

    test('says nothing of a short wait', async () => {
      const { waits } = await heldUp('asked', 'https://hooks.example/1', 0.4);
      expect([privately, waits]).toEqual([[], undefined]);
    });
  });

  test('that the platform does not give are told to whoever asked', async () => {
    const { shown, world } = await setUp();
    Object.assign(world.context, { docs: () => undefined });
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-21' }));
    expect(run).toMatchObject({ ended: { why: 'project' } });
    expect(shown.messages.get(`${run.id}.failed`)).toMatchObject({ place: { user: 'U0ANA' } });
    expect(textOf(shown, `${run.id}.failed`)).toContain('did not come');
  });

  test('of a project that is gone from the settings end a weekly digest when it is due', async () => {
    const { shown, world } = await setUp();
    Object.assign(world.context, { projectId: () => undefined });
    const planned = weekly();
    await accept(world, planned);
    for (const { id } of planned.figures) await figuresJob.run({ runId: id }, world.context);
    await world.drive(editionJob, planned.edition.id, 60_000);
    expect(await load(world, planned)).toMatchObject({ ended: { why: 'project' } });
    expect(shown.messages.size).toBe(0);
  });
});

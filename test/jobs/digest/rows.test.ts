import { describe, expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import type { Pull } from '../../../src/git-hosts/pull.ts';
import type { Instruction, ThreadRun } from '../../../src/jobs/agent/thread/record.ts';
import { UNANSWERED } from '../../../src/jobs/digest/buttons.ts';
import { figuresOf } from '../../../src/jobs/digest/edition/record.ts';
import { analyticsLimit } from '../../../src/jobs/digest/figures/job.ts';
import type { FiguresRun } from '../../../src/jobs/digest/figures/record.ts';
import { rowJob } from '../../../src/jobs/digest/row/job.ts';
import { newReading, type RowNumbers, type RowRun, rowRun } from '../../../src/jobs/digest/row/record.ts';
import { trackRow } from '../../../src/jobs/digest/row/track.ts';
import type { JobContext } from '../../../src/jobs/engine/context.ts';
import { pullRequestId } from '../../../src/jobs/pull-request/record.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';
import { anAsk, anEdition, aRow, aSchedule } from '../../support/jobs/digest/builders.ts';
import { type DigestWorld, digestWorld } from '../../support/jobs/digest/world.ts';
import { aPullRequest } from '../../support/jobs/pull-request/builders.ts';
import type { JobContextParts } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Wednesday. Of its four whole weeks before, the first begins on 24 August. */
const WEDNESDAY = Date.parse('2026-09-23T10:00:00Z');
const BEFORE = ['2026-09-14', '2026-09-07', '2026-08-31', '2026-08-24'];

const LINK = 'https://github.com/acme/docs/pull/131';
const PULL = pullRequestId('thread1', 'acme/docs', 131);
const gitHost = (() => ({
  parse: (link: string) => (link === LINK ? { repository: 'acme/docs', number: 131 } : undefined),
})) as unknown as JobContext['gitHost'];

const asked = (changes: Partial<RowRun> = {}) =>
  aRow({ askedAtMs: WEDNESDAY, lookAtMs: WEDNESDAY, pull: undefined, ...changes });
const page = { kind: 'thumbs', name: '/a' } as const;

async function aWorld(context: JobContextParts = {}) {
  const parts = { gitHost, random: () => 0, ...context };
  const world = await digestWorld(redis.client, WEDNESDAY, { platform: { pages: 0 }, context: parts });
  await world.accept(aSchedule());
  return world;
}

const load = async ({ context }: DigestWorld, { id }: { id: string }) => {
  const run = await context.store.runs.load(id, rowRun);
  if (run === undefined) throw new Error('the record is lost');
  return run;
};

/** Steps a row until it rests for longer than that, and returns it as it is then. */
async function rests(world: DigestWorld, row: RowRun, maxMs = 0) {
  await world.drive(rowJob, row.id, maxMs);
  return load(world, row);
}

/** The thread of its request, and the pull request of that. */
async function withThread(
  world: DigestWorld,
  one: Partial<Instruction> = {},
  thread: Partial<ThreadRun> = {},
) {
  await world.accept(aThread({ id: 'thread1', claim: undefined, instructions: [anAsk(one)], ...thread }));
}
const opened: Partial<Instruction> = {
  state: 'sent',
  ending: { kind: 'newPr', prLink: LINK, atMs: WEDNESDAY },
};

async function withPull(world: DigestWorld, pull: Partial<Pull> | undefined, state: 'following' | 'ended') {
  const known = aPullRequest({ id: PULL, state });
  await world.accept({ ...known, ...{ pull: pull && { ...known.pull, ...pull } } });
}

const weeksOf = ({ weeks }: RowRun) =>
  weeks
    .map(({ from }) => from)
    .toSorted()
    .toReversed();

/** The number of requests for each week. */
function requestsOf({ platform }: DigestWorld) {
  const weeks = platform.wire.calls.map(({ detail }) => (detail.query as { dateFrom: string }).dateFrom);
  return Object.fromEntries(weeks.map((from) => [from, weeks.filter((one) => one === from).length]));
}

describe('the weeks of a row', () => {
  test('are the last four until the merge; then those before it and after it, without its own', async () => {
    const world = await aWorld();
    const row = asked({ subject: page });
    for (const from of BEFORE) world.platform.views.set('/a', from, { human: 30, ai: 10 });
    for (const from of BEFORE) world.platform.views.set('/b', from, { human: 70, ai: 0 });
    for (const from of [...BEFORE, '2026-09-21', '2026-09-28', '2026-10-05'])
      world.platform.readers.silence(from, '2026-10-12');
    world.platform.readers.setFeedback('2026-09-15', [
      { path: '/a', thumbsUp: 1, thumbsDown: 9 },
      { path: '/b', thumbsUp: 0, thumbsDown: 2 },
    ]);
    await withThread(world, opened);
    await withPull(world, {}, 'following');
    await world.accept(row);
    const before = await rests(world, row);
    expect(weeksOf(before)).toEqual(BEFORE);
    expect(before.weeks[0]?.numbers).toEqual({
      ...{ human: { count: 30, of: 100 }, ai: { count: 10, of: 10 } },
      ...{ down: { count: 9, of: 12 }, up: { count: 1, of: 12 } },
    });
    expect(requestsOf(world)).toEqual(Object.fromEntries(BEFORE.map((from) => [from, 2])));

    // On Thursday of the next week it is merged, and the next day that is seen.
    world.nowMs = Date.parse('2026-10-02T10:00:00Z');
    await redis.client.del(`{docket}:run:${PULL}`);
    await withPull(world, { state: 'merged', endedAtMs: world.nowMs - DAY_MS }, 'ended');
    const merged = await rests(world, row);
    expect(merged).toMatchObject({ state: 'merged', pull: { run: PULL, link: LINK } });
    expect(weeksOf(merged)).toEqual(['2026-09-21', ...BEFORE]);
    const later = await rests(world, row, 11 * DAY_MS);
    expect(weeksOf(later)).toEqual(['2026-10-05', '2026-09-21', ...BEFORE]);
    expect(new Date(world.nowMs).toISOString()).toBe('2026-10-12T01:05:00.000Z');
    expect(Object.values(requestsOf(world))).toEqual([2, 2, 2, 2, 2, 2]);

    // Eight weeks after it, and not more; then it ends.
    const last = await rests(world, row, 80 * DAY_MS);
    expect(weeksOf(last)).toHaveLength(13);
    expect(weeksOf(last)[0]).toBe('2026-11-23');
    expect((await rests(world, row, 40 * DAY_MS)).state).toBe('ended');
    expect(world.nowMs).toBe(Date.parse('2026-10-01T10:00:00Z') + 107 * DAY_MS);
  });

  test('are not those that it was chosen by', async () => {
    const read = async (changes: Partial<RowRun>) => {
      const world = await aWorld();
      const row = asked({ id: JSON.stringify(changes), subject: page, ...changes });
      await withThread(world, { state: 'working' });
      await world.accept(row);
      return weeksOf(await rests(world, row));
    };
    const week = { from: '2026-09-14', to: '2026-09-21' };
    const earlier = ['2026-09-07', '2026-08-31', '2026-08-24', '2026-08-17'];
    expect(await read({ chosen: week })).toEqual(earlier);
    expect(await read({ chosen: week, mergedAtMs: WEDNESDAY })).toEqual(earlier);
    const month = { from: '2026-08-01', to: '2026-09-01' };
    const [first, second] = BEFORE;
    expect(await read({ chosen: month })).toEqual([first, second, '2026-07-20', '2026-07-13']);
    const longest = { from: '2026-06-21', to: '2026-09-21' };
    const [latest, ...rest] = await read({ chosen: longest });
    expect([latest, rest.length]).toEqual(['2026-06-08', 3]);
  });

  test('are only the first four while there is no pull request', async () => {
    const world = await aWorld();
    const row = asked();
    await withThread(world, { state: 'working' });
    await world.accept(row);
    expect(weeksOf(await rests(world, row, 40 * DAY_MS))).toEqual(BEFORE);
  });

  test('take no request for views that a digest has stored', async () => {
    const world = await aWorld();
    const { figures } = world.context.store;
    const row = asked({ subject: page });
    const [from = ''] = BEFORE;
    const range = { from, to: '2026-09-21' };
    const pages = [
      { path: '/a', human: 28, ai: 10 },
      { path: '/a/', human: 2, ai: 0 },
    ];
    await figures.addPages(row, range, 0, pages, true);
    for (let day = 14; day < 21; day += 1)
      await figures.addDay(row, `2026-09-${day}`, { human: 20, ai: 10 }, WEDNESDAY);
    await withThread(world);
    await world.accept(row);
    const { weeks } = await rests(world, row);
    expect(weeks[0]?.numbers).toMatchObject({ human: { count: 30, of: 140 }, ai: { count: 10, of: 70 } });
    expect(requestsOf(world)[from]).toBe(1);
  });
});

describe('the end of a row', () => {
  test.each<[string, boolean, (world: DigestWorld) => Promise<unknown>]>([
    ['its thread is lost', true, async () => {}],
    ['its request is lost', true, (world) => withThread(world, { id: 'i2' })],
    ['its request was not sent', true, (world) => withThread(world, { state: 'discarded' })],
    ['its request may be sent again', false, (world) => withThread(world, { state: 'failed' })],
    ['the agent works', false, (world) => withThread(world, { state: 'working' })],
    [
      'there is no pull request',
      true,
      (world) => withThread(world, { state: 'sent', ending: { kind: 'noPr', atMs: WEDNESDAY } }),
    ],
    [
      'nobody has read the pull request',
      false,
      async (world) => {
        await withThread(world, opened);
        await withPull(world, undefined, 'following');
      },
    ],
    ...(
      [
        ['it is open', false, { state: 'open' }, 'following'],
        ['it is closed', true, { state: 'closed' }, 'ended'],
        ['it was merged before', true, { state: 'merged', endedAtMs: WEDNESDAY - HOUR_MS }, 'ended'],
        ['it is no longer read', true, { state: 'open' }, 'ended'],
      ] as const
    ).map(([name, ends, pull, state]): [string, boolean, (world: DigestWorld) => Promise<unknown>] => [
      name,
      ends,
      async (world) => {
        await withThread(world, opened);
        await withPull(world, pull, state);
      },
    ]),
  ])('comes if %s: %s', async (_, ends, prepare) => {
    const world = await aWorld();
    const row = asked();
    await prepare(world);
    await world.accept(row);
    expect((await rests(world, row)).state).toBe(ends ? 'ended' : 'asked');
    const ttl = await redis.client.pttl(`{docket}:run:${row.id}`);
    expect(ttl).toSatisfy((left) => (ends ? left > 0 && left <= DAY_MS : left === -1));
  });

  test('comes after 90 days without a merge', async () => {
    const world = await aWorld();
    const row = asked();
    await withThread(world, opened);
    await world.accept(row);
    const { state, weeks } = await rests(world, row, 100 * DAY_MS);
    expect([state, weeks.length]).toEqual(['ended', 17]);
    expect(Math.round((world.nowMs - WEDNESDAY) / DAY_MS)).toBe(90);
  });
});

describe('the numbers of a week', () => {
  /** Reads the latest week with this client of the platform. Returns what is known then, and how many calls it took. */
  async function read(subject: RowRun['subject'], odd: (calls: number) => Partial<DocsApi> | object) {
    const world = await aWorld();
    let calls = 0;
    const docs = new Proxy({} as DocsApi, {
      get: (_, name) => async (query: object) => {
        calls += 1;
        return (odd(calls) as Record<string | symbol, (query: object) => unknown>)[name]?.(query);
      },
    });
    Object.assign(world.context.platform, { docs: () => docs });
    const rest = BEFORE.slice(1).map((from) => ({ from, numbers: {} }));
    const row = asked({ subject, weeks: rest });
    await withThread(world, { state: 'working' });
    await world.accept(row);
    const { weeks } = await rests(world, row);
    return { numbers: weeks.find(({ from }) => from === BEFORE[0])?.numbers, calls };
  }

  const totals = { human: 90, ai: 10 };
  const rows = (count: number, path = '/x') =>
    Array.from({ length: count }, () => ({ path, human: 1, ai: 0 }));
  const thumbs = (count: number, path = '/x') =>
    Array.from({ length: count }, () => ({ path, thumbsUp: 1, thumbsDown: 2 }));
  const terms = (count: number, ctr?: number) =>
    Array.from({ length: count }, (_, n) => ({ searchQuery: `${n}`, hits: 9, ctr }));
  const found = (ctr?: number) => ({ searchQuery: 'sso', hits: 40, ctr });
  const talks = (count: number, queryCategory?: string) =>
    Array.from({ length: count }, () => ({ resolutionStatus: 'unanswered', queryCategory }));
  const views = (pages: object[], hasMore = false) => ({
    getPageViews: () => ({ totals, views: pages, hasMore }),
  });
  const feedback = (listed: object[], hasMore?: boolean) => ({
    getFeedbackByPage: () => ({ feedback: listed, hasMore }),
  });
  const searches = (listed: object[], more: object = {}) => ({
    getSearches: () => ({ searches: listed, totalSearches: 400, ...more }),
  });
  const search = { kind: 'search', name: 'sso' } as const;
  const questions = (name: string) => ({ kind: 'questions', name }) as const;
  const none = { human: { count: 0, of: 90 }, ai: { count: 0, of: 10 } };
  const of = (hits: number, unclicked?: number): RowNumbers => ({
    hits: { count: hits, of: 400 },
    ...(unclicked !== undefined && { unclicked: { count: unclicked, of: 400 } }),
  });

  test.each<[string, RowRun['subject'], (calls: number) => object, RowNumbers, number]>([
    [
      'a page that is not listed',
      page,
      () => ({ ...views([]), ...feedback([]) }),
      { ...none, down: { count: 0, of: 0 }, up: { count: 0, of: 0 } },
      2,
    ],
    [
      'a page behind the fourth list',
      page,
      () => ({ ...views(rows(250), true), ...feedback(thumbs(1, '/a')) }),
      { down: { count: 2, of: 3 }, up: { count: 1, of: 3 } },
      5,
    ],
    [
      'a list without an end',
      page,
      () => ({ ...views([], true), ...feedback([]) }),
      { down: { count: 0, of: 0 }, up: { count: 0, of: 0 } },
      2,
    ],
    [
      'a page in two spellings',
      { ...page, name: '/%61/' },
      () => ({
        ...views([...rows(1, '/a'), ...rows(2, '/b'), ...rows(1, '/a/')]),
        ...feedback([...thumbs(1, '/a/'), ...thumbs(1, '/a'), ...thumbs(1)]),
      }),
      {
        ...{ human: { count: 2, of: 90 }, ai: { count: 0, of: 10 } },
        ...{ down: { count: 4, of: 9 }, up: { count: 2, of: 9 } },
      },
      2,
    ],
    ['thumbs beyond the first 100 pages', page, () => ({ ...views([]), ...feedback(thumbs(100)) }), none, 2],
    [
      'thumbs of which the platform has more',
      page,
      () => ({ ...views([]), ...feedback(thumbs(99), true) }),
      none,
      2,
    ],
    ['a search', search, () => searches([found(0.25)]), of(40, 30), 1],
    ['a search in percent', search, () => searches([...terms(1, 60), found(25)]), of(40, 30), 1],
    [
      'percent in an earlier list',
      search,
      (n) => (n === 1 ? searches(terms(1, 60), { nextCursor: 'c' }) : searches([found(1)])),
      of(40, 40),
      2,
    ],
    ['a click rate that is missing', search, () => searches([found()]), of(40), 1],
    ['a search that nobody made', search, () => searches(terms(3, 0)), of(0, 0), 1],
    ['a search without a total', search, () => searches([found(0)], { totalSearches: undefined }), {}, 1],
    [
      'a search behind the fifth list',
      search,
      (n) => searches(terms(100, 0), { nextCursor: `c${n}` }),
      {},
      5,
    ],
    ['a cursor that comes again', search, () => searches(terms(100, 0), { nextCursor: 'c' }), {}, 2],
    [
      'all questions',
      questions(UNANSWERED),
      () => ({
        getAssistantConversations: () => ({
          conversations: [...talks(2), ...talks(1, 'SSO')],
          hasMore: false,
        }),
      }),
      { unanswered: { count: 3, of: 3 } },
      1,
    ],
    [
      'a topic, in two lists',
      questions('SSO'),
      (n) => ({
        getAssistantConversations: () => ({
          conversations: [
            ...talks(2),
            ...talks(1, 'SSO'),
            { resolutionStatus: 'answered', queryCategory: 'SSO' },
          ],
          hasMore: n === 1,
          nextCursor: 'c',
        }),
      }),
      { unanswered: { count: 2, of: 8 } },
      2,
    ],
    [
      'too many questions',
      questions('SSO'),
      (n) => ({
        getAssistantConversations: () => ({
          conversations: talks(250, 'SSO'),
          hasMore: true,
          nextCursor: `c${n}`,
        }),
      }),
      {},
      5,
    ],
  ])('%s', async (_, subject, odd, numbers, calls) => {
    expect(await read(subject, odd)).toEqual({ numbers, calls });
  });
});

describe('the requests of a row', () => {
  const one = (changes: Partial<RowRun> = {}) =>
    asked({ weeks: BEFORE.slice(1).map((from) => ({ from, numbers: {} })), ...changes });

  async function begins(context: JobContextParts = {}, row = one()) {
    const world = await aWorld(context);
    await withThread(world, { state: 'working' });
    await world.accept(row);
    return { world, row };
  }
  const limitOf = ({ context }: DigestWorld) => {
    const [project] = context.settings.projects;
    if (project === undefined) throw new Error('no project');
    return analyticsLimit(project, context.settings.limits.analyticsPerHour);
  };

  // After five failures, a week is tried again a day later.
  test.each([
    ['failures', 503, 7, 66],
    ['rejected keys', 401, 7, 42],
    ['limits', 429, 7, 42],
    ['refusals', 403, 3, 72],
    ['missing operations', 404, 3, 72],
  ])(
    'lose no week after %s (%i): %i are followed by numbers after %i hours',
    async (_, status, times, hours) => {
      const { world, row } = await begins();
      Object.assign(world.context.store.rateLimiter, { hold: async () => {} });
      world.platform.wire.order(() => true, { kind: 'answer', status }, times);
      const { weeks } = await rests(world, row, 4 * DAY_MS);
      expect(weeks.find(({ from }) => from === BEFORE[0])?.numbers).toMatchObject({ hits: {} });
      expect(world.platform.wire.calls).toHaveLength(times + 1);
      const { atMs = 0 } = world.platform.wire.calls.at(-1) ?? {};
      expect((atMs - WEDNESDAY) / HOUR_MS).toBe(hours);
    },
  );

  test('are not made again if the platform refuses the input', async () => {
    const { world, row } = await begins();
    world.platform.wire.order(() => true, { kind: 'answer', status: 400 }, Infinity);
    const { weeks } = await rests(world, row, 4 * DAY_MS);
    expect(weeks.find(({ from }) => from === BEFORE[0])).toEqual({ from: BEFORE[0], numbers: {} });
    expect(world.platform.wire.calls).toHaveLength(1);
  });

  test('leave out what the platform is known to lack, and try again a day later', async () => {
    const { world, row } = await begins();
    const { support } = world.context.store;
    await support.markMissing('analytics:T0ACME:acme:searches');
    expect((await rests(world, row)).weeks).toHaveLength(3);
    expect(world.platform.wire.calls).toEqual([]);
    Object.assign(support, { isMissing: async () => false });
    expect((await rests(world, row, DAY_MS)).weeks).toHaveLength(4);
  });

  test('wait while figures are collected for a digest, and a day where no digest shows the row', async () => {
    const { world, row } = await begins();
    const { runs } = world.context.store;
    const wanted = figuresOf(anEdition(), WEDNESDAY)[0] as FiguresRun;
    const urgent: FiguresRun = { ...wanted, urgent: true };
    const drive = (maxMs: number) => world.drive(rowJob, row.id, maxMs);
    const { calls } = world.platform.wire;
    await world.accept(wanted);
    expect(await drive(HOUR_MS)).toBeGreaterThan(0);
    await runs.resume(urgent);
    await runs.resume(aSchedule({ channel: 'C0OTHER' }));
    expect(await drive(DAY_MS - 1)).toBe(0);
    await runs.resume(aSchedule({ project: 'beta', rev: 2 }));
    expect(await drive(DAY_MS - 1)).toBe(0);
    await runs.resume(aSchedule({ rev: 3 }));
    expect(calls).toEqual([]);
    await drive(HOUR_MS);
    expect(calls).toHaveLength(1);
  });

  test('begin again a day after a defect', async () => {
    const reading = { ...newReading(page, { from: BEFORE[0] ?? '' }), requests: 3 };
    const { world, row } = await begins({}, one({ reading }));
    await rowJob.giveUp?.(row.id, world.context, 'ref');
    expect((await rests(world, row, DAY_MS - 1)).weeks).toHaveLength(3);
    expect((await rests(world, row, DAY_MS)).weeks).toHaveLength(4);
  });

  test('take one slot if the process dies before a save', async () => {
    const { world, row } = await begins();
    const { runs, rateLimiter } = world.context.store;
    const { saveStep } = runs;
    let dies = true;
    Object.assign(runs, {
      async saveStep(...args: Parameters<typeof saveStep>) {
        const { reading } = args[0] as RowRun;
        if (dies && reading?.requests === 1) throw new Error('it dies');
        return saveStep(...args);
      },
    });
    await expect(rests(world, row)).rejects.toThrow('it dies');
    dies = false;
    await rests(world, row);
    expect(world.platform.wire.calls).toHaveLength(2);
    expect((await rateLimiter.usage(limitOf(world))).used).toBe(1);
  });

  test('wait without a place in the line while no slot is free', async () => {
    const { world, row } = await begins({ limits: { analyticsPerHour: 1 } });
    const { rateLimiter } = world.context.store;
    await rateLimiter.takeSlot(limitOf(world), { id: 'other', priority: 'low' });
    expect((await rests(world, row)).reading).toBeUndefined();
    expect((await rateLimiter.usage(limitOf(world))).waiting).toBe(0);
    expect(world.platform.wire.calls).toEqual([]);
  });
});

describe('a request from a digest', () => {
  const give = (world: DigestWorld, n: number, project = 'acme') =>
    trackRow(aThread({ id: `thread${n}`, project }), anAsk({ atMs: WEDNESDAY }), world.context, n < 200);
  const count = async ({ context }: DigestWorld) =>
    (await context.store.runs.activeOf(rowRun, 'digest-row', 'T0ACME')).length;

  test('gets one row, and none if no merge is ever known', async () => {
    const world = await aWorld();
    await give(world, 1);
    await give(world, 1);
    expect(await count(world)).toBe(1);
    Object.assign(world.context, { gitHost: () => undefined });
    await give(world, 2);
    expect(await count(world)).toBe(1);
  });

  test('gets none beyond 100 of a project, which the log says once', async () => {
    const lines: string[] = [];
    const world = await aWorld({ log: { warn: (_: object, line: string) => lines.push(line) } as never });
    for (let n = 99; n < 201; n += 1) await give(world, n);
    expect(await count(world)).toBe(100);
    expect(lines).toEqual(['too many rows of digests: this one is not followed']);
    await give(world, 201, 'beta');
    expect(await count(world)).toBe(101);
  });

  test('keeps the days by which it was chosen', async () => {
    const world = await aWorld();
    await give(world, 1);
    const edition = anEdition();
    await world.accept(edition);
    await give(world, 2);
    const rows = await world.context.store.runs.activeOf(rowRun, 'digest-row', 'T0ACME');
    const lastWeek = { from: '2026-09-14', to: '2026-09-21' };
    expect(rows.map(({ chosen }) => chosen)).toEqual([lastWeek, edition.range]);
  });
});

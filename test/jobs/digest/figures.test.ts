import { describe, expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import { DocsApiError } from '../../../src/docs-api/errors.ts';
import { figuresJob, requestReaders } from '../../../src/jobs/digest/figures/job.ts';
import {
  collectFigures,
  type FiguresRun,
  figuresRun,
  newFiguresRun,
} from '../../../src/jobs/digest/figures/record.ts';
import { comparePages, type DayRange } from '../../../src/jobs/digest/model.ts';
import { spansOf } from '../../../src/jobs/digest/weeks.ts';
import { type DigestWorld, digestWorld } from '../../support/jobs/digest/world.ts';
import { redisForTests } from '../../support/redis.ts';

/** The week of `range` is over, and its numbers are final. */
const MONDAY = Date.parse('2026-09-21T02:00:00Z');
const HOUR_MS = 3_600_000;
const range = { from: '2026-09-14', to: '2026-09-21' };

const redis = redisForTests();

/** The figures of that week: all its pages, for nobody in particular. */
const weekly = (changes: Partial<Parameters<typeof newFiguresRun>[0]> = {}) =>
  newFiguresRun(
    {
      ...{ teamId: 'T0ACME', project: 'acme', range, spans: spansOf(changes.range ?? range) },
      ...{ urgent: false, maxRequests: undefined, pages: true, readers: false },
      ...changes,
    },
    MONDAY,
  );

const load = async ({ context }: DigestWorld, { id }: FiguresRun) => {
  const run = await context.store.runs.load(id, figuresRun);
  if (run === undefined) throw new Error('the record is gone');
  return run;
};

/** Steps the run until it rests, and returns it as it is then. */
async function collect(world: DigestWorld, run: FiguresRun, maxMs?: number): Promise<FiguresRun> {
  await world.accept(run);
  await world.drive(figuresJob, run.id, maxMs);
  return load(world, run);
}

/** The stored pages of a run, by path. */
const pagesOf = async ({ context }: DigestWorld, run: FiguresRun) =>
  (await comparePages(context.store.figures.pages(run, run.range)))
    .map(({ path, human, ai }) => ({ path, human, ai }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));

describe('collecting the figures of a week', () => {
  test('collects again what was not final, or failed; else once', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const ends = async (wantedRange: DayRange, changes: Partial<FiguresRun> = {}) => {
      const run = { ...weekly({ range: wantedRange, pages: false }), sinceMs: world.nowMs };
      await collectFigures(run, world.context);
      const ended = { state: 'ended' as const, requests: 9, ...changes };
      await world.context.store.runs.saveStep({ ...(await load(world, run)), ...ended });
      world.nowMs += HOUR_MS;
      await collectFigures({ ...run, sinceMs: world.nowMs }, world.context);
      return (await load(world, run)).state;
    };
    expect(await ends(range)).toBe('ended');
    expect(await ends({ from: '2026-09-20', to: '2026-09-22' })).toBe('collecting');
    expect(
      await ends(
        { from: '2026-09-13', to: '2026-09-20' },
        { pollFailure: { kind: 'down', inARow: 1, nextMs: 0, sinceMs: 0 } },
      ),
    ).toBe('collecting');
  });

  test.each([
    [429, 'limit', 5],
    [500, 'down', 5],
    [401, 'key', 0],
  ])('a person waits for a platform that answers %i (%s) for %i minutes', async (status, kind, minutes) => {
    const world = await digestWorld(redis.client, MONDAY);
    // Its limits follow Redis' clock, which no test moves.
    Object.assign(world.context.store.rateLimiter, { hold: async () => {} });
    world.platform.wire.order(() => true, { kind: 'answer', status }, Infinity);
    const run = await collect(world, weekly({ urgent: true }));
    expect(run).toMatchObject({ state: 'ended', pollFailure: { kind, status } });
    expect(Math.floor((world.nowMs - MONDAY) / 60_000)).toBe(minutes);
  });

  test('after an hour of waiting for our own limit, one failure is not the end', async () => {
    const world = await digestWorld(redis.client, MONDAY);
    const waits = [0, 0, HOUR_MS];
    Object.assign(world.context.store.rateLimiter, { takeSlot: async () => waits.shift() ?? 0 });
    let requests = 0;
    world.platform.wire.order(() => ++requests === 3, { kind: 'answer', status: 503 }, 1);
    const old = { from: '2026-08-03', to: '2026-08-10' };
    const run = await collect(world, weekly({ range: old, urgent: true, pages: false }));
    expect([run.state, run.requests, run.pollFailure]).toEqual(['ended', 8, undefined]);
  });

  /** Collects from a platform that lists these rows, `perRequest` at a time; `undefined` is a row that is left out. */
  async function collectRows(
    rows: ({ path: string; human: number; ai: number } | undefined)[],
    totals = { human: 1, ai: 0 },
    perRequest = 2,
  ) {
    const world = await digestWorld(redis.client, MONDAY);
    const docs = world.context.platform.docs('acme');
    if (docs === undefined) throw new Error('no client');
    const odd: DocsApi = {
      ...docs,
      async getPageViews({ offset = 0, limit = 50 }) {
        const part = limit === 1 ? [] : rows.slice(offset, offset + perRequest);
        const views = part.flatMap((row) => row ?? []).map((row) => ({ ...row, total: row.human + row.ai }));
        const hasMore = offset + perRequest < rows.length;
        return { totals: { ...totals, total: 1 }, views, leftOut: part.length - views.length, hasMore };
      },
    };
    Object.assign(world.context.platform, { docs: () => odd });
    const run = await collect(world, weekly({ spans: [range] }));
    expect(run).toMatchObject({ state: 'ended', pages: { isComplete: true } });
    return { counts: run.spans[0]?.counts, pages: await pagesOf(world, run) };
  }
  const page = (path: string, human = 1, ai = 0) => ({ path, human, ai });

  test('rows that the client leaves out are skipped, and the others all kept', async () => {
    const { pages } = await collectRows([undefined, undefined, page('/a'), undefined]);
    expect(pages).toEqual([page('/a')]);
  });

  test('a page that the platform moves between two requests counts once', async () => {
    const { pages } = await collectRows([page('/a', 1, 3), page('/b'), page('/c'), page('/a')]);
    expect(pages).toEqual([page('/a', 1, 3), page('/b'), page('/c')]);
  });

  test.each([
    ['to the first request for it', 'not_found', 0, true],
    ['to a further request for it', 'not_found', 1, false],
    ['to what it was asked for', 'bad_request', 0, false],
  ] as const)('a part counts as missing for a day after a refusal %s', async (_, kind, pages, isMissing) => {
    const world = await digestWorld(redis.client, MONDAY);
    let asked = 0;
    const docs = {
      ...world.context.platform.docs('acme'),
      async getSearches() {
        asked += 1;
        if (asked > pages) throw new DocsApiError('getSearches', kind, { happened: 'no', what: kind });
        return { searches: [{ searchQuery: 'sso', hits: 50 }], nextCursor: 'next' };
      },
    } as unknown as DocsApi;
    Object.assign(world.context.platform, { docs: () => docs });
    expect((await collect(world, weekly({ readers: true, pages: false }))).readers?.done).toContain(
      'searches',
    );
    expect(asked).toBe(pages + 1);
    expect(await world.context.store.support.isMissing('analytics:T0ACME:acme:searches')).toBe(isMissing);
  });

  test('odd numbers become whole ones', async () => {
    const { counts, pages } = await collectRows([page('/a', 1e300)], { human: -5, ai: 1.6 });
    expect(counts).toEqual({ human: 0, ai: 2 });
    expect(pages).toEqual([page('/a', Number.MAX_SAFE_INTEGER)]);
  });
});

describe('what readers looked for', () => {
  const none = { done: [], figures: { visitors: { total: 5 } } };
  const sourceOf = (docs: object) => ({
    docs: docs as DocsApi,
    projectId: 'p',
    signal: new AbortController().signal,
  });

  /** A platform that tells of 250 questions at a time, one of them unanswered, as often as that. */
  function questionsOf(times: number) {
    let asked = 0;
    return sourceOf({
      async getAssistantConversations() {
        asked += 1;
        const conversations = Array.from({ length: 250 }, (_, index) => ({
          resolutionStatus: index === 0 ? 'unanswered' : 'answered',
          queryCategory: 'Billing',
        }));
        const hasMore = asked < times;
        return { conversations, hasMore, ...(hasMore && { nextCursor: `c${asked}` }) };
      },
    });
  }

  test('questions are counted over several requests', async () => {
    const source = questionsOf(2);
    const topics = [{ name: 'Billing', asked: 500, unanswered: 2 }];
    const questions = { asked: 500, unanswered: 2, category: 'Billing', topics };
    const half = await requestReaders(none, 'questions', range, source);
    expect(half).toMatchObject({ ...none, open: { cursor: 'c1', asked: 250 } });
    expect(await requestReaders(half, 'questions', range, source)).toEqual({
      done: ['questions'],
      figures: { visitors: { total: 5 }, questions, cut: {} },
    });
  });

  const rows = <T>(count: number, rowOf: (n: number) => T) =>
    Array.from({ length: count }, (_, n) => rowOf(n));
  const search = (n: number) => ({ searchQuery: `${n}`, hits: 90 - n, ctr: 0 });
  const rated = (n: number) => ({ path: `/${n}`, thumbsUp: 0, thumbsDown: 1 });
  const question = (n: number) => ({ queryCategory: `${n}`, resolutionStatus: 'unanswered' });
  test.each([
    ['searches', { searches: rows(20, search) }, false],
    ['searches', { searches: rows(21, search) }, true],
    ['searches', { searches: rows(5, search), nextCursor: 'more' }, true],
    ['searches', { searches: rows(1, search), nextCursor: 'more' }, true],
    ['searches', { searches: [search(1), search(85)], nextCursor: 'more' }, false],
    ['feedback', { feedback: rows(99, rated) }, false],
    ['feedback', { feedback: rows(9, rated), hasMore: true }, true],
    ['feedback', { feedback: rows(100, rated) }, true],
    ['questions', { conversations: rows(20, question), hasMore: false }, false],
    ['questions', { conversations: rows(21, question), hasMore: false }, true],
  ] as const)('a list of %s that may lack something says so (case %#)', async (part, page, isCut) => {
    const get = async () => page;
    const source = sourceOf({ getSearches: get, getFeedbackByPage: get, getAssistantConversations: get });
    const { cut } = (await requestReaders(none, part, range, source)).figures;
    expect(Object.values(cut ?? {}).includes(true)).toBe(isCut);
  });

  test('topics are those with unanswered questions, the most of them first, each with all of its own', async () => {
    const counts = { Setup: [9, 1], Billing: [4, 4], Answered: [5, 0], Login: [8, 3] };
    const conversations = Object.entries(counts).flatMap(([queryCategory, [all = 0, open = 0]]) =>
      Array.from({ length: all }, (_, n) => ({
        queryCategory,
        resolutionStatus: n < open ? 'unanswered' : 'answered',
      })),
    );
    const nameless = { resolutionStatus: 'unanswered' };
    const source = sourceOf({
      getAssistantConversations: async () => ({
        conversations: [...conversations, nameless],
        hasMore: false,
      }),
    });
    expect((await requestReaders(none, 'questions', range, source)).figures.questions).toEqual({
      ...{ asked: 27, unanswered: 9, category: 'Billing' },
      topics: [
        { name: 'Billing', asked: 4, unanswered: 4 },
        { name: 'Login', asked: 8, unanswered: 3 },
        { name: 'Setup', asked: 9, unanswered: 1 },
      ],
    });
  });

  test('of searches, more are kept than a digest lists, without a further request', async () => {
    const searches = Array.from({ length: 30 }, (_, n) => ({ searchQuery: `${n}`, hits: 90 - n, ctr: 0 }));
    const source = sourceOf({ getSearches: async () => ({ searches, nextCursor: 'more' }) });
    const { done, figures } = await requestReaders(none, 'searches', range, source);
    expect(done).toEqual(['searches']);
    expect(figures.searches?.map(({ hits }) => hits)).toEqual(searches.slice(0, 20).map(({ hits }) => hits));
  });

  test.each([
    ['is found behind hundreds that were clicked', 250, 500, 3, [{ query: 'sso okta', hits: 400 }]],
    ['is not looked for among rare ones', 250, 9, 1, []],
    ['is not looked for without end', 5000, 500, 20, []],
  ])('a search that nobody clicked %s', async (_, clicked, hits, requests, searches) => {
    const rows = Array.from({ length: clicked }, (_, n) => ({ searchQuery: `${n}`, hits, ctr: 0.5 }));
    const all = [...rows, { searchQuery: 'sso okta', hits: 400, ctr: 0 }];
    let asked = 0;
    const source = sourceOf({
      async getSearches({ limit, cursor = '0' }: { limit: number; cursor?: string }) {
        asked += 1;
        const end = Number(cursor) + limit;
        return {
          searches: all.slice(Number(cursor), end),
          ...(end < all.length && { nextCursor: String(end) }),
        };
      },
    });
    let readers: Parameters<typeof requestReaders>[0] = none;
    while (!readers.done.includes('searches'))
      readers = await requestReaders(readers, 'searches', range, source);
    expect(readers.figures.searches).toEqual(searches);
    expect(asked).toBe(requests);
  });

  test('the most frequent searches with a clicked page are kept, each term once', async () => {
    const row = (searchQuery: string, hits: number, topClickedPage?: string) => ({
      ...{ searchQuery, hits, topClickedPage, ctr: 0.5 },
    });
    const pages = [
      [row('x'.repeat(500), 900, '/x'), row('sso', 800, '/sso'), row('lost', 700), row('odd', 600, 'sso')],
      [row('mail', 500, '/ana@acme.com'), row('long', 400, `/${'x'.repeat(300)}`), row('sso', 300, '/saml')],
      Array.from({ length: 200 }, (_, n) => row(`${n}`, 250 - n, '/n')),
    ];
    const source = sourceOf({
      async getSearches({ cursor = '0' }) {
        const next = Number(cursor) + 1;
        return { searches: pages[Number(cursor)], ...(next < pages.length && { nextCursor: `${next}` }) };
      },
    });
    let readers: Parameters<typeof requestReaders>[0] = weekly({ readers: true }).readers ?? none;
    while (!readers.done.includes('searches'))
      readers = await requestReaders(readers, 'searches', range, source);
    readers = await requestReaders(readers, 'questions', range, questionsOf(1));
    expect(readers.clicked).toHaveLength(100);
    expect(readers.clicked?.slice(0, 3)).toEqual([
      { query: 'x'.repeat(200), hits: 900, rate: 0.5, page: '/x' },
      { query: 'sso', hits: 300, rate: 0.5, page: '/saml' },
      { query: '0', hits: 250, rate: 0.5, page: '/n' },
    ]);
    // Nobody can ask for them where only a person's digest collects.
    const asked = weekly({ readers: true, urgent: true }).readers ?? none;
    expect((await requestReaders(asked, 'searches', range, source)).clicked).toBeUndefined();
  });
});

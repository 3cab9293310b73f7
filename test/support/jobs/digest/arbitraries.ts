import fc from 'fast-check';
import { type EditionRun, isScheduled } from '../../../../src/jobs/digest/edition/record.ts';
import { gapId } from '../../../../src/jobs/digest/gaps.ts';
import type { PageChange, PageFigures, ReaderFigures } from '../../../../src/jobs/digest/model.ts';
import { VERDICTS } from '../../../../src/jobs/digest/row/record.ts';
import { lastPeriod, periodNameOf, spansOf } from '../../../../src/jobs/digest/weeks.ts';
import { hostileText, maybe, present } from '../../arbitraries.ts';
import { anEdition } from './builders.ts';

const DAY_MS = 86_400_000;

/** Texts of which each character takes as much room as any does. */
const LONG = ['&', '<', '😀', 'ﷺ', 'x', '\u202E', '\uD83D', '=', '"'].map((one) => one.repeat(40_000));

/** What visitors of a site may type as a path, a search term or a category, also as a formula. */
export const readersWords: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  hostileText.map((text) => `/${text}`),
  fc.constantFrom('=1+1', '+1', '-1', '@SUM(A1)', '=HYPERLINK("https://evil.example")', 'שלום', ...LONG),
);

/** From nothing to more than any site has. */
const views = fc.oneof(
  fc.nat({ max: 100 }),
  fc.nat({ max: 1_000_000 }),
  fc.constant(Number.MAX_SAFE_INTEGER),
);
const counts = fc.record({ human: views, ai: views });

const pageOf = (words: fc.Arbitrary<string>): fc.Arbitrary<PageChange> =>
  fc.record({ path: words, human: views, ai: views, before: counts });

/** What the settings, Slack or the platform say: any words that are text. */
const othersWords = readersWords.map((text) => text.toWellFormed());

const weekChange = (words: fc.Arbitrary<string>) =>
  fc.record({
    range: fc.constant({ from: '2026-09-07', to: '2026-09-14' }),
    page: pageOf(words),
    by: fc.constantFrom('human' as const, 'ai' as const),
  });

/** Figures of pages, whose lists may be as long as they get. */
const pageFigures = (words: fc.Arbitrary<string>): fc.Arbitrary<PageFigures> => {
  const page = pageOf(words);
  const list = fc.oneof(fc.array(page, { minLength: 5, maxLength: 5 }), fc.array(page, { maxLength: 5 }));
  const biggest = maybe(fc.record({ page, by: fc.constantFrom('human' as const, 'ai' as const) }));
  const lists = {
    rising: list,
    falling: list,
    risingAi: list,
    fallingAi: list,
    fresh: list,
    quiet: list,
    aiRead: list,
  };
  const top = fc.oneof(fc.array(page, { minLength: 10, maxLength: 10 }), fc.array(page, { maxLength: 10 }));
  return fc
    .record({ count: views, sum: counts, sumBefore: maybe(counts), top, biggest, ...lists })
    .map(present);
};

const topics = (words: fc.Arbitrary<string>) =>
  fc.array(fc.record({ name: words, asked: views, unanswered: views }), { maxLength: 5 });

const readerFigures = (words: fc.Arbitrary<string>): fc.Arbitrary<ReaderFigures> =>
  fc
    .record({
      searches: maybe(fc.array(fc.record({ query: words, hits: views }), { maxLength: 5 })),
      thumbs: maybe(fc.array(fc.record({ path: words, up: views, down: views }), { maxLength: 120 })),
      questions: maybe(
        fc
          .record({ asked: views, unanswered: views, category: words, topics: maybe(topics(words)) })
          .map(present),
      ),
      visitors: maybe(fc.record({ total: views })),
    })
    .map(present);

const followUps = (words: fc.Arbitrary<string>): fc.Arbitrary<EditionRun['followUps']> =>
  fc.array(
    fc
      .record({
        subject: fc
          .record({
            kind: fc.constantFrom('page' as const, 'thumbs' as const, 'search' as const),
            name: words,
            value: maybe(views),
          })
          .map(present),
        prLink: maybe(
          fc.oneof(
            othersWords,
            othersWords.map((text) => `https://evil.example/${text}`),
          ),
        ),
        pullRequest: maybe(fc.constantFrom('merged' as const, 'changesRequested' as const)),
        after: maybe(views),
      })
      .map(present),
    { maxLength: 5 },
  );

const since = (words: fc.Arbitrary<string>): fc.Arbitrary<NonNullable<EditionRun['since']>> =>
  fc.array(
    fc.record({
      link: fc.oneof(
        othersWords,
        othersWords.map((text) => `https://evil.example/${text}`),
      ),
      mergedAtMs: fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) }),
      subject: fc.record({ kind: fc.constantFrom('page', 'thumbs', 'search', 'questions'), name: words }),
      before: views,
      after: views,
      verdict: fc.constantFrom(...VERDICTS),
    }),
    { maxLength: 10 },
  );

/** A digest whose totals are there, in any later state. */
export function shownEdition(words: fc.Arbitrary<string> = readersWords): fc.Arbitrary<EditionRun> {
  const anyMs = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) });
  const days = fc
    .tuple(anyMs, fc.integer({ min: 1, max: 92 }))
    .map(([ms, days]) => ({ from: dayOf(ms), to: dayOf(ms + days * DAY_MS) }));
  const range = fc.oneof(
    { weight: 3, arbitrary: days },
    anyMs.map((ms) => lastPeriod({ monthly: true }, ms).range),
  );
  const known = fc.record({
    range,
    kind: fc.constantFrom('weekly' as const, 'monthly' as const, 'asked' as const, 'preview' as const),
    inDirectMessage: fc.boolean(),
    state: fc.constantFrom('posted' as const, 'completing' as const, 'ended' as const),
    site: othersWords,
    owner: fc.record({ id: fc.constant('U0ANA'), name: othersWords }),
    totals: counts,
    totalsBefore: maybe(counts),
    spanCounts: counts,
    pages: maybe(pageFigures(words)),
    inside: maybe(fc.array(weekChange(words), { maxLength: 3 })),
    insideWeeks: maybe(fc.nat({ max: 4 })),
    noPages: maybe(fc.constantFrom('tooMany' as const, 'failed' as const)),
    pagesWait: maybe(fc.constant({ kind: 'limit' as const, untilMs: Date.UTC(2026, 8, 21) })),
    readers: maybe(readerFigures(words)),
    readersBefore: maybe(readerFigures(words)),
    followUps: followUps(words),
    since: maybe(since(words)),
    sinceMore: maybe(views),
    reviews: maybe(fc.record({ count: views, days: views })),
    late: maybe(fc.boolean()),
  });
  return known.map(({ spanCounts, ...one }) =>
    anEdition({
      ...one,
      week: isScheduled(one) ? periodNameOf(one.range) : undefined,
      spans: spansOf(one.range).map((span) => ({ ...span, ...spanCounts })),
    }),
  );
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The digest that takes the most room: every list is full, of one text. */
export function fullEdition(word: string): EditionRun {
  const most = Number.MAX_SAFE_INTEGER;
  const all = { human: most, ai: most };
  const page = (change: Partial<PageChange> = {}): PageChange => ({
    path: word,
    ...all,
    before: { human: 60, ai: 60 },
    ...change,
  });
  const three = Array.from({ length: 3 }, () => page());
  const five = Array.from({ length: 5 }, () => page());
  const topic = { name: word, asked: most, unanswered: most };
  const range = { from: '2025-12-25', to: '2026-03-27' };
  return anEdition({
    site: word,
    owner: { id: 'U0ANA', name: word },
    week: undefined,
    range,
    late: true,
    totals: all,
    totalsBefore: { human: 60, ai: 60 },
    spans: spansOf(range).map((span) => ({ ...span, ...all })),
    pages: {
      count: most,
      sum: { human: most, ai: 0 },
      sumBefore: { human: 1, ai: 1 },
      top: [...five, ...five],
      biggest: { page: page(), by: 'human' },
      rising: three,
      risingAi: three,
      fallingAi: three,
      falling: three,
      fresh: five,
      quiet: five,
      aiRead: five,
    },
    inside: Array.from({ length: 3 }, () => ({
      range: { from: '2025-12-29', to: '2026-01-05' },
      page: page(),
      by: 'human' as const,
    })),
    readers: {
      searches: Array.from({ length: 5 }, () => ({ query: word, hits: most })),
      thumbs: Array.from({ length: 120 }, () => ({ path: word, up: most - 2, down: most })),
      questions: { asked: most, unanswered: most, category: word, topics: three.map(() => topic) },
      visitors: { total: most },
    },
    gaps: Object.fromEntries(
      (['searches', 'thumbs', 'questions'] as const).map((kind) => [gapId(kind, word), { weeks: 25 }]),
    ),
    readersBefore: { questions: { asked: most, unanswered: most }, visitors: { total: 60 } },
    followUps: Array.from({ length: 5 }, () => ({
      subject: { kind: 'search' as const, name: word, value: most },
      prLink: `https://evil.example/${word.slice(0, 2000).toWellFormed()}`,
      pullRequest: 'changesRequested' as const,
      after: most,
    })),
    since: Array.from({ length: 10 }, (_, n) => ({
      link: `https://evil.example/${n}${word.slice(0, 2000).toWellFormed()}`,
      mergedAtMs: Date.UTC(2026, 2, 3),
      subject: { kind: 'search' as const, name: word },
      ...{ before: most, after: most, verdict: 'unclear' as const },
    })),
    sinceMore: most,
    reviews: { count: most, days: most },
  });
}

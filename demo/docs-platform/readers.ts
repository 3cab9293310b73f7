import type { Counts } from './analytics.ts';
import type { AnalyticsOperation, AnalyticsQuery } from './analytics-query.ts';
import { chance, DAY_MS, dayNumber, dayOf, knownDays, pastOf } from './days.ts';

/** What readers searched for on one day. */
export interface Search {
  searchQuery: string;
  hits: number;
  /** How many of the hits were followed by a click. Default 0. */
  clicks?: number;
  topClickedPage?: string | null;
}

/** What readers said of one page on one day. */
export interface PageFeedback {
  path: string;
  thumbsUp: number;
  thumbsDown: number;
  /** Feedback on code snippets. Default 0. */
  code?: number;
}

/** A question to the assistant; what is not given is made up. */
export interface Conversation {
  resolutionStatus?: string;
  queryCategory?: string | null;
  query?: string;
  response?: string;
}

/** What readers did beside reading. A day that is set has what it is set to, also today, and nothing else. */
export interface ReaderControls {
  /** Operations that the platform lacks, each with the status that says so. May be changed at any time. */
  readonly without: Map<AnalyticsOperation, 400 | 403 | 404 | 405>;
  /** Visitors of exactly this range; those of another are not made up of it. */
  setVisitors(from: string, to: string, totals: Counts): void;
  setSearches(day: string, searches: Search[]): void;
  /** The docs answer this search from today on: most readers click a result. Days that are set stay. */
  answer(searchQuery: string): void;
  setFeedback(day: string, feedback: PageFeedback[]): void;
  setConversations(day: string, conversations: Conversation[]): void;
  /** No searches, feedback and conversations on these days. */
  silence(from: string, to: string): void;
}

/** What the stand-in knows of its pages. */
interface Pages {
  pathAt(index: number): string;
  totals(from: string, to: string): Counts;
}

type Answer = Record<string, unknown> | { refused: string };

interface Readers extends ReaderControls {
  visitors(query: AnalyticsQuery): Counts;
  searches(query: AnalyticsQuery): Answer;
  feedback(query: AnalyticsQuery): Answer;
  assistant(query: AnalyticsQuery): Answer;
}

const TERMS = [
  ...['sso okta', 'api key', 'rate limit', 'webhook retry', 'dark mode', 'export pdf', 'python sdk', 'cors'],
  ...['custom domain', 'openapi', 'delete account', 'pagination', 'audit log', 'self hosted', 'changelog'],
  ...['invoice', 'scim', 'terraform', 'redirects', 'search api', 'mcp', 'llms.txt', 'versioning', 'vue'],
];
const CATEGORIES = ['authentication', 'billing', 'deployment', 'api', 'troubleshooting', null];
/** Pages that readers say anything about. */
const RATED_PAGES = 24;

/** Seeded readers: the same seed and day give the same numbers; the day that `nowMs` is in has come in part. */
export function createReaders(seed: string, nowMs: () => number, pages: Pages): Readers {
  const visitors = new Map<string, Counts>();
  const searches = new Map<number, Search[]>();
  const feedback = new Map<number, PageFeedback[]>();
  const conversations = new Map<number, Conversation[]>();
  /** The day since when the docs answer a search, by its term. */
  const answered = new Map<string, number>();
  const part = (day: number, count: number) => Math.floor(count * pastOf(day, nowMs()));

  function searchesOn(day: number): Search[] {
    return TERMS.map((searchQuery, index) => {
      const usual = 14 * chance(seed, searchQuery) ** 3;
      const hits = part(day, usual * (0.5 + chance(seed, searchQuery, `d${day}`)) + 0.5);
      const usualClicks = chance(seed, searchQuery, 'lost') < 0.25 ? 0 : 0.6;
      const isAnswered = day >= (answered.get(searchQuery) ?? Number.POSITIVE_INFINITY);
      const clicks = Math.ceil(hits * (isAnswered ? 0.9 : usualClicks));
      return { searchQuery, hits, clicks, topClickedPage: clicks > 0 ? pages.pathAt(index) : null };
    });
  }

  function feedbackOn(day: number): PageFeedback[] {
    return Array.from({ length: RATED_PAGES }, (_, index) => {
      const path = pages.pathAt(index);
      const quality = chance(seed, path, 'quality');
      const thumbsUp = part(day, 3 * quality * chance(seed, path, `up${day}`));
      const thumbsDown = part(day, 3 * (1 - quality) * chance(seed, path, `down${day}`));
      return { path, thumbsUp, thumbsDown, code: part(day, 2 * chance(seed, path, `code${day}`) ** 4) };
    });
  }

  function conversationsOn(day: number): Conversation[] {
    const count = Math.floor(8 + 20 * chance(seed, 'asked', String(day)));
    return Array.from({ length: count }, (_, n) => ({
      resolutionStatus: chance(seed, 'solved', `${day} ${n}`) < 0.2 ? 'unanswered' : 'answered',
      queryCategory:
        CATEGORIES[Math.floor(chance(seed, 'category', `${day} ${n}`) * CATEGORIES.length)] ?? null,
    }));
  }

  /** Conversations as the API shows them, the latest first. Their ids say when they were. */
  function* conversationsIn({ from, to }: AnalyticsQuery) {
    const { first, last } = knownDays(from, to, nowMs());
    for (let day = last - 1; day >= first; day -= 1) {
      const given = conversations.get(day);
      const all = given ?? conversationsOn(day);
      for (const [n, one] of [...all.entries()].reverse()) {
        const atMs = day * DAY_MS + Math.floor((DAY_MS * (n + 0.5)) / all.length);
        if (given === undefined && atMs > nowMs()) continue;
        const { query = `I am reader-${n}@example.com. How do I do this?`, response = 'Like this.' } = one;
        yield {
          id: ulid(atMs, n),
          timestamp: new Date(atMs).toISOString(),
          query,
          response,
          responseType: 'answer',
          resolutionStatus: one.resolutionStatus ?? 'answered',
          queryCategory: one.queryCategory ?? null,
          pageUrl: `https://docs.acme.com${pages.pathAt(n % RATED_PAGES)}`,
          sources: [{ title: 'Introduction', url: 'https://docs.acme.com/introduction' }],
        };
      }
    }
  }

  return {
    without: new Map(),
    setVisitors: (from, to, totals) => void visitors.set(`${from} ${to}`, totals),
    setSearches: (day, rows) => void searches.set(dayNumber(day), rows),
    answer: (searchQuery) => void answered.set(searchQuery, Math.floor(nowMs() / DAY_MS)),
    setFeedback: (day, rows) => void feedback.set(dayNumber(day), rows),
    setConversations: (day, rows) => void conversations.set(dayNumber(day), rows),
    silence(from, to) {
      for (let day = dayNumber(from); day < dayNumber(to); day += 1) {
        for (const days of [searches, feedback, conversations]) days.set(day, []);
      }
    },

    visitors({ from, to }) {
      const { first, last } = knownDays(from, to, nowMs());
      const days = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
      const ofDays = days.map((day) => pages.totals(dayOf(day * DAY_MS), dayOf((day + 1) * DAY_MS)));
      return visitors.get(`${from} ${to}`) ?? visitorsFrom(ofDays);
    },

    searches(query) {
      const { from, to, limit, cursor } = query;
      const offset = cursor === undefined ? 0 : offsetOf(cursor, query);
      if (offset === undefined) return { refused: 'Invalid cursor' };
      const terms = new Map<string, Required<Search> & { lastDay: number }>();
      const { first, last } = knownDays(from, to, nowMs());
      for (let day = first; day < last; day += 1) {
        for (const { searchQuery, hits, clicks = 0, topClickedPage = null } of searches.get(day) ??
          searchesOn(day)) {
          const before = terms.get(searchQuery);
          terms.set(searchQuery, {
            searchQuery,
            hits: hits + (before?.hits ?? 0),
            clicks: clicks + (before?.clicks ?? 0),
            topClickedPage: topClickedPage ?? before?.topClickedPage ?? null,
            lastDay: hits > 0 ? day : (before?.lastDay ?? day),
          });
        }
      }
      const rows = [...terms.values()].filter(({ hits }) => hits > 0).sort((a, b) => b.hits - a.hits);
      return {
        searches: rows.slice(offset, offset + limit).map(({ clicks, lastDay, ...row }) => ({
          ...row,
          ctr: Math.round((clicks / row.hits) * 1000) / 1000,
          lastSearchedAt: new Date(Math.min(nowMs(), (lastDay + 1) * DAY_MS - 1)).toISOString(),
        })),
        totalSearches: rows.reduce((sum, { hits }) => sum + hits, 0),
        nextCursor: offset + limit < rows.length ? cursorOf(query, offset + limit) : null,
      };
    },

    feedback({ from, to, limit }) {
      const sums = new Map<string, Required<PageFeedback>>();
      const { first, last } = knownDays(from, to, nowMs());
      for (let day = first; day < last; day += 1) {
        for (const { path, thumbsUp, thumbsDown, code = 0 } of feedback.get(day) ?? feedbackOn(day)) {
          const before = sums.get(path) ?? { thumbsUp: 0, thumbsDown: 0, code: 0 };
          sums.set(path, {
            path,
            thumbsUp: before.thumbsUp + thumbsUp,
            thumbsDown: before.thumbsDown + thumbsDown,
            code: before.code + code,
          });
        }
      }
      const rows = [...sums.values()]
        .map((row) => ({ ...row, total: row.thumbsUp + row.thumbsDown + row.code }))
        .filter(({ total }) => total > 0)
        .sort((a, b) => b.total - a.total);
      return { feedback: rows.slice(0, limit), hasMore: limit < rows.length };
    },

    assistant(query) {
      const { limit, cursor } = query;
      if (cursor !== undefined && !/^[0-9A-HJKMNP-TV-Z]{26}$/u.test(cursor)) {
        return { refused: 'cursor must be a ULID' };
      }
      const rows = conversationsIn(query)
        .filter(({ id }) => cursor === undefined || id < cursor)
        .take(limit + 1)
        .toArray();
      const hasMore = rows.length > limit;
      const page = rows.slice(0, limit);
      return { conversations: page, nextCursor: hasMore ? page.at(-1)?.id : null, hasMore };
    },
  };
}

/** Approximate visitors of days with these views: who comes on several days, or as a person and by AI, is one. */
function visitorsFrom(days: Counts[]): Counts {
  const seen = (key: 'human' | 'ai', share: number) => {
    const ofDays = days.map((counts) => Math.ceil(counts[key] * share));
    const sum = ofDays.reduce((total, count) => total + count, 0);
    return Math.max(...ofDays, Math.round(sum / (1 + 0.15 * Math.max(0, days.length - 1))), 0);
  };
  const human = seen('human', 0.5);
  const ai = seen('ai', 0.25);
  return { human, ai, total: human + ai - Math.floor(Math.min(human, ai) / 10) };
}

/** Says nothing to whoever gets it, and belongs to one range. */
function cursorOf({ from, to }: AnalyticsQuery, offset: number): string {
  return Buffer.from(`${from} ${to} ${offset}`).toString('base64url');
}

function offsetOf(cursor: string, query: AnalyticsQuery): number | undefined {
  const offset = Number(Buffer.from(cursor, 'base64url').toString().split(' ').at(-1));
  return cursor !== '' && cursorOf(query, offset) === cursor ? offset : undefined;
}

/** A ULID for the n-th of a day, in their order. */
function ulid(atMs: number, n: number): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  const spelled = (value: number, length: number) =>
    Array.from({ length }, (_, index) => alphabet[Math.floor(value / 32 ** (length - 1 - index)) % 32]).join(
      '',
    );
  return spelled(atMs, 10) + spelled(n, 16);
}

import type { DocsApi } from '../../../docs-api/client.ts';
import { type Counts, type DayRange, MAX_LISTED, type PageCounts } from '../model.ts';
import { type FiguresRun, READER_PARTS, type ReaderPart } from './record.ts';

/** Rows per request, the platform's maximum. */
const PAGE_LIMIT = 250;
const SEARCH_LIMIT = 100;
export const FEEDBACK_LIMIT = 100;
/** Fewer than the platform's maximum, because the answers in them are long. */
const CONVERSATION_LIMIT = 250;

/** Requests per part of the readers' figures; an incomplete list of questions would mislead. */
const MAX_PART_REQUESTS = 20;

/** Maximum number of counted categories; a hostile platform could send any number. */
const MAX_CATEGORIES = 100;

/** A search with fewer hits does not count. */
const MIN_HITS = 10;

/** The next request of a run. */
export type NextRequest =
  | { kind: 'span'; index: number }
  | { kind: 'readers'; part: ReaderPart }
  | { kind: 'pages' };

/** If requests are few, this many are reserved for the list of pages, which matters more than the readers' figures. */
const KEPT_FOR_PAGES = 4;

/** Totals come first, so that a digest is on time; then parts of few requests; the list of pages last. */
export function nextRequest({
  spans,
  readers,
  pages,
  maxRequests,
  requests,
}: FiguresRun): NextRequest | undefined {
  const index = spans.findIndex(({ counts }) => counts === undefined);
  if (index >= 0) return { kind: 'span', index };
  const left = maxRequests === undefined ? Infinity : maxRequests - requests;
  if (left <= 0) return undefined;
  const part = readers && READER_PARTS.find((one) => !readers.done.includes(one));
  const needsPages = pages?.state === 'collecting';
  if (part !== undefined && (left > KEPT_FOR_PAGES || !needsPages)) return { kind: 'readers', part };
  return needsPages ? { kind: 'pages' } : undefined;
}

/** Views as whole numbers from 0: a platform may send anything. */
const toViews = ({ human, ai }: Counts): Counts => ({ human: whole(human), ai: whole(ai) });

const whole = (value: number) => Math.min(Math.max(0, Math.round(value)), Number.MAX_SAFE_INTEGER);

export interface Source {
  docs: DocsApi;
  projectId: string;
  signal: AbortSignal;
}

/** Returns the totals of a span. */
export async function requestSpan(
  { from, to }: DayRange,
  { docs, projectId, signal }: Source,
): Promise<Counts> {
  const query = { projectId, dateFrom: from, dateTo: to, limit: 1 };
  return toViews((await docs.getPageViews(query, { signal })).totals);
}

/** Returns a part of the list of pages, the number of rows the platform sent, and whether there is more. */
export async function requestPages(
  { from, to }: DayRange,
  offset: number,
  { docs, projectId, signal }: Source,
): Promise<{ pages: PageCounts[]; rows: number; hasMore: boolean }> {
  const query = { projectId, dateFrom: from, dateTo: to, limit: PAGE_LIMIT, offset };
  const { views, hasMore, leftOut = 0 } = await docs.getPageViews(query, { signal });
  const rows = views.length + leftOut;
  // A platform that says "more" without any row would be asked for ever.
  return {
    pages: views.map(({ path, ...views }) => ({ path, ...toViews(views) })),
    rows,
    hasMore: hasMore && rows > 0,
  };
}

type Readers = NonNullable<FiguresRun['readers']>;

/** Returns the readers' figures after one more request for `part`. */
export async function requestReaders(
  readers: Readers,
  part: ReaderPart,
  { from, to }: DayRange,
  { docs, projectId, signal }: Source,
): Promise<Readers> {
  const query = { projectId, dateFrom: from, dateTo: to };
  const finish = (figures: Partial<Readers['figures']>): Readers => ({
    ...withPart(readers, part),
    figures: { ...readers.figures, ...figures },
  });
  switch (part) {
    case 'visitors': {
      const { totals } = await docs.getVisitors({ ...query, limit: 1 }, { signal });
      return finish({ visitors: { total: whole(totals.total) } });
    }
    case 'searches':
      return requestSearches(readers, query, { docs, projectId, signal });
    case 'feedback': {
      const { feedback } = await docs.getFeedbackByPage({ ...query, limit: FEEDBACK_LIMIT }, { signal });
      // Keeps all: the next digest compares with pages of few thumbs.
      const rated = feedback
        .slice(0, FEEDBACK_LIMIT)
        .map(({ path, thumbsUp, thumbsDown }) => ({ path, up: whole(thumbsUp), down: whole(thumbsDown) }));
      return finish({ thumbs: rated.toSorted((one, other) => other.down - other.up - (one.down - one.up)) });
    }
    case 'questions':
      return requestQuestions(readers, query, { docs, projectId, signal });
  }
}

type Query = { projectId: string; dateFrom: string; dateTo: string };

/**
 * Searches another part of the terms for those without a click. The most frequent come first, so the result stays right
 * if the rest is not requested.
 */
async function requestSearches(readers: Readers, query: Query, { docs, signal }: Source): Promise<Readers> {
  const page = await docs.getSearches({ ...query, limit: SEARCH_LIMIT, ...cursorOf(readers) }, { signal });
  const unclicked = page.searches
    .filter(({ hits, ctr, topClickedPage }) => hits >= MIN_HITS && ctr === 0 && topClickedPage === undefined)
    .map(({ searchQuery, hits }) => ({ query: searchQuery, hits: whole(hits) }));
  // By term: a term may come again while rows shift.
  const found = new Map([...(readers.figures.searches ?? []), ...unclicked].map((one) => [one.query, one]));
  const searches = [...found.values()].toSorted((one, other) => other.hits - one.hits).slice(0, MAX_LISTED);
  const next = { ...readers, figures: { ...readers.figures, searches } };
  const isOver = searches.length === MAX_LISTED || (page.searches.at(-1)?.hits ?? MIN_HITS) < MIN_HITS;
  return (isOver ? undefined : goOn(next, page.nextCursor)) ?? withPart(next, 'searches');
}

const cursorOf = ({ open }: Readers) => (open === undefined ? {} : { cursor: open.cursor });

const NO_QUESTIONS = { asked: 0, unanswered: 0, categories: {} };

/** Returns how a part continues; undefined if it is complete, or has reached its limit of requests. */
function goOn(readers: Readers, cursor: string | undefined, counted = NO_QUESTIONS): Readers | undefined {
  const requests = (readers.open?.requests ?? 0) + 1;
  const isNew = cursor !== undefined && cursor !== readers.open?.cursor;
  return isNew && requests < MAX_PART_REQUESTS
    ? { ...readers, open: { ...counted, cursor, requests } }
    : undefined;
}

/**
 * Counts another part of the conversations with the assistant; only a complete count is shown. The readers' text is not
 * read.
 */
async function requestQuestions(readers: Readers, query: Query, { docs, signal }: Source): Promise<Readers> {
  const paging = { limit: CONVERSATION_LIMIT, ...cursorOf(readers) };
  const page = await docs.getAssistantConversations({ ...query, ...paging }, { signal });
  const before = readers.open ?? NO_QUESTIONS;
  const categories: Record<string, number> = { ...before.categories };
  const open = page.conversations.filter(({ resolutionStatus }) => resolutionStatus === 'unanswered');
  for (const { queryCategory } of open) {
    if (queryCategory === undefined) continue;
    const known = Object.hasOwn(categories, queryCategory) ? (categories[queryCategory] ?? 0) : undefined;
    if (known === undefined && Object.keys(categories).length >= MAX_CATEGORIES) continue;
    categories[queryCategory] = (known ?? 0) + 1;
  }
  const asked = before.asked + page.conversations.length;
  const unanswered = before.unanswered + open.length;
  const done = withPart(readers, 'questions');
  if (page.hasMore) return goOn(readers, page.nextCursor, { asked, unanswered, categories }) ?? done;
  const [category] = Object.entries(categories).toSorted(([, one], [, other]) => other - one)[0] ?? [];
  const questions = { asked, unanswered, ...(category !== undefined && { category }) };
  return { ...done, figures: { ...readers.figures, questions } };
}

/** The part is done: no more requests for it. */
export const withPart = ({ done, figures }: Readers, part: ReaderPart): Readers => ({
  figures,
  done: [...done, part],
});

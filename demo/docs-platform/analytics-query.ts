import { DAY_MS, dayOf, HISTORY_DAYS } from './days.ts';

/** What one of the analytics takes beside the dates and `limit`. */
interface QueryRules {
  defaultLimit: number;
  maxLimit: number;
  /** How further rows are asked for, if they can be. */
  paging?: 'offset' | 'cursor';
}

/** What is asked of one of the analytics. */
export interface AnalyticsQuery {
  from: string;
  to: string;
  limit: number;
  offset: number;
  cursor?: string;
}

/** What each of the analytics takes. */
export const ANALYTICS_QUERIES = {
  views: { defaultLimit: 50, maxLimit: 250, paging: 'offset' },
  visitors: { defaultLimit: 50, maxLimit: 250, paging: 'offset' },
  searches: { defaultLimit: 50, maxLimit: 100, paging: 'cursor' },
  feedback: { defaultLimit: 10, maxLimit: 100 },
  assistant: { defaultLimit: 100, maxLimit: 1000, paging: 'cursor' },
} as const satisfies Record<string, QueryRules>;

export type AnalyticsOperation = keyof typeof ANALYTICS_QUERIES;

/** Reads a query as strictly as the contract says, or says why it is refused. */
export function analyticsQueryFrom(
  query: Record<string, string>,
  { defaultLimit, maxLimit, paging }: QueryRules,
  nowMs: number,
): AnalyticsQuery | { refused: string } {
  const unknown = Object.keys(query).find((name) => !['dateFrom', 'dateTo', 'limit', paging].includes(name));
  if (unknown !== undefined) return { refused: `Unknown query parameter: ${unknown}` };
  const from = query.dateFrom === undefined ? dayOf(nowMs - HISTORY_DAYS * DAY_MS) : dayFrom(query.dateFrom);
  const to = query.dateTo === undefined ? dayOf(nowMs + DAY_MS) : dayFrom(query.dateTo);
  if (from === undefined) return { refused: 'dateFrom must be ISO 8601 or YYYY-MM-DD' };
  if (to === undefined) return { refused: 'dateTo must be ISO 8601 or YYYY-MM-DD' };
  const limit = wholeNumber(query.limit ?? String(defaultLimit));
  if (limit === undefined || limit < 1 || limit > maxLimit) {
    return { refused: `limit must be between 1 and ${maxLimit}` };
  }
  const offset = wholeNumber(query.offset ?? '0');
  if (offset === undefined) return { refused: 'offset must be at least 0' };
  return { from, to, limit, offset, ...(query.cursor === undefined ? {} : { cursor: query.cursor }) };
}

function dayFrom(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/u.test(text))
    return undefined;
  const hasZone = !text.includes('T') || /(?:Z|[+-]\d{2}:\d{2})$/u.test(text);
  const atMs = Date.parse(hasZone ? text : `${text}Z`);
  return Number.isNaN(atMs) || !isDay(text.slice(0, 10)) ? undefined : dayOf(atMs);
}

/** Date.parse takes 30 February for 2 March. */
function isDay(text: string): boolean {
  const atMs = Date.parse(text);
  return !Number.isNaN(atMs) && dayOf(atMs) === text;
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,9}$/u.test(text) ? Number(text) : undefined;
}

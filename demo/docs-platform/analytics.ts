import { createHash } from 'node:crypto';

/** Views of one page, or of the site, in a range of days. */
export interface Counts {
  human: number;
  ai: number;
  total: number;
}

/** The stand-in's numbers. Days are UTC, `YYYY-MM-DD`; ranges include `from` and exclude `to`. */
export interface ViewControls {
  readonly paths: readonly string[];
  /** What the API answers for a range, all pages at once: totals, and every page with at least one view. */
  between(from: string, to: string): { totals: Counts; views: ({ path: string } & Counts)[] };
  /** Fixes one page's views on one day. An unknown path becomes a page. */
  set(path: string, day: string, counts: { human: number; ai: number }): void;
  /** No views at all on these days. */
  silence(from: string, to: string): void;
}

const DAY_MS = 86_400_000;
/** Days of history that the stand-in has. */
const HISTORY_DAYS = 400;

const SECTIONS = ['guides', 'api', 'concepts', 'integrations', 'deploy', 'reference', 'changelog'];
const TOPICS = [
  ...[
    'quickstart',
    'webhooks',
    'errors',
    'pagination',
    'authentication',
    'rate-limits',
    'versioning',
    'events',
  ],
  ...[
    'search',
    'themes',
    'redirects',
    'domains',
    'analytics',
    'permissions',
    'billing',
    'exports',
    'caching',
  ],
  ...[
    'testing',
    'logging',
    'regions',
    'backups',
    'components',
    'navigation',
    'openapi',
    'snippets',
    'images',
  ],
  ...['tables', 'math', 'previews', 'branches', 'agents', 'assistants', 'embeds', 'feedback', 'localization'],
  ...[
    'migrations',
    'sso',
    'scim',
    'audit-log',
    'sdk-node',
    'sdk-python',
    'sdk-go',
    'cli',
    'tokens',
    'queues',
  ],
];

/** `/introduction` and every topic in every section: 330 pages and more. */
const SITE_PATHS = [
  '/introduction',
  ...SECTIONS.flatMap((part) => TOPICS.map((topic) => `/${part}/${topic}`)),
];

const SEEDED_PATHS = new Set(SITE_PATHS);

/** UTC day number of a day. */
function dayNumber(day: string): number {
  return Math.floor(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Seeded views: the same seed and day give the same numbers; the day that `nowMs` is in has come in part. */
export function createViews(seed: string, nowMs: () => number): ViewControls {
  const paths = [...SITE_PATHS];
  const fixed = new Map<string, { human: number; ai: number }>();
  const silent: { from: number; to: number }[] = [];
  const habits = new Map<string, Habits>();
  const pastDays = new Map<string, { human: number; ai: number }>();

  function habitsOf(path: string): Habits {
    const existing = habits.get(path) ?? habitsFrom(seed, path);
    habits.set(path, existing);
    return existing;
  }

  function onDay(path: string, day: number): { human: number; ai: number } {
    if (silent.some(({ from, to }) => day >= from && day < to)) return { human: 0, ai: 0 };
    const key = `${day} ${path}`;
    const existing = fixed.get(key) ?? pastDays.get(key);
    if (existing) return existing;
    const past = Math.min(1, Math.max(0, nowMs() / DAY_MS - day));
    if (past === 0 || !SEEDED_PATHS.has(path)) return { human: 0, ai: 0 };
    const counts = seededDay(path, day, past);
    if (past === 1) pastDays.set(key, counts);
    return counts;
  }

  function seededDay(path: string, day: number, past: number): { human: number; ai: number } {
    const { human, ai } = habitsOf(path);
    const weekend = (day + 4) % 7 === 0 || (day + 4) % 7 === 6;
    const week = Math.floor((day + 3) / 7);
    const mood = 0.7 + 0.6 * chance(seed, path, String(week));
    const luck = chance(seed, path, `d${day}`);
    const noise = 0.8 + 0.4 * luck;
    return {
      human: Math.floor(human * mood * noise * (weekend ? 0.4 : 1) * past + luck),
      ai: Math.floor(ai * (2 - mood) * noise * past + 1 - luck),
    };
  }

  function between(from: string, to: string) {
    const last = Math.min(dayNumber(to), Math.floor(nowMs() / DAY_MS) + 1);
    const first = Math.max(dayNumber(from), last - HISTORY_DAYS);
    const views = paths
      .map((path) => {
        let human = 0;
        let ai = 0;
        for (let day = first; day < last; day += 1) {
          const counts = onDay(path, day);
          human += counts.human;
          ai += counts.ai;
        }
        return { path, human, ai, total: human + ai };
      })
      .filter(({ total }) => total > 0);
    const sum = (key: keyof Counts) => views.reduce((total, view) => total + view[key], 0);
    return { totals: { human: sum('human'), ai: sum('ai'), total: sum('total') }, views };
  }

  return {
    paths,
    between,
    set(path, day, counts) {
      if (!paths.includes(path)) paths.push(path);
      fixed.set(`${dayNumber(day)} ${path}`, counts);
    },
    silence: (from, to) => void silent.push({ from: dayNumber(from), to: dayNumber(to) }),
  };
}

/** Usual views of a page on a weekday. */
interface Habits {
  human: number;
  ai: number;
}

/** Few pages are read a lot, many hardly; some are read by AI mostly. */
function habitsFrom(seed: string, path: string): Habits {
  const rank = chance(seed, path, 'rank');
  const human = path === '/introduction' ? 220 : 60 * rank ** 6 + 3 * rank;
  const taste = chance(seed, path, 'taste');
  return { human: taste > 0.95 ? human / 8 : human, ai: human * (taste > 0.95 ? 1.8 : 0.1 + 0.5 * taste) };
}

/** A number from 0 to 1 that only depends on the words. */
function chance(...words: string[]): number {
  return createHash('sha1').update(words.join('\n')).digest().readUInt32BE(0) / 2 ** 32;
}

/** The API's order of pages is not specified: this one is stable and says nothing. */
export function inNoOrder<Row extends { path: string }>(seed: string, rows: Row[]): Row[] {
  const key = new Map(rows.map((row) => [row.path, chance(seed, 'order', row.path)]));
  return rows.toSorted((a, b) => (key.get(a.path) ?? 0) - (key.get(b.path) ?? 0));
}

/** What is asked of the page-view operation, or why it is refused. */
export type ViewQuery = { from: string; to: string; limit: number; offset: number } | { refused: string };

/** Reads the query of the page-view operation as strictly as the contract says. */
export function viewQueryFrom(query: Record<string, string>, nowMs: number): ViewQuery {
  const unknown = Object.keys(query).find(
    (name) => !['dateFrom', 'dateTo', 'limit', 'offset'].includes(name),
  );
  if (unknown !== undefined) return { refused: `Unknown query parameter: ${unknown}` };
  const from = query.dateFrom === undefined ? dayOf(nowMs - HISTORY_DAYS * DAY_MS) : dayFrom(query.dateFrom);
  const to = query.dateTo === undefined ? dayOf(nowMs + DAY_MS) : dayFrom(query.dateTo);
  if (from === undefined) return { refused: 'dateFrom must be ISO 8601 or YYYY-MM-DD' };
  if (to === undefined) return { refused: 'dateTo must be ISO 8601 or YYYY-MM-DD' };
  const limit = wholeNumber(query.limit ?? '50');
  if (limit === undefined || limit < 1 || limit > 250) return { refused: 'limit must be between 1 and 250' };
  const offset = wholeNumber(query.offset ?? '0');
  if (offset === undefined) return { refused: 'offset must be at least 0' };
  return { from, to, limit, offset };
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

import { chance, DAY_MS, dayNumber, knownDays, pastOf } from './days.ts';
import { generatedSite, namedSite } from './sites.ts';

/** Views of one page, or of the site, in a range of days. */
export interface Counts {
  human: number;
  ai: number;
  total: number;
}

/** What the API answers for a range, all pages at once: totals, and every page with at least one view. */
interface RangeOfViews {
  totals: Counts;
  views: ({ path: string } & Counts)[];
}

/** The stand-in's numbers. Days are UTC, `YYYY-MM-DD`; ranges include `from` and exclude `to`. */
export interface ViewControls {
  readonly paths: readonly string[];
  between(from: string, to: string): RangeOfViews;
  /** Fixes one page's views on one day. An unknown path becomes a page. */
  set(path: string, day: string, counts: { human: number; ai: number }): void;
  /** No views at all on these days. */
  silence(from: string, to: string): void;
  /** By how many rows the order moves on after each request, so that rows change pages. Default 0. */
  movesBy: number;
}

/** What the routes ask beyond what tests do. */
interface Views extends ViewControls {
  pathAt(index: number): string;
  totals(from: string, to: string): Counts;
  /** One page of results, in no order. */
  page(
    from: string,
    to: string,
    rows: { limit: number; offset: number },
  ): RangeOfViews & { hasMore: boolean };
}

/** The views of every page in a range, by index. */
interface Table {
  human: Int32Array;
  ai: Int32Array;
  totals: Counts;
  /** Indexes of the pages with at least one view, in the order of the API. */
  rows: Uint32Array;
}

/** One table of 100,000 pages takes 1.2 MB. */
const KEPT_TABLES = 4;

/**
 * Seeded views: the same seed and day give the same numbers; the day that `nowMs` is in has come in part. With `pages`,
 * the site has that many, of any number.
 */
export function createViews(seed: string, nowMs: () => number, pages?: number): Views {
  const site = pages === undefined ? namedSite(seed) : generatedSite(seed, pages);
  const added: string[] = [];
  /** By day number, then by index. */
  const fixed = new Map<number, Map<number, { human: number; ai: number }>>();
  const silent: { from: number; to: number }[] = [];
  const tables = new Map<string, Table>();
  let order: Uint32Array | undefined;
  let served = 0;

  const pathAt = (index: number) => added[index - site.size] ?? site.pathAt(index);

  function indexOf(path: string): number | undefined {
    const index = added.indexOf(path);
    return index === -1 ? site.indexOf(path) : site.size + index;
  }

  function inOrder(): Uint32Array {
    const count = site.size + added.length;
    if (order?.length === count) return order;
    const place = (_: unknown, index: number) =>
      index < site.size ? site.placeOf(index) : chance(seed, 'order', pathAt(index));
    const places = Float64Array.from({ length: count }, place);
    order = Uint32Array.from({ length: count }, (_, index) => index);
    order.sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
    return order;
  }

  function tableOf(from: string, to: string): Table {
    const { first, last } = knownDays(from, to, nowMs());
    // Of a day that is not over, the numbers of the minute.
    const minute = last * DAY_MS <= nowMs() ? '' : Math.floor(nowMs() / 60_000);
    const key = `${first} ${last} ${minute}`;
    const table = tables.get(key) ?? tableFrom(first, last);
    tables.delete(key);
    tables.set(key, table);
    for (const oldest of tables.keys()) {
      if (tables.size <= KEPT_TABLES) break;
      tables.delete(oldest);
    }
    return table;
  }

  function tableFrom(first: number, last: number): Table {
    const count = site.size + added.length;
    const human = new Int32Array(count);
    const ai = new Int32Array(count);
    const totals = { human: 0, ai: 0, total: 0 };
    const add = (index: number, counts: { human: number; ai: number }) => {
      human[index] = (human[index] ?? 0) + counts.human;
      ai[index] = (ai[index] ?? 0) + counts.ai;
      totals.human += counts.human;
      totals.ai += counts.ai;
      totals.total += counts.human + counts.ai;
    };
    for (let day = first; day < last; day += 1) {
      if (silent.some(({ from, to }) => day >= from && day < to)) continue;
      const past = pastOf(day, nowMs());
      const known = fixed.get(day);
      for (let index = 0; index < site.size; index += 1) {
        if (known?.has(index) !== true) add(index, site.onDay(index, day, past));
      }
      for (const [index, counts] of known ?? []) add(index, counts);
    }
    const rows = inOrder().filter((index) => (human[index] ?? 0) + (ai[index] ?? 0) > 0);
    return { human, ai, totals, rows };
  }

  function rowOf({ human, ai }: Table, index = 0) {
    const counts = { human: human[index] ?? 0, ai: ai[index] ?? 0 };
    return { path: pathAt(index), ...counts, total: counts.human + counts.ai };
  }

  const controls: Views = {
    get paths() {
      return [...Array.from({ length: site.size }, (_, index) => site.pathAt(index)), ...added];
    },
    movesBy: 0,
    pathAt,
    totals: (from, to) => tableOf(from, to).totals,
    between(from, to) {
      const table = tableOf(from, to);
      return {
        totals: table.totals,
        views: Array.from(table.rows.toSorted(), (index) => rowOf(table, index)),
      };
    },
    page(from, to, { limit, offset }) {
      const table = tableOf(from, to);
      const { totals, rows } = table;
      const moved = controls.movesBy * served;
      served += 1;
      const length = Math.max(0, Math.min(limit, rows.length - offset));
      const views = Array.from({ length }, (_, n) => rowOf(table, rows[(offset + n + moved) % rows.length]));
      return { totals, views, hasMore: offset + limit < rows.length };
    },
    set(path, day, counts) {
      const index = indexOf(path) ?? site.size + added.push(path) - 1;
      const onDay = fixed.get(dayNumber(day)) ?? new Map();
      fixed.set(dayNumber(day), onDay.set(index, counts));
      tables.clear();
    },
    silence(from, to) {
      silent.push({ from: dayNumber(from), to: dayNumber(to) });
      tables.clear();
    },
  };
  return controls;
}

import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** Views by people and by AI. */
interface Views {
  human: number;
  ai: number;
}

type PageViews = Views & { path: string };

/** A project of a workspace, as the key of its figures. */
interface FiguresOf {
  teamId: string;
  project: string;
}

/** The ids of what needs work, by kind; a kind that nobody looked at is missing. `cut` has kinds of incomplete lists. */
type Gaps = Record<string, string[]>;

/** Days, `YYYY-MM-DD`, without the last one. */
interface Days {
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;

/** Returns how long the pages of a range are kept: until the next weekly digest, or if it is longer, the next monthly one. */
export const pagesKeptMs = ({ from, to }: Days) =>
  Date.parse(to) - Date.parse(from) > 7 * DAY_MS ? retention.monthlyMs : retention.pageFiguresMs;

/** The field of a range's pages that says that all are stored. The other fields are offsets of the platform's list. */
const COMPLETE = 'complete';

/** Parts of a list of pages that are read at once, of up to 250 pages each. */
const PARTS_AT_ONCE = 20;

/** Views that no longer change: of finished days, and of the pages of finished ranges. */
export type FiguresStore = ReturnType<typeof createFiguresStore>;

export function createFiguresStore(redis: RedisClient) {
  const pagesKey = ({ teamId, project }: FiguresOf, { from, to }: Days) =>
    keys.pageFigures(teamId, project, `${from}..${to}`);

  /** Stores the field of a day, unless the day is older than `maxMs`; such fields are dropped. */
  async function addDated(key: string, day: string, value: unknown, maxMs: number, nowMs: number) {
    const oldest = new Date(nowMs - maxMs - DAY_MS).toISOString().slice(0, 10);
    if (day < oldest) return;
    const expired = (await redis.hkeys(key)).filter((kept) => kept < oldest);
    const batch = redis.multi().hset(key, day, JSON.stringify(value)).pexpire(key, maxMs);
    if (expired.length > 0) batch.hdel(key, ...expired);
    await batch.exec();
  }

  return {
    /** Returns the views of those days (`YYYY-MM-DD`) that are stored. */
    async days({ teamId, project }: FiguresOf, days: readonly string[]): Promise<Map<string, Views>> {
      if (days.length === 0) return new Map();
      const found = await redis.hmget(keys.dayFigures(teamId, project), ...days);
      const views = found.map((text): Views | undefined => (text ? JSON.parse(text) : undefined));
      return new Map(days.flatMap((day, index) => (views[index] ? [[day, views[index]]] : [])));
    },

    /** Stores the views of a day, unless the day is too old for a comparison; such days are dropped. */
    addDay: ({ teamId, project }: FiguresOf, day: string, views: Views, nowMs: number) =>
      addDated(keys.dayFigures(teamId, project), day, views, retention.dayFiguresMs, nowMs),

    /** Stores the ids of what needed work in the week from a Monday, by kind, for half a year. */
    addGaps: ({ teamId, project }: FiguresOf, monday: string, open: Gaps, nowMs: number) =>
      addDated(keys.gaps(teamId, project), monday, open, retention.gapsMs, nowMs),

    /** Returns what needed work in the stored weeks before this one, by their Mondays, latest first. */
    async gapsBefore({ teamId, project }: FiguresOf, monday: string): Promise<[string, Gaps][]> {
      const weeks = Object.entries(await redis.hgetall(keys.gaps(teamId, project)));
      const earlier = weeks
        .filter(([from]) => from < monday)
        .toSorted(([one], [other]) => (one < other ? 1 : -1));
      return earlier.map(([from, ids]) => [from, JSON.parse(ids)]);
    },

    /** Stores the part of a range's list of pages that begins at an offset. After one that `isFinal`, all are stored. */
    async addPages(of: FiguresOf, range: Days, offset: number, pages: PageViews[], isFinal: boolean) {
      const key = pagesKey(of, range);
      const fields = { [offset]: JSON.stringify(pages), ...(isFinal && { [COMPLETE]: '' }) };
      await redis.multi().hset(key, fields).pexpire(key, pagesKeptMs(range)).exec();
    },

    /** Returns whether all pages of a range are stored; if so, they are kept as long as newly collected ones. */
    async reusePages(of: FiguresOf, range: Days): Promise<boolean> {
      const key = pagesKey(of, range);
      const isComplete = (await redis.hexists(key, COMPLETE)) === 1;
      if (isComplete) await redis.pexpire(key, pagesKeptMs(range));
      return isComplete;
    },

    /**
     * Yields all stored pages of a range, some at a time. A page may come twice; the last one counts: a list that was
     * read again may have become shorter, so the beginning comes last.
     */
    async *pages(of: FiguresOf, range: Days): AsyncGenerator<PageViews[]> {
      const key = pagesKey(of, range);
      const offsets = (await redis.hkeys(key)).filter((field) => field !== COMPLETE);
      offsets.sort((one, other) => Number(other) - Number(one));
      for (let at = 0; at < offsets.length; at += PARTS_AT_ONCE) {
        const parts = await redis.hmget(key, ...offsets.slice(at, at + PARTS_AT_ONCE));
        yield parts.flatMap((part): PageViews[] => JSON.parse(part ?? '[]'));
      }
    },

    /** Stores the run of a request to the agent under a digest, for the next digest. Returns whether it is new there. */
    async addAsk(editionId: string, runId: string): Promise<boolean> {
      const key = keys.digestAsks(editionId);
      const [added] = (await redis.multi().sadd(key, runId).pexpire(key, retention.monthlyMs).exec()) ?? [];
      return added?.[1] === 1;
    },
    asks: (editionId: string): Promise<string[]> => redis.smembers(keys.digestAsks(editionId)),
  };
}

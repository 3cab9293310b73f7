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

/** Days, `YYYY-MM-DD`, without the last one. */
interface Days {
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;

/** The field of a range's pages that says that all are stored. The other fields are offsets of the platform's list. */
const COMPLETE = 'complete';

/** Views that no longer change: of finished days, and of the pages of finished ranges. */
export type FiguresStore = ReturnType<typeof createFiguresStore>;

export function createFiguresStore(redis: RedisClient) {
  const pagesKey = ({ teamId, project }: FiguresOf, { from, to }: Days) =>
    keys.pageFigures(teamId, project, `${from}..${to}`);

  return {
    /** Returns the views of those days (`YYYY-MM-DD`) that are stored. */
    async days({ teamId, project }: FiguresOf, days: readonly string[]): Promise<Map<string, Views>> {
      if (days.length === 0) return new Map();
      const found = await redis.hmget(keys.dayFigures(teamId, project), ...days);
      const views = found.map((text): Views | undefined => (text ? JSON.parse(text) : undefined));
      return new Map(days.flatMap((day, index) => (views[index] ? [[day, views[index]]] : [])));
    },

    /** Stores the views of a day, unless the day is too old for a comparison; such days are dropped. */
    async addDay({ teamId, project }: FiguresOf, day: string, views: Views, nowMs: number) {
      const key = keys.dayFigures(teamId, project);
      const oldest = new Date(nowMs - retention.dayFiguresMs - DAY_MS).toISOString().slice(0, 10);
      if (day < oldest) return;
      const expired = (await redis.hkeys(key)).filter((kept) => kept < oldest);
      const batch = redis.multi().hset(key, day, JSON.stringify(views)).pexpire(key, retention.dayFiguresMs);
      if (expired.length > 0) batch.hdel(key, ...expired);
      await batch.exec();
    },

    /** Stores the part of a range's list of pages that begins at an offset. After one that `isFinal`, all are stored. */
    async addPages(of: FiguresOf, range: Days, offset: number, pages: PageViews[], isFinal: boolean) {
      const key = pagesKey(of, range);
      const fields = { [offset]: JSON.stringify(pages), ...(isFinal && { [COMPLETE]: '' }) };
      await redis.multi().hset(key, fields).pexpire(key, retention.pageFiguresMs).exec();
    },

    /** Returns whether all pages of a range are stored; if so, they are kept as long as newly collected ones. */
    async reusePages(of: FiguresOf, range: Days): Promise<boolean> {
      const key = pagesKey(of, range);
      const isComplete = (await redis.hexists(key, COMPLETE)) === 1;
      if (isComplete) await redis.pexpire(key, retention.pageFiguresMs);
      return isComplete;
    },

    /**
     * Yields all stored pages of a range, some at a time. A page may come twice; the last one counts: a list that was
     * read again may have become shorter, so the beginning comes last.
     */
    async *pages(of: FiguresOf, range: Days): AsyncGenerator<PageViews[]> {
      const key = pagesKey(of, range);
      const offsets = (await redis.hkeys(key)).filter((field) => field !== COMPLETE);
      for (const offset of offsets.toSorted((one, other) => Number(other) - Number(one)))
        yield JSON.parse((await redis.hget(key, offset)) ?? '[]');
    },

    /** Stores the run of a request to the agent under a digest, for the next digest. */
    async addAsk(editionId: string, runId: string) {
      const key = keys.digestAsks(editionId);
      await redis.multi().sadd(key, runId).pexpire(key, retention.runMs).exec();
    },
    asks: (editionId: string): Promise<string[]> => redis.smembers(keys.digestAsks(editionId)),
  };
}

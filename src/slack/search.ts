import type { Timing } from '../runtime/timing.ts';
import type { PaceStore } from '../store/rate-limit.ts';
import type { SlackApi } from './client.ts';
import type { Marked } from './marked.ts';
import { holdWhenLimited, readPace } from './rate-limits.ts';

/** A post of ours whose outcome is not known. */
export interface Sought {
  teamId: string;
  key: string;
  place: { channel: string; threadTs?: string };
  /** When it was posted, if it was, by Slack's clock. */
  sinceMs: number;
  /** Slack has to be asked no earlier than this: then, a post that took effect is there. */
  fromMs: number;
}

/** What a search came to: a turn of Slack's is free in `waitMs`, or it is known whether the message is there. */
export type Searched = { kind: 'wait'; waitMs: number } | { kind: 'known'; found: Marked | undefined };

/** One call to Slack that tells of every message in a place. */
interface Look {
  startedAtMs: number;
  sinceMs: number;
  marked: Promise<ReadonlyMap<string, Marked>>;
}

/** The first that is looked for is not always the first that was posted. */
const EARLIER_MS = 60_000;

/** How long what a call told is kept for other messages of the same place. */
const KEPT_MS = 60_000;

export interface SearchParts {
  slack: Pick<SlackApi, 'marked'>;
  pace: PaceStore;
  timing: Pick<Timing, 'readsPerMinute'>;
  now: () => number;
}

/**
 * Looks for posts whose answers were lost. After an outage many of one place are looked for at once: one call answers
 * all whose time had come when it was made.
 */
export function createSearch({
  slack,
  pace,
  timing,
  now,
}: SearchParts): (sought: Sought) => Promise<Searched> {
  const looks = new Map<string, Look>();
  const turns = new Map<string, Promise<number>>();

  return async ({ teamId, key, place, sinceMs, fromMs }) => {
    const where = JSON.stringify([place.channel, place.threadTs]);
    const made = lookOf();
    if (made) return known(made);
    const pacer = readPace(place.threadTs === undefined ? 'history' : 'replies', teamId, timing);
    const shared = turns.get(where);
    const turn =
      shared ??
      pace.take(pacer, { of: where, rank: 0, sinceMs }).finally(() => {
        turns.delete(where);
      });
    turns.set(where, turn);
    const waitMs = await turn;
    if (waitMs > 0) return { kind: 'wait', waitMs };
    const meanwhile = lookOf();
    if (meanwhile) return known(meanwhile);
    if (shared) return { kind: 'wait', waitMs: 0 };
    const startedAtMs = now();
    for (const [name, old] of looks) if (old.startedAtMs < startedAtMs - KEPT_MS) looks.delete(name);
    const earlierMs = sinceMs - EARLIER_MS;
    const marked = slack.marked(place, earlierMs).catch(holdWhenLimited(pace, pacer));
    const look = { startedAtMs, sinceMs: earlierMs, marked };
    looks.set(where, look);
    return known(look);

    function lookOf(): Look | undefined {
      const last = looks.get(where);
      return last && last.startedAtMs >= fromMs && last.sinceMs <= sinceMs ? last : undefined;
    }

    async function known(look: Look): Promise<Searched> {
      try {
        return { kind: 'known', found: (await look.marked).get(key) };
      } catch (error) {
        if (looks.get(where) === look) looks.delete(where);
        throw error;
      }
    }
  };
}

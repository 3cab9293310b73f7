import type { TimelineEntry } from './protocol.ts';
import type { World } from './world.ts';

const KEPT = 300;

/** The requests of the last while, and what the visitor did to the world. */
export interface Timeline {
  /** The newest, oldest first. */
  entries(): TimelineEntry[];
  /** Notes what the visitor does; the outcome follows. */
  trouble<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** How many calls Slack refused as too many. */
  readonly refusedBySlack: number;
}

/** A request as the wires record it. */
interface Passage {
  readonly name: string;
  readonly atMs: number;
  outcome?: string;
  readonly caused: readonly string[];
}

/** Keeps a timeline. `onChange` runs whenever it is another. */
export function createTimeline(
  { slack, platform, clock, deployment, gitHost }: World,
  onChange: () => void,
): Timeline {
  const kept: { entry: Omit<TimelineEntry, 'caused' | 'outcome'>; passage: Passage; startMs: number }[] = [];
  const open = new Map<Passage, (typeof kept)[number]>();
  let n = 0;
  let refusedBySlack = 0;

  function begin(way: TimelineEntry['way'], passage: Passage): void {
    n += 1;
    const one = {
      entry: { kind: 'request' as const, n, atMs: passage.atMs, way, name: passage.name },
      passage,
      startMs: performance.now(),
    };
    kept.push(one);
    if (kept.length > KEPT) kept.shift();
    open.set(passage, one);
    onChange();
  }

  function end(passage: Passage): void {
    const one = open.get(passage);
    open.delete(passage);
    if (one) one.entry.tookMs = Math.round(performance.now() - one.startMs);
    if (one?.entry.way === 'docket → slack' && passage.outcome === '429') refusedBySlack += 1;
    onChange();
  }

  const watching = (way: TimelineEntry['way']) => (passage: Passage, moment: 'began' | 'ended') =>
    moment === 'began' ? begin(way, passage) : end(passage);
  slack.watchRequests(watching('slack → docket'));
  slack.wire.watch(watching('docket → slack'));
  platform.wire.watch(watching('docket → platform'));
  deployment?.wire.watch(watching('docket → deployment'));
  gitHost?.wire.watch(watching('docket → git host'));

  return {
    entries: () =>
      kept.map(({ entry, passage: { outcome, caused } }) => ({
        ...entry,
        ...(outcome !== undefined && { outcome }),
        caused: [...caused],
      })),
    async trouble(name, work) {
      const passage: Passage = { name, atMs: clock.now(), caused: [] };
      begin('visitor', passage);
      try {
        const result = await work();
        passage.outcome = 'done';
        return result;
      } catch (error) {
        passage.outcome = 'failed';
        throw error;
      } finally {
        end(passage);
      }
    },
    get refusedBySlack() {
      return refusedBySlack;
    },
  };
}

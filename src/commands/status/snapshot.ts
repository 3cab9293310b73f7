import type { QueueCounts } from '../../jobs/queue.ts';
import { followUpUses } from '../../jobs/status/follow-up-use.ts';
import type { LimitState, SystemState } from '../../jobs/status/view.ts';
import type { Project } from '../../projects.ts';
import type { Timing } from '../../runtime/timing.ts';
import { within } from '../../runtime/within.ts';
import { editPace } from '../../slack/rate-limits.ts';
import type { BudgetStore } from '../../store/budget.ts';
import type { HealthStore, Outside, Seen } from '../../store/health.ts';
import type { PaceStore } from '../../store/rate-limit.ts';
import type { RedisProblem } from '../../store/redis/problems.ts';
import type { ThreadStore } from '../../store/threads.ts';
import type { CommandTools } from '../command.ts';

export interface SystemParts {
  /** What this process saw itself. */
  seen: () => Partial<Record<Outside, Seen>>;
  store: HealthStore;
  connected: () => boolean | undefined;
  ping: () => Promise<unknown>;
  redisProblems: () => readonly RedisProblem[];
  counts: () => Promise<QueueCounts[]>;
  limits: Pick<LimitState, 'exportStatusPerSecond'> & { followUpsPerHour: number };
  projects: readonly Project[];
  budgets: Pick<BudgetStore, 'use'>;
  threads: Pick<ThreadStore, 'followed'>;
  pace: PaceStore;
  timing: Pick<Timing, 'editsPerMinute'>;
  about: Pick<SystemState, 'version' | 'role' | 'upSinceMs'>;
  monotonicMs: () => number;
}

/** Finds out how things are, all at once. Never rejects: what is not known within the limit is missing. */
export function createSystemLook(parts: SystemParts): CommandTools['system'] {
  const { seen, store, connected, ping, redisProblems, counts, limits, projects, budgets, threads } = parts;
  const { pace, timing, about, monotonicMs } = parts;

  async function pinged(): Promise<number> {
    const sentMs = monotonicMs();
    await ping();
    return monotonicMs() - sentMs;
  }

  return async (teamId, limitMs) => {
    const edits = editPace(teamId, timing);
    const known = <T>(answer: Promise<T>) => within(limitMs, answer).catch(() => undefined);
    const [redisMs, queues, told, use, followed, followUps] = await Promise.all([
      known(pinged()),
      known(counts()),
      known(store.told()),
      known(pace.use(edits)),
      known(threads.followed(teamId)),
      followUpUses(projects, limits.followUpsPerHour, (budget) => known(budgets.use(budget))),
    ]);
    const own = seen();
    return {
      docs: later(own.docs, told?.docs),
      slack: later(own.slack, told?.slack),
      connected: connected(),
      redisMs,
      // That it is away is said already.
      redisProblems: redisProblems().flatMap(({ kind, text }) => (kind === 'unreachable' ? [] : [text])),
      queues,
      threads: followed?.length,
      limits: {
        exportStatusPerSecond: limits.exportStatusPerSecond,
        editsPerMinute: edits.perMinute,
        edits: use,
        followUps,
      },
      ...about,
    };
  };
}

function later(one: Seen | undefined, other: Seen | undefined): Seen | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.atMs >= other.atMs ? one : other;
}

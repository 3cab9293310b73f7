import type { QueueCounts } from '../../jobs/queue.ts';
import { loadFollowUpUsage } from '../../jobs/status/follow-up-use.ts';
import type { LimitState, SystemState } from '../../jobs/status/view.ts';
import type { Project } from '../../projects.ts';
import type { Timing } from '../../runtime/timing.ts';
import { within } from '../../runtime/within.ts';
import { editRateLimit } from '../../slack/rate-limits.ts';
import type { Dependency, HealthSnapshot, HealthStore } from '../../store/health.ts';
import type { RateLimitStore } from '../../store/rate-limit.ts';
import type { RedisProblem } from '../../store/redis/problems.ts';
import type { ThreadStore } from '../../store/threads.ts';
import type { CommandTools } from '../command.ts';

export interface SystemParts {
  /** What this process saw itself. */
  snapshots: () => Partial<Record<Dependency, HealthSnapshot>>;
  store: HealthStore;
  connected: () => boolean | undefined;
  ping: () => Promise<unknown>;
  redisProblems: () => readonly RedisProblem[];
  counts: () => Promise<QueueCounts[]>;
  limits: Pick<LimitState, 'exportStatusPerSecond'> & { followUpsPerHour: number };
  projects: readonly Project[];
  threads: Pick<ThreadStore, 'followed'>;
  rateLimits: Pick<RateLimitStore, 'usage'>;
  timing: Pick<Timing, 'editsPerMinute'>;
  about: Pick<SystemState, 'version' | 'role' | 'upSinceMs'>;
  monotonicMs: () => number;
}

/** Finds out how things are, all at once. Never rejects: what is not known within the limit is missing. */
export function createSystemSnapshot(parts: SystemParts): CommandTools['systemSnapshot'] {
  const { snapshots, store, connected, ping, redisProblems, counts, limits, projects, threads } = parts;
  const { rateLimits, timing, about, monotonicMs } = parts;

  async function measurePing(): Promise<number> {
    const sentMs = monotonicMs();
    await ping();
    return monotonicMs() - sentMs;
  }

  return async (teamId, timeoutMs) => {
    const edits = editRateLimit(teamId, timing);
    const orUndefined = <T>(answer: Promise<T>) => within(timeoutMs, answer).catch(() => undefined);
    const [redisMs, queues, shared, use, followed, followUps] = await Promise.all([
      orUndefined(measurePing()),
      orUndefined(counts()),
      orUndefined(store.load()),
      orUndefined(rateLimits.usage(edits)),
      orUndefined(threads.followed(teamId)),
      loadFollowUpUsage(projects, limits.followUpsPerHour, (limit) => orUndefined(rateLimits.usage(limit))),
    ]);
    const own = snapshots();
    return {
      docs: latest(own.docs, shared?.docs),
      slack: latest(own.slack, shared?.slack),
      connected: connected(),
      redisMs,
      // That it is away is said already.
      redisProblems: redisProblems().flatMap(({ kind, text }) => (kind === 'unreachable' ? [] : [text])),
      queues,
      threads: followed?.length,
      limits: {
        exportStatusPerSecond: limits.exportStatusPerSecond,
        editsPerMinute: edits.count,
        edits: use,
        followUps,
      },
      ...about,
    };
  };
}

function latest(
  one: HealthSnapshot | undefined,
  other: HealthSnapshot | undefined,
): HealthSnapshot | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.atMs >= other.atMs ? one : other;
}

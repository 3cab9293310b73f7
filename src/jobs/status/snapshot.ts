import { within } from '../../runtime/within.ts';
import type { Dependency, HealthSnapshot, HealthStore } from '../../store/health.ts';
import type { RedisProblem } from '../../store/redis/problems.ts';
import type { FeatureContext } from '../feature.ts';
import { features, limitLines } from '../features.ts';
import type { QueueCounts } from '../queue.ts';
import type { Viewer } from '../visibility.ts';
import type { SystemState } from './view.ts';

export interface SystemParts {
  /** What this process saw itself. */
  snapshots: () => Partial<Record<Dependency, HealthSnapshot>>;
  store: HealthStore;
  connected: () => boolean | undefined;
  ping: () => Promise<unknown>;
  redisProblems: () => readonly RedisProblem[];
  counts: () => Promise<QueueCounts[]>;
  features: FeatureContext;
  about: Pick<SystemState, 'version' | 'role' | 'upSinceMs'>;
  monotonicMs: () => number;
}

/** Finds out how things are, all at once. Never rejects: what is not known within the limit is missing. */
export function createSystemSnapshot(parts: SystemParts) {
  const { snapshots, store, connected, ping, redisProblems, counts, about, monotonicMs } = parts;

  async function measurePing(): Promise<number> {
    const sentMs = monotonicMs();
    await ping();
    return monotonicMs() - sentMs;
  }

  return async (caller: Viewer & { teamId: string }, timeoutMs: number): Promise<SystemState> => {
    const orUndefined = <T>(answer: Promise<T>) => within(timeoutMs, answer).catch(() => undefined);
    const { rateLimiter } = parts.features;
    const context: FeatureContext = {
      ...parts.features,
      rateLimiter: { usage: (limit) => orUndefined(rateLimiter.usage(limit)) },
    };
    const featureLines = features.map(
      async ({ status }) =>
        status && ((await orUndefined(status.lines(caller.teamId, caller, context))) ?? status.unknown),
    );
    const [redisMs, queues, shared, lines, limits] = await Promise.all([
      orUndefined(measurePing()),
      orUndefined(counts()),
      orUndefined(store.load()),
      Promise.all(featureLines),
      limitLines({ teamId: caller.teamId, userId: caller.user.id }, context),
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
      featureLines: lines.flatMap((some) => some ?? []),
      limits,
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

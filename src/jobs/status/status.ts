import { withTimeout } from '../../runtime/with-timeout.ts';
import type { Dependency, HealthSnapshot, ValueStores } from '../../store/values.ts';
import type { RejectedKey } from '../alerts/view.ts';
import type { FeatureContext } from '../feature.ts';
import { features, limitsInUse } from '../features.ts';
import type { QueueCounts } from '../queue.ts';
import type { Viewer } from '../visibility.ts';
import { detailsMessage, OVERDUE_MS, type SystemState, statusMessage } from './view.ts';

interface SystemParts {
  /** What this process knows by itself. */
  known: () => Pick<
    SystemState,
    'missingScopes' | 'connected' | 'redisProblems' | 'ownProblems' | 'hasAdmins' | 'version' | 'role'
  >;
  upSinceMs: number;
  /** The health that this process saw. */
  snapshots: () => Partial<Record<Dependency, HealthSnapshot>>;
  store: ValueStores['health'];
  ping: () => Promise<unknown>;
  counts: () => Promise<QueueCounts[]>;
  rejectedKeys: (teamId: string) => Promise<RejectedKey[]>;
  countOverdue: (lateMs: number) => Promise<number>;
  /** Never rejects, and takes no longer than the limit of a look-up. */
  contact: () => Promise<string | undefined>;
  features: FeatureContext;
  monotonicMs: () => number;
}

/**
 * Returns a function that reads the state of all parts at once, and returns its message, with all `details` for a click.
 * It never rejects: parts that exceed the time limit are missing.
 */
export function createSystemStatus(parts: SystemParts) {
  const { known, upSinceMs, snapshots, store, ping, counts, monotonicMs } = parts;

  async function measurePing(): Promise<number> {
    const sentMs = monotonicMs();
    await ping();
    return monotonicMs() - sentMs;
  }

  return async (caller: Viewer & { teamId: string }, timeoutMs: number, details?: { isAdmin: boolean }) => {
    const orUndefined = <T>(answer: Promise<T>) => withTimeout(timeoutMs, answer).catch(() => undefined);
    const { rateLimiter } = parts.features;
    const context: FeatureContext = {
      ...parts.features,
      rateLimiter: { usage: (limit) => orUndefined(rateLimiter.usage(limit)) },
    };
    const { teamId } = caller;
    const sections = features
      .flatMap(({ status }) => status ?? [])
      .map(async ({ first, lines, unknown }) => {
        return { first, lines: (await orUndefined(lines(teamId, caller, context))) ?? unknown };
      });
    const [redisMs, queues, shared, rejectedKeys, overdue, read, limits, contact] = await Promise.all([
      orUndefined(measurePing()),
      orUndefined(counts()),
      orUndefined(store.load()),
      orUndefined(parts.rejectedKeys(teamId)),
      orUndefined(parts.countOverdue(OVERDUE_MS)),
      Promise.all(sections),
      limitsInUse(teamId, context),
      orUndefined(parts.contact()),
    ]);
    const own = snapshots();
    const state: SystemState = {
      docs: latest(own.docs, shared?.docs),
      slack: latest(own.slack, shared?.slack),
      redisMs,
      queues,
      rejectedKeys,
      overdue,
      running: read.flatMap(({ first, lines }) => (first ? lines : [])),
      featureLines: read.flatMap(({ first, lines }) => (first ? [] : lines)),
      limits: limits.flatMap(({ text }) => text ?? []),
      waits: limits.flatMap(({ text, waiting = 0 }) => (text !== undefined && waiting > 0 ? [text] : [])),
      contact,
      upSinceMs,
      ...known(),
    };
    return details ? detailsMessage(state, details) : statusMessage(state);
  };
}

const latest = (...snapshots: (HealthSnapshot | undefined)[]) =>
  snapshots.filter((one) => one !== undefined).toSorted((one, other) => other.atMs - one.atMs)[0];

import { findDeploymentProblems } from '../../deployments/troubles.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import type { Stores } from '../../store/stores.ts';
import type { Dependency, HealthSnapshot, WorkerProblem } from '../../store/values.ts';
import type { Queues } from '../engine/queue.ts';
import { features, limitsInUse } from '../features.ts';
import type { FeatureContext, LimitContext, WorkContext } from '../shared/feature.ts';
import type { Viewer } from '../shared/origin.ts';
import { findRejectedKeys } from './alerts.ts';
import { type StatusReader, type SystemState, statusMessage } from './view.ts';

/** Due work begins within seconds if a worker runs. */
const OVERDUE_MS = 60_000;

interface SystemParts {
  /** What this process knows by itself, with the health that it saw, and the problems that workers know. */
  known: (
    ofWorkers: readonly WorkerProblem[],
  ) => Pick<
    SystemState,
    'missingScopes' | 'connected' | 'problems' | 'hasAdmins' | 'version' | 'role' | 'upSinceMs'
  > & { snapshots: Partial<Record<Dependency, HealthSnapshot>> };
  /** The part of the workspace's calls to Slack. */
  slackPart: Dependency;
  stores: Pick<Stores, 'due' | 'health' | 'rateLimiter' | 'rejectedKeys' | 'troubles' | 'workerProblems'> &
    WorkContext;
  queues: Pick<Queues, 'counts'>;
  ping: () => Promise<unknown>;
  /** Never rejects, and takes no longer than the limit of a look-up. */
  contact: () => Promise<string | undefined>;
  features: FeatureContext;
  settings: LimitContext;
  monotonicMs: () => number;
  now: () => number;
}

/**
 * Returns a function that reads the state of all parts at once, and returns its message to a reader.
 * It never rejects: parts that exceed the time limit are missing.
 */
export function createSystemStatus(parts: SystemParts) {
  const { known, stores, queues, ping, contact, slackPart, settings, features: context, monotonicMs } = parts;
  const subjects: string[] = [slackPart, ...settings.projects.map(({ name }) => name)];

  async function measurePing(): Promise<number> {
    const sentMs = monotonicMs();
    await ping();
    return monotonicMs() - sentMs;
  }

  return async (caller: Viewer & { teamId: string }, timeoutMs: number, reader: StatusReader) => {
    const { teamId } = caller;
    const inTime = <T>(answer: Promise<T>) => withTimeout(timeoutMs, answer).catch(() => undefined);
    const usageOf = (limit: RateLimit) => inTime(stores.rateLimiter.usage(limit));
    const sections = features.map(async ({ status }) => {
      const isShown = status && (status.first || reader.details);
      return isShown ? ((await inTime(status.lines(teamId, caller, context))) ?? status.unknown) : [];
    });
    const deployments = inTime(findDeploymentProblems(settings.projects, stores.troubles, parts.now()));
    // A worker that has ended, or no longer has a problem, does not say so.
    const ofWorkers = inTime(stores.workerProblems.load(parts.now() - 3 * settings.timing.problemCheckMs));
    const [redisMs, counts, shared, rejectedKeys, overdue, read, allLimits, contactText] = await Promise.all([
      inTime(measurePing()),
      inTime(queues.counts()),
      inTime(stores.health.load(['docs', slackPart])),
      inTime(findRejectedKeys(teamId, settings.projects, stores)),
      inTime(stores.due.countOverdue(OVERDUE_MS)),
      Promise.all(sections),
      Promise.all(features.map((feature) => limitsInUse(feature, teamId, settings, usageOf))),
      contact(),
    ]);
    const limits = allLimits.flat();
    const { snapshots: own, ...rest } = known((await ofWorkers) ?? []);
    const state: SystemState = {
      docs: latest(subjects, own.docs, shared?.docs),
      slack: latest(subjects, own[slackPart], shared?.[slackPart]),
      redisMs,
      queues: counts,
      rejectedKeys,
      deployments: await deployments,
      overdue,
      running: read.filter((_, at) => features[at]?.status?.first).flat(),
      featureLines: read.filter((_, at) => !features[at]?.status?.first).flat(),
      limits: limits.flatMap(({ text }) => text ?? []),
      waits: limits.flatMap(({ text, waiting = 0 }) => (text !== undefined && waiting > 0 ? [text] : [])),
      contact: contactText,
      ...rest,
    };
    return statusMessage(state, reader);
  };
}

/** Returns the latest snapshot, with the problems of these projects and this workspace. */
function latest(
  subjects: readonly string[],
  ...snapshots: (HealthSnapshot | undefined)[]
): SystemState['docs'] {
  const seen = snapshots.filter((one) => one !== undefined);
  const [last] = seen.toSorted((one, other) => other.atMs - one.atMs);
  const own = last?.problems?.filter(({ of }) => subjects.includes(of)) ?? [];
  return last && { ...last, problems: [...new Set(own.map(({ text }) => text))] };
}

import { createChangeSaver } from '../runtime/cached.ts';
import { createProblemLog, type Log } from '../runtime/log.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { type RedisClient, refusalOf } from '../store/redis/client.ts';
import { askTime } from '../store/redis/clock.ts';
import type { Dependency, HealthSnapshot, ValueStores } from '../store/values.ts';
import { type HttpServer, sendJson } from './http-server.ts';

/** State of a part. Of a dependency, as of the last call to it; `unknown` before the first. */
type PartState = 'up' | 'down' | 'unknown';

const worstLast: PartState[] = ['up', 'unknown', 'down'];

/** A problem for an operator. `error`: requests are refused, or work has stopped. */
export interface Problem {
  name: string;
  level: 'error' | 'warn';
  text: string;
  /** The part with the problem, if there are several, such as the name of a workspace. */
  of?: string;
}

type StateCheck = () => Promise<PartState> | PartState;
type ProblemCheck = () => readonly Problem[];

/** How long `/readyz` waits for Redis. */
const PING_MS = 300;

/** Returns whether Redis answers; never rejects. A ping before the connection is ready would wait in its queue. */
export async function redisState(redis: RedisClient): Promise<PartState> {
  if (redis.status !== 'ready') return 'down';
  // A refusal is an answer, too.
  const isUp = await withTimeout(PING_MS, askTime(redis)).then(
    () => true,
    (error: unknown) => refusalOf(error) !== undefined,
  );
  return isUp ? 'up' : 'down';
}

/** A problem of calls. If a dependency causes it, the name begins with the dependency. The default level is `error`. */
type CallProblem = Pick<Problem, 'name' | 'text'> & Partial<Problem>;

/** A problem without confirmation for this long is over, since its state is unknown. */
const FORGET_MS = 10 * 60_000;

/** An unchanged state is shared again at most this often. */
const SHARE_INTERVAL_MS = 3000;

/** A call of one kind. `of`: whose it is, such as a project. `keyId`: that of the platform's key, for its calls. */
interface CallKind {
  of: string;
  operation: string;
  keyId?: string;
}

interface Failure extends CallKind, Omit<Problem, 'of'> {
  sinceMs: number;
  seenMs: number;
  isProblem: boolean;
  /** A detail for the log. */
  code: string | number | undefined;
}

interface HealthParts {
  server: HttpServer;
  log: Log;
  now: () => number;
  monotonicMs: () => number;
  /** How long calls of a kind may fail before that is a problem. */
  afterMs: number;
  /** The longest pause between two tries of what fails. */
  retryMs: number;
  /** Who has not been called for this long is called, only to see whether it is there; after a failure, in a quarter of it. */
  probeMs: number;
  /** The workspaces' parts; `/readyz` shows them as one, `slack`. */
  slackParts: readonly Dependency[];
  /** Called after each recorded call. */
  onCall: (part: Dependency, seen: HealthSnapshot) => void;
}

/** Returns the name of a service without that of the workspace. */
export const upstreamOf = (part: Dependency) => (part === 'docs' ? part : 'slack');

const stateOf = (last: HealthSnapshot | undefined): PartState =>
  last === undefined ? 'unknown' : last.answered ? 'up' : 'down';

/** The health of this process: the states of its parts, and its present problems. */
export type Health = ReturnType<typeof createHealth>;

/**
 * Serves `GET /healthz` and `GET /readyz`, which is 200 as long as Docket can answer people, even without Redis.
 * Collects the results of calls to Slack and to the platform, and of Slack's requests. A failure is a problem at once if
 * a person waits for the call, else after calls of its kind have failed for `afterMs`. The first success ends it.
 */
export function createHealth(parts: HealthParts) {
  const { server, log, now, monotonicMs, afterMs, retryMs, probeMs, slackParts, onCall } = parts;
  const snapshots = new Map<Dependency, HealthSnapshot>();
  const failures = new Map<string, Failure>();
  const calls: Dependency[] = ['docs', ...slackParts];
  const states: [name: string, state: StateCheck][] = calls.map((part) => [
    upstreamOf(part),
    () => stateOf(snapshots.get(part)),
  ]);
  const checks: ProblemCheck[] = [];
  const logProblems = createProblemLog(log, now);
  const keyOf = ({ of, operation }: CallKind) => `${of} ${operation}`;
  const startedMs = monotonicMs();
  /** The last call with each key of the platform, and to each workspace's Slack: when it ended, and whether it failed. */
  const lastCalls = new Map<string, { atMs: number; isFailed: boolean }>();
  const noteCall = (id: string, isFailed: boolean) => lastCalls.set(id, { atMs: monotonicMs(), isFailed });
  let share = (_part: Dependency, _seen: HealthSnapshot) => {};
  let ready = false;

  /** Returns the failures that are problems now. */
  function present(prefix = ''): Failure[] {
    for (const [key, { seenMs }] of failures) if (now() - seenMs >= FORGET_MS) failures.delete(key);
    return [...failures.values()].filter(({ name, isProblem }) => isProblem && name.startsWith(prefix));
  }

  /** Whether a success of `kind`, whose last failure was `before`, ends a failure. `isSure`: the answer is the platform's own. */
  function isDisproved(failure: Failure, kind: CallKind, before: Failure | undefined, isSure: boolean) {
    const { name, of, keyId, seenMs } = failure;
    if (name === 'slack_token') return of === kind.of;
    if (name.startsWith('docs_') ? kind.keyId === undefined : of !== kind.of) return false;
    if (name === 'docs_key') return keyId === kind.keyId;
    if (name === 'docs_unreachable') return isSure;
    // A call that failed with the same problem works now; others may have worked all the time.
    if (name === before?.name && (name !== 'docs_forbidden' || keyId === kind.keyId)) return true;
    return !/forbidden|limited/.test(name) && now() - seenMs > retryMs;
  }

  function problems(): Problem[] {
    // Each text once.
    const ofCalls = new Map(present().map(({ name, level, text, of }) => [text, { name, level, text, of }]));
    return [...ofCalls.values(), ...checks.flatMap((find) => find())];
  }

  const logAll = () => logProblems([...present(), ...checks.flatMap((find) => find())]);

  server.route('GET /healthz', (_, response) => sendJson(response, 200, { alive: true }));
  server.route('GET /readyz', async (_, response) => {
    const found = await Promise.all(states.map(async ([name, state]) => [name, await state()] as const));
    found.sort(([, one], [, other]) => worstLast.indexOf(one) - worstLast.indexOf(other));
    // A part with several states shows the worst, which comes last.
    const shown = problems().map(({ name, level, text }) => ({ name, level, text }));
    const body = { ready, atMs: now(), parts: Object.fromEntries(found), problems: shown };
    sendJson(response, ready ? 200 : 503, body);
  });

  return {
    /** Returns all present problems. */
    problems,
    /** Adds a check of a part; of several, the worst state counts. `state` is quick and never rejects. */
    addPart: (name: string, state: StateCheck) => void states.push([name, state]),
    /** Adds a check for operators. It returns the present problems, with their fixes. */
    addProblems: (find: ProblemCheck) => void checks.push(find),
    /** Logs what began, lasts or is over. Call it at intervals. */
    logAll,
    /** Makes `/readyz` answer 200 from now on. */
    markReady() {
      ready = true;
    },
    /** Records a failure; `code` is a detail for the log. */
    failed(kind: CallKind, problem: CallProblem, isWaitedFor: boolean, code?: string | number) {
      const { name, level = 'error', text } = problem;
      noteCall(kind.keyId ?? kind.of, !name.endsWith('_limited'));
      const before = failures.get(keyOf(kind));
      const sinceMs = before?.sinceMs ?? now();
      const isProblem = before?.isProblem === true || isWaitedFor || now() - sinceMs >= afterMs;
      failures.set(keyOf(kind), { ...kind, name, level, text, code, sinceMs, seenMs: now(), isProblem });
      if (isProblem) logAll();
    },
    /** Ends the failures of this kind, and those that its answer disproves. */
    worked(kind: CallKind, isSure = true) {
      noteCall(kind.keyId ?? kind.of, false);
      if (failures.size === 0) return;
      const before = failures.get(keyOf(kind));
      for (const [key, failure] of failures)
        if (failure === before || isDisproved(failure, kind, before, isSure)) failures.delete(key);
      logAll();
    },
    /** Records a call, after its failure or success. `answered`: any answer, unless Slack refused the token. */
    record(part: Dependency, answered: boolean, refused = false) {
      const own = present(upstreamOf(part)).filter(({ of }) => part === 'docs' || of === part);
      const problems = own.map(({ of, text }) => ({ of, text }));
      const seen: HealthSnapshot = { answered, atMs: now(), ...(refused && { refused }) };
      if (problems.length > 0) seen.problems = problems;
      snapshots.set(part, seen);
      onCall(part, seen);
      share(part, seen);
    },
    /** Returns whether nobody has called with this key, or this Slack, for a while. The caller then does, and nobody else. */
    takeProbe(id: string): boolean {
      const { atMs, isFailed } = lastCalls.get(id) ?? { atMs: startedMs, isFailed: false };
      const isDue = monotonicMs() - atMs >= (isFailed ? probeMs / 4 : probeMs);
      if (isDue) noteCall(id, isFailed);
      return isDue;
    },
    snapshots: (): Partial<Record<Dependency, HealthSnapshot>> => Object.fromEntries(snapshots),
    /** Saves each state for the other processes from now on. */
    shareIn(store: ValueStores['health'], onError: (error: Error) => void) {
      const save = createChangeSaver({
        everyMs: SHARE_INTERVAL_MS,
        now,
        onError,
        save: (part: Dependency, state: Omit<HealthSnapshot, 'atMs'>) =>
          store.save(part, { ...state, atMs: now() }),
      });
      share = (part, { atMs: _, ...state }) => save(part, state);
      for (const [part, seen] of snapshots) share(part, seen);
    },
  };
}

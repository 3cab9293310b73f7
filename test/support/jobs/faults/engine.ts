import type { Redis } from 'ioredis';
import { DocsApiError } from '../../../../src/docs-api/errors.ts';
import { runOnce } from '../../../../src/jobs/engine/job.ts';
import type { WorkerContext } from '../../../../src/jobs/index.ts';
import { jobs } from '../../../../src/jobs/index.ts';
import type { Wait } from '../../../../src/runtime/later.ts';
import { wait } from '../../../../src/runtime/later.ts';
import { backoffMs, defaultTiming } from '../../../../src/runtime/timing.ts';
import { SlackApiError } from '../../../../src/slack/errors.ts';
import { createDueStore } from '../../../../src/store/due.ts';
import { keys } from '../../../../src/store/keys.ts';
import { memberOf, parseMember, type RunRef } from '../../../../src/store/run-scripts.ts';
import { seeded } from '../../seeded.ts';
import { redisOf } from './redis.ts';

/** One call to Redis, to the docs API or to Slack. `unclear` and `isTooLate` exist only for the two APIs. */
export interface Crossing<T> {
  name: string;
  call: () => T | Promise<T>;
  /** Returns an error of a call that certainly had no effect. */
  failed: () => Error;
  /** Returns an error that proves nothing. Without it, the connection repeats a call whose answer was lost. */
  unclear?: () => Error;
  isTooLate?: (() => boolean) | undefined;
  tooLate?: () => Error;
  /** The longest that the caller waits for an answer. */
  limitMs?: number;
  /** It cannot be repeated. */
  isOnce?: true;
}

/** A process as its jobs see it. After its death, no call is ever answered. */
export interface Process {
  redis: Redis;
  cross<T>(crossing: Crossing<T>): Promise<T>;
}

const BOTH = [
  'dies before',
  'dies after',
  'fails',
  'answer lost',
  'freezes before',
  'freezes after',
] as const;
const OF_APIS = [
  ...BOTH,
  ...(['no answer', 'arrives late', 'dies, arrives late', 'stops, arrives late'] as const),
] as const;
type Fault = (typeof OF_APIS)[number];

/** Repeated errors after which a job gives up, as in `jobs/engine/workers.ts`. */
const POISON_ERRORS = 8;

/** More executions than any scenario needs: then something is due for ever. */
const MAX_EXECUTIONS = 3000;

/** Calls that only read. */
const READ = /\.(?:get|find|channel|fileInfo)/;

/** A paused schedule is never due. */
const timeOf = (score: string | undefined) => (score === 'inf' ? Infinity : Number(score));

/** How often a frozen process goes on for some calls before a call of the one that took its step over. */
const OVERTAKING = 0.2;
const MAX_CALLS = 8;

/** Faults come with seconds between them. */
const MIN_GAP_MS = 3000;

/** An execution of one step. It holds the lock of its subject until `lockedUntilMs`. */
interface Execution {
  key: string;
  lockedUntilMs: number;
  interrupted: PromiseWithResolvers<void>;
  isOver: boolean;
  done: Promise<void>;
}

/** A process as the engine has it. */
interface Executor extends Process {
  /** The step that it executes, or executed last. */
  execution?: Execution;
  /** If it is frozen, it goes on for so many calls. */
  goOn(calls: number): Promise<void>;
}

export type Engine = ReturnType<typeof createEngine>;

/**
 * Executes what is due, as BullMQ and the sweeper do, at a clock that it moves. One step runs at a time, except that a
 * frozen one continues between the calls of the one that took over, or later. Everything follows from the seed.
 */
export function createEngine(
  redis: Redis,
  clock: { ms: number },
  { seed, maxFaults }: { seed: number; maxFaults: number },
) {
  const random = seeded(seed);
  const faultRandom = seeded(seed ^ 0x5bd1e995);
  const upTo = (ms: number) => Math.round(faultRandom() * ms);
  const startMs = clock.ms;
  const faults: string[] = [];
  const problems: string[] = [];
  const planned: { atMs: number; act: () => unknown }[] = [];
  const locks = new Map<string, Execution>();
  /** Processes that froze in a step that is not over. */
  const frozen = new Set<Executor>();
  const errors = new Map<string, number>();
  const ownErrors = new WeakSet<Error>();
  /** A rare fault strikes late, a frequent one early. */
  const chance = [0.005, 0.02, 0.06][Math.floor(faultRandom() * 3)] ?? 0;
  let aimed: { at: RegExp; crossings: number } | undefined;
  let faultsLeft = maxFaults;
  let nextFaultMs = 0;
  let executions = 0;
  /** Processes of earlier generations are dead. */
  let generation = 0;
  let present: { process: Executor; context: WorkerContext } | undefined;
  let contextOf: (process: Process) => WorkerContext = () => {
    throw new Error('no context');
  };

  const plan = (atMs: number, act: () => unknown) => void planned.push({ atMs, act });
  /** A call takes effect without anybody who waits for it. */
  const arriveAt = (atMs: number, call: () => unknown) =>
    plan(atMs, async () => {
      await Promise.try(call).catch(() => {});
    });
  const redisFailed = () => {
    const error = new Error('OOM command not allowed');
    ownErrors.add(error);
    return error;
  };

  function nextFault({ name, unclear, isOnce }: Crossing<unknown>, key?: string): Fault | undefined {
    const isAimed = aimed?.at.test(`${key} ${name}`) && aimed.crossings-- <= 0;
    if (isAimed) aimed = undefined;
    else if (faultsLeft === 0 || clock.ms < nextFaultMs) return undefined;
    // Steps have many commands to Redis, and few calls that change anything elsewhere.
    const weight = unclear === undefined ? 1 : READ.test(name) ? 3 : 20;
    if (!isAimed && faultRandom() >= weight * chance) return undefined;
    const kinds = unclear === undefined ? BOTH : OF_APIS;
    const kind = kinds[Math.floor(faultRandom() * kinds.length)];
    if (kind === 'answer lost' && isOnce) return undefined;
    faultsLeft = Math.max(0, faultsLeft - 1);
    nextFaultMs = clock.ms + MIN_GAP_MS + upTo(20_000);
    faults.push(`${((clock.ms - startMs) / 1000).toFixed(1)} s: ${name} ${kind} (${key})`);
    return kind;
  }

  /** A process: it lives until it dies or freezes. */
  function startProcess(): Executor {
    let state: 'running' | 'frozen' | 'dead' = 'running';
    let thawed = Promise.withResolvers<void>();
    /** Calls until it freezes again. */
    let callsLeft = Infinity;
    const own = generation;
    const isDead = () => state === 'dead' || generation !== own;

    async function gate(): Promise<void> {
      while (state !== 'running' || isDead()) await (isDead() ? new Promise(() => {}) : thawed.promise);
    }
    /** By default, its lock was renewed within the last half of its time; stalled jobs are found every 5 s. */
    function leave(inMs = defaultTiming.lockMs / 2 + upTo(20_000)) {
      if (present?.process === process) present = undefined;
      const { execution } = process;
      if (execution === undefined) return;
      execution.lockedUntilMs = clock.ms + inMs;
      execution.interrupted.resolve();
    }
    function die(inMs?: number) {
      state = 'dead';
      frozen.delete(process);
      leave(inMs);
    }
    async function goOn(calls: number) {
      const { execution } = process;
      if (state !== 'frozen' || isDead() || !execution) return;
      callsLeft = calls;
      state = 'running';
      execution.interrupted = Promise.withResolvers();
      thawed.resolve();
      await settle(execution);
      if (execution.isOver) frozen.delete(process);
    }
    function freeze() {
      // Two of its calls at once.
      if (state === 'frozen') return;
      state = 'frozen';
      thawed = Promise.withResolvers();
      leave();
      frozen.add(process);
      plan(clock.ms + (faultRandom() < 0.5 ? upTo(10_000) : 20_000 + upTo(100_000)), () => goOn(Infinity));
    }
    async function letOthersGoOn() {
      const others = [...frozen].filter(({ execution }) => execution?.key === process.execution?.key);
      for (const other of others)
        if (other !== process && faultRandom() < OVERTAKING) await other.goOn(1 + upTo(MAX_CALLS));
    }

    async function cross<T>(crossing: Crossing<T>): Promise<T> {
      if (callsLeft-- <= 0) freeze();
      await gate();
      if (frozen.size > 0) await letOthersGoOn();
      const { call, failed, unclear, isTooLate, tooLate = failed, limitMs = 0 } = crossing;
      const perform = async () => {
        if (isTooLate?.()) throw tooLate();
        if (unclear !== undefined) clock.ms += 20 + upTo(280);
        return call();
      };
      const lose = (error: Error) => {
        // It was a time limit, or the connection broke at once.
        if (faultRandom() < 0.5) clock.ms += limitMs;
        throw error;
      };
      const fault = nextFault(crossing as Crossing<unknown>, process.execution?.key);
      try {
        switch (fault) {
          case 'dies before':
            die();
            break;
          case 'dies after':
            await perform();
            die();
            break;
          case 'dies, arrives late':
            arriveAt(clock.ms + upTo(limitMs), call);
            die();
            break;
          case 'stops, arrives late':
            arriveAt(clock.ms + upTo(limitMs), call);
            // It waits for its calls until then, and hands its work back.
            die(defaultTiming.shutdownMs);
            break;
          case 'fails':
            throw failed();
          case 'no answer':
            return lose(unclear?.() ?? failed());
          case 'answer lost':
            await perform();
            return unclear === undefined ? await perform() : lose(unclear());
          case 'arrives late':
            try {
              return lose(unclear?.() ?? failed());
            } finally {
              arriveAt(clock.ms + upTo(defaultTiming.callMarginMs), call);
            }
          case 'freezes before':
            freeze();
            await gate();
            return await perform();
          case 'freezes after': {
            const answer = await perform();
            freeze();
            await gate();
            return answer;
          }
        }
        await gate();
        return await perform();
      } finally {
        await gate();
      }
    }
    const process: Executor = { cross, goOn, redis: redisOf(redis, cross, redisFailed) };
    return process;
  }

  /** Waits until an execution ends, dies or freezes. */
  async function settle(execution: Execution): Promise<void> {
    await Promise.race([execution.done, execution.interrupted.promise]);
    if (execution.isOver && locks.get(execution.key) === execution) locks.delete(execution.key);
  }

  function start(ref: RunRef): Execution {
    executions += 1;
    const execution: Execution = {
      key: memberOf(ref),
      lockedUntilMs: Infinity,
      interrupted: Promise.withResolvers(),
      isOver: false,
      done: Promise.resolve(),
    };
    locks.set(execution.key, execution);
    if (present === undefined) {
      const process = startProcess();
      present = { process, context: contextOf(process) };
    }
    const { process, context } = present;
    process.execution = execution;
    execution.done = execute(ref, execution, process, context)
      .catch(noteError)
      .then(() => {
        execution.isOver = true;
      });
    return execution;
  }

  async function execute(ref: RunRef, execution: Execution, { redis }: Process, context: WorkerContext) {
    const due = createDueStore(redis);
    const { wakes } = await due.begin(ref);
    const job = jobs.find(({ name }) => name === ref.job);
    let next: Wait | undefined;
    try {
      if (job === undefined) throw new Error(`no job ${ref.job}`);
      next = await runOnce(job, ref.id, context);
      errors.delete(execution.key);
    } catch (error) {
      noteError(error);
      const count = (errors.get(execution.key) ?? 0) + 1;
      errors.set(execution.key, count);
      next = wait(backoffMs(defaultTiming, count, 0.5));
      if (count >= POISON_ERRORS) {
        errors.delete(execution.key);
        next = undefined;
        await job?.giveUp?.(ref.id, context, 'ref');
      }
    }
    // Only the holder of its lock may delay a BullMQ job.
    if (next !== undefined && holdsLock(execution)) await due.postpone(ref, next.inMs, wakes);
  }

  const holdsLock = (execution: Execution) =>
    locks.get(execution.key) === execution && clock.ms < execution.lockedUntilMs;

  function noteError(error: unknown) {
    const isExpected =
      error instanceof SlackApiError ||
      error instanceof DocsApiError ||
      (error instanceof Error && ownErrors.has(error));
    if (!isExpected) problems.push(`a step threw ${error instanceof Error ? error.stack : error}`);
  }

  async function listed(): Promise<{ ref: RunRef; dueMs: number }[]> {
    const found = await redis.zrange(keys.activeRuns(), '0', '-1', 'WITHSCORES');
    const entries: { ref: RunRef; dueMs: number }[] = [];
    for (let at = 0; at < found.length; at += 2)
      entries.push({ ref: parseMember(found[at] ?? ''), dueMs: timeOf(found[at + 1]) });
    return entries;
  }

  return {
    random,
    redis,
    faults,
    problems,
    plan,
    now: () => clock.ms,
    setContext(create: (process: Process) => WorkerContext) {
      contextOf = create;
    },

    /** Has a fault strike after so many calls of a kind, which are named as `<job> <id> <call>`. */
    strike(at: RegExp, crossings: number) {
      aimed = { at, crossings };
    },

    /** Kills all processes; the next step begins in a new one. Not during a step. */
    stopAll() {
      generation += 1;
      present = undefined;
      locks.clear();
      frozen.clear();
    },

    /** Executes all that is due until nothing is, or until a time. */
    async untilIdle(untilMs: number) {
      while (executions < MAX_EXECUTIONS) {
        planned.sort((one, other) => one.atMs - other.atMs);
        const [first] = planned;
        if (first !== undefined && first.atMs <= clock.ms) {
          planned.shift();
          await first.act();
          continue;
        }
        for (const [key, { lockedUntilMs }] of locks) if (lockedUntilMs <= clock.ms) locks.delete(key);
        const times = first === undefined ? [] : [first.atMs];
        const ready: RunRef[] = [];
        for (const { dueMs, ref } of await listed()) {
          const lock = locks.get(memberOf(ref));
          const readyMs = Math.max(dueMs, lock?.lockedUntilMs ?? 0);
          if (readyMs <= clock.ms) ready.push(ref);
          else times.push(readyMs);
        }
        const next = ready[Math.floor(random() * ready.length)];
        if (next !== undefined) {
          clock.ms += 1;
          await settle(start(next));
          continue;
        }
        const nextMs = Math.min(...times);
        if (nextMs === Infinity || nextMs > untilMs) return;
        clock.ms = Math.ceil(nextMs);
      }
      const members = (await listed()).map(({ ref, dueMs }) => `${memberOf(ref)} at ${dueMs - startMs}`);
      problems.push(`due for ever: ${members.join(', ')}`);
    },
  };
}

import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { logScope } from '../runtime/log-scope.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import { loadRecords } from './records.ts';
import type { RedisClient } from './redis/client.ts';
import { askTime } from './redis/clock.ts';
import {
  acceptScript,
  markIdleScript,
  memberOf,
  parseMember,
  saveArgs,
  saveKeys,
  saveScript,
  unlistScript,
  wakeScript,
} from './run-lua.ts';

/** The fields of every run: one accepted request, until its visible outcome. */
export const runBase = z.object({
  id: z.string(),
  teamId: z.string(),
  /** The name of the job that works on it. */
  job: z.string(),
  /** Counts the saves; a save of an older revision is refused. */
  rev: z.number().int(),
  /** A name that no other run holds while this one lives. */
  claim: z.string().optional(),
  /** Ids of the people whose Home shows it. */
  people: z.array(z.string()).default([]),
  /** A setting: kept until a person ends it; other records expire. */
  lasting: z.boolean().optional(),
});
export type RunBase = z.infer<typeof runBase>;

export type Acceptance =
  /** Kept: whatever happens next, it ends in a visible outcome. */
  | { kind: 'accepted' }
  /** The same request is stored already. */
  | { kind: 'repeated' }
  /** Another run holds the claim. */
  | { kind: 'claimed'; by: string }
  /** One of the quotas is full: its place in the list, and the oldest of its active runs. */
  | { kind: 'full'; quota: number; by: string }
  /** Redis reached it after the deadline; nothing was written. */
  | { kind: 'late' }
  /** The run was changed since it was read. */
  | { kind: 'stale' };

/** At most `max` runs under one name may be active, that is, listed and not ended. */
export interface Quota {
  name: string;
  max: number;
  /** A setting: counted as long as its runs are kept; others count for a month after the last one was accepted. */
  lasting?: boolean;
}

/**
 * Runs of all kinds. A `deadlineMs` is a time of Redis' own clock (`timeMs`): if a frozen Redis reaches a write after
 * it, Redis refuses the write.
 */
export type RunStore = ReturnType<typeof createRunStore>;

/** Maximum active runs that a list reads. */
const SOME_RUNS = 200;

/** Maximum runs that a person's Home can show; older ones are dropped from it. */
const PERSON_RUNS = 50;

export function createRunStore(redis: RedisClient) {
  async function write(
    run: RunBase,
    expected: string,
    deadlineMs: number,
    claimMs: number,
    responseUrl: string | undefined,
    quotas: readonly Quota[],
  ): Promise<Acceptance> {
    const claims = claimMs > 0 && run.claim !== undefined;
    const touched = [
      keys.run(run.id),
      keys.activeRuns(),
      keys.responseUrl(run.id),
      keys.claim(run.claim ?? ''),
      keys.inbox(run.id),
      ...quotas.map(({ name }) => keys.quota(name)),
      ...run.people.map((userId) => keys.runsOf(run.teamId, userId)),
    ];
    const answer = await acceptScript(redis, touched, [
      deadlineMs,
      run.id,
      JSON.stringify(run),
      expected,
      run.rev,
      retention.runMs,
      memberOf(run),
      claimMs,
      responseUrl ?? '',
      retention.responseUrlMs,
      claims ? '1' : '0',
      PERSON_RUNS,
      run.lasting === true ? '1' : '0',
      keys.run(''),
      memberOf({ job: run.job, id: '' }),
      logScope()?.ref ?? '',
      ...quotas.map(({ max }) => max),
      ...quotas.map(({ lasting }) => (lasting === true ? '1' : '0')),
    ]);
    switch (answer[0]) {
      case 'claimed':
        return { kind: answer[0], by: answer[1] };
      case 'full':
        return { kind: answer[0], by: answer[1], quota: answer[2] };
      default:
        return { kind: answer[0] };
    }
  }

  async function active() {
    return (await redis.zrange(keys.activeRuns(), '0', '-1')).map(parseMember);
  }

  async function loadAll<R extends RunBase>(ids: readonly string[], schema: z.ZodType<R>): Promise<R[]> {
    const records = await loadRecords(redis, ids);
    return records.flatMap(([, json]) => {
      const read = schema.safeParse(parseJson(json));
      return read.success ? [read.data] : [];
    });
  }

  async function saveWithWakes<R extends RunBase>(
    run: R,
    release = false,
  ): Promise<{ run: R; wakes: number } | undefined> {
    const next = { ...run, rev: run.rev + 1 };
    const wakes = await saveScript(redis, saveKeys(run), [...saveArgs(run, next), release ? '1' : '0']);
    return wakes === null ? undefined : { run: next, wakes };
  }

  return {
    /** The clock of Redis, in epoch milliseconds. */
    timeMs: (): Promise<number> => askTime(redis),
    /**
     * Writes a new run, which from then on counts toward the `quotas`. `responseUrl` is a secret, stored apart from the
     * run and only as long as Slack accepts it.
     */
    accept: (
      run: RunBase,
      deadlineMs: number,
      claimMs: number,
      responseUrl: string | undefined,
      quotas: readonly Quota[] = [],
    ): Promise<Acceptance> => write(run, '', deadlineMs, claimMs, responseUrl, quotas),
    /**
     * Writes the next state of a run that a person changed; `run` has the revision that was read. With a `claimMs` of 0
     * it neither needs nor takes its claim. With a `responseUrl`, later answers go to this person.
     */
    resume: (
      run: RunBase,
      deadlineMs: number,
      claimMs: number,
      quotas: readonly Quota[] = [],
      responseUrl?: string,
    ): Promise<Acceptance> =>
      write({ ...run, rev: run.rev + 1 }, String(run.rev), deadlineMs, claimMs, responseUrl, quotas),
    /**
     * Saves the next state of a run and returns it with its new revision; undefined if `run` was not the latest.
     * `release` frees its claim in the same write.
     */
    async save<R extends RunBase>(run: R, release = false): Promise<R | undefined> {
      return (await saveWithWakes(run, release))?.run;
    },
    /** The same, which returns what `loadWithWakes` would return now. */
    saveWithWakes,
    /**
     * Marks the run idle until it is woken. `release` frees its claim. Returns false if `run` was not the latest, or
     * was woken since it had `wakes`.
     */
    async markIdle(run: RunBase, release: boolean, wakes?: number): Promise<boolean> {
      const claim = release && run.claim !== undefined ? [keys.claim(run.claim)] : [];
      const touched = [keys.run(run.id), keys.activeRuns(), ...claim];
      const idle = await markIdleScript(redis, touched, [run.rev, run.id, memberOf(run), wakes ?? '']);
      return idle === 1;
    },
    /** Makes a run due, even if it is idle or becoming idle. A run without a record stays as it is. */
    async markDue(job: string, runId: string) {
      await wakeScript(redis, [keys.run(runId), keys.activeRuns()], [memberOf({ job, id: runId })]);
    },
    /** Removes a run without a record from the due list. */
    async unlist(job: string, runId: string) {
      const touched = [keys.activeRuns(), keys.run(runId), keys.inbox(runId)];
      await unlistScript(redis, touched, [memberOf({ job, id: runId }), retention.runMs]);
    },
    /** Removes a run with a damaged record from the due list; the record stays. */
    async abandon(job: string, runId: string) {
      await redis.zrem(keys.activeRuns(), memberOf({ job, id: runId }));
    },
    /** Throws a `ZodError` for a damaged record. */
    async load<R extends RunBase>(runId: string, schema: z.ZodType<R>): Promise<R | undefined> {
      return readRun(await redis.hget(keys.run(runId), 'json'), schema);
    },
    /** The same with its number of wakes, for `markIdle`. */
    async loadWithWakes<R extends RunBase>(
      runId: string,
      schema: z.ZodType<R>,
    ): Promise<{ run: R; wakes: number } | undefined> {
      const [json = null, wakes] = await redis.hmget(keys.run(runId), 'json', 'wakes');
      const run = readRun(json, schema);
      return run && { run, wakes: Number(wakes ?? 0) };
    },
    /** Returns the runs of a person, newest first. */
    ofPerson: (teamId: string, userId: string): Promise<string[]> =>
      redis.zrevrange(keys.runsOf(teamId, userId), 0, -1),
    /** Gives a run a further name, valid as long as the run is kept. */
    async alias(name: string, runId: string) {
      await redis.set(keys.alias(name), runId, 'PX', retention.runMs);
    },
    async byAlias(name: string): Promise<string | undefined> {
      return (await redis.get(keys.alias(name))) ?? undefined;
    },
    /** The active runs, the first due first. */
    active,
    /** Returns the full active runs of one job, oldest first. Unreadable records are left out. */
    async activeOf<R extends RunBase>(schema: z.ZodType<R>, job: string): Promise<R[]> {
      return loadAll(await redis.zrange(keys.activeRunsOf(job), '0', '-1'), schema);
    },
    /**
     * Returns some active runs of one job: all that count toward these quotas, then others, at most `max`. `complete`:
     * there are no more. The cost does not grow with the number of runs.
     */
    async someOf<R extends RunBase>(
      schema: z.ZodType<R>,
      job: string,
      quotas: readonly string[],
      max: number,
    ): Promise<{ runs: R[]; complete: boolean }> {
      const index = keys.activeRunsOf(job);
      const [listed, count, ...counted] = await Promise.all([
        redis.zrange(index, '0', String(SOME_RUNS - 1)),
        redis.zcard(index),
        ...quotas.map((name) => redis.zrange(keys.quota(name), '0', '-1')),
      ]);
      const first = [...new Set(counted.flat())];
      const scores = first.length === 0 ? [] : await redis.zmscore(index, ...first);
      const atWork = first.filter((_, index) => scores[index] != null);
      const others = listed.filter((id) => !atWork.includes(id));
      return {
        runs: await loadAll([...atWork, ...others.slice(0, max)], schema),
        complete: others.length <= max && count <= SOME_RUNS,
      };
    },
    /** Returns the runs with these ids, in order. Unreadable records are left out. */
    loadAll,
    async responseUrl(runId: string): Promise<string | undefined> {
      return (await redis.get(keys.responseUrl(runId))) ?? undefined;
    },
  };
}

/** Returns the run of a record; undefined if there is none. Throws a `ZodError` for a damaged record. */
export const readRun = <R extends RunBase>(json: string | null, schema: z.ZodType<R>): R | undefined =>
  json === null ? undefined : schema.parse(parseJson(json));

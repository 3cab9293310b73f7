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

/** What every run has: one accepted request, from the moment it was accepted to its visible outcome. */
export const runBase = z.object({
  id: z.string(),
  teamId: z.string(),
  /** The name of the job that works on it. */
  job: z.string(),
  /** Counts the saves; a save of an older state is refused. */
  rev: z.number().int(),
  /** A name that no other run holds while this one lives. */
  claim: z.string().optional(),
  /** Ids of the people whose Home shows it. */
  people: z.array(z.string()).default([]),
  /** A setting: kept until somebody ends it; else the record has a time to live. */
  lasting: z.boolean().optional(),
});
export type RunBase = z.infer<typeof runBase>;

export type Acceptance =
  /** Kept: whatever happens from here on, it ends in a visible outcome. */
  | { kind: 'accepted' }
  /** The very same request is kept already. */
  | { kind: 'repeated' }
  /** Another run holds the claim. */
  | { kind: 'claimed'; by: string }
  /** As many runs as one of the quotas allows are at work: its place in the list, and the oldest of those runs. */
  | { kind: 'full'; quota: number; by: string }
  /** The deadline had passed when Redis came to it; nothing was written. */
  | { kind: 'late' }
  /** Somebody changed the run since it was read. */
  | { kind: 'stale' };

/** Of the runs under one name, `max` may be at work at once: they are listed, and have not ended. */
export interface Quota {
  name: string;
  max: number;
  /** A setting: counted for as long as its runs are kept; else for a month after the last one was accepted. */
  lasting?: boolean;
}

/**
 * Runs of all kinds. A `deadlineMs` is a time of Redis' own clock (`timeMs`): a write that a frozen Redis
 * comes to after it refuses by itself.
 */
export type RunStore = ReturnType<typeof createRunStore>;

/** Runs at work that a list looks at. */
const SOME_RUNS = 200;

/** Runs that a person's Home can show; older ones are forgotten there. */
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
     * Writes a new run, which counts toward the `quotas` from then on. `responseUrl` is a secret, kept apart from the run
     * and only while Slack honours it.
     */
    accept: (
      run: RunBase,
      deadlineMs: number,
      claimMs: number,
      responseUrl: string | undefined,
      quotas: readonly Quota[] = [],
    ): Promise<Acceptance> => write(run, '', deadlineMs, claimMs, responseUrl, quotas),
    /**
     * Writes the next state of a run that a person changed; `run` carries the revision that was read. With a `claimMs`
     * of 0 it neither needs its claim nor takes it. With a `responseUrl`, answers go to this person from now on.
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
     * Saves the next state of a run and returns it with its new revision; undefined when `run` was not the latest.
     * `release` frees its claim in the same write.
     */
    async save<R extends RunBase>(run: R, release = false): Promise<R | undefined> {
      return (await saveWithWakes(run, release))?.run;
    },
    /** The same, which returns what `loadWithWakes` would return now. */
    saveWithWakes,
    /**
     * The run has nothing to do until it is woken. `release` frees its claim. Returns whether it is so: not when `run`
     * was not the latest, nor when the run was woken since it had `wakes`.
     */
    async markIdle(run: RunBase, release: boolean, wakes?: number): Promise<boolean> {
      const claim = release && run.claim !== undefined ? [keys.claim(run.claim)] : [];
      const touched = [keys.run(run.id), keys.activeRuns(), ...claim];
      const idle = await markIdleScript(redis, touched, [run.rev, run.id, memberOf(run), wakes ?? '']);
      return idle === 1;
    },
    /** Has a run stepped, also one that is idle or just becoming so. One without a record stays so. */
    async markDue(job: string, runId: string) {
      await wakeScript(redis, [keys.run(runId), keys.activeRuns()], [memberOf({ job, id: runId })]);
    },
    /** Takes a run without a record from those that are due. */
    async unlist(job: string, runId: string) {
      const touched = [keys.activeRuns(), keys.run(runId), keys.inbox(runId)];
      await unlistScript(redis, touched, [memberOf({ job, id: runId }), retention.runMs]);
    },
    /** Takes a run whose record is damaged from those that are due; the record stays. */
    async abandon(job: string, runId: string) {
      await redis.zrem(keys.activeRuns(), memberOf({ job, id: runId }));
    },
    /** Throws a `ZodError` for a damaged record. */
    async load<R extends RunBase>(runId: string, schema: z.ZodType<R>): Promise<R | undefined> {
      return readRun(await redis.hget(keys.run(runId), 'json'), schema);
    },
    /** The same with how often it was woken, for `markIdle`. */
    async loadWithWakes<R extends RunBase>(
      runId: string,
      schema: z.ZodType<R>,
    ): Promise<{ run: R; wakes: number } | undefined> {
      const [json = null, wakes] = await redis.hmget(keys.run(runId), 'json', 'wakes');
      const run = readRun(json, schema);
      return run && { run, wakes: Number(wakes ?? 0) };
    },
    /** The runs that concern a person, newest first. */
    ofPerson: (teamId: string, userId: string): Promise<string[]> =>
      redis.zrevrange(keys.runsOf(teamId, userId), 0, -1),
    /** Gives a run one more name, by which it is found for as long as it is kept. */
    async alias(name: string, runId: string) {
      await redis.set(keys.alias(name), runId, 'PX', retention.runMs);
    },
    async byAlias(name: string): Promise<string | undefined> {
      return (await redis.get(keys.alias(name))) ?? undefined;
    },
    /** The runs that have something to do, the one that is due first first. */
    active,
    /** Those of one job, the oldest first, in full. Those without a record that can be read are left out. */
    async activeOf<R extends RunBase>(schema: z.ZodType<R>, job: string): Promise<R[]> {
      return loadAll(await redis.zrange(keys.activeRunsOf(job), '0', '-1'), schema);
    },
    /**
     * Some runs of one job that are at work: all that count toward these quotas, then others, `max` at most. `complete`
     * says that there are no more. What it costs does not grow with how many there are.
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
    /** The runs with these ids, in their order. Those without a record that can be read are left out. */
    loadAll,
    async responseUrl(runId: string): Promise<string | undefined> {
      return (await redis.get(keys.responseUrl(runId))) ?? undefined;
    },
  };
}

/** Returns the run of a record; nothing when there is none. Throws a `ZodError` for a damaged record. */
export const readRun = <R extends RunBase>(json: string | null, schema: z.ZodType<R>): R | undefined =>
  json === null ? undefined : schema.parse(parseJson(json));

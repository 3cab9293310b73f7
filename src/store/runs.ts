import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { logScope } from '../runtime/log.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { askTime } from './redis/clock.ts';
import {
  acceptScript,
  appendEvent,
  type InboxEntry,
  loadAllScript,
  loadScript,
  markIdle,
  memberOf,
  parseMember,
  type RunRef,
  recordKey,
  saveScript,
  takeAliasScript,
  wakeScript,
} from './run-scripts.ts';

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
  people: z.array(z.string()),
  /** Each job has states of its own. */
  state: z.string().optional(),
  /** Its open questions, as Home tabs and indexes know them. */
  needs: z.array(z.string()).optional(),
  /** A setting: kept until a person ends it; other records expire. */
  permanent: z.boolean().optional(),
  /** How long the record is kept otherwise; by default as `retention.runMs`. */
  keptMs: z.number().optional(),
});
export type RunBase = z.infer<typeof runBase>;

/** At most `max` runs under one name may be at work: each counts until it ends, or for a month. */
export interface Quota {
  name: string;
  max: number;
}

export interface AcceptOptions {
  /** The time of Redis after which nothing is written; by default never. */
  deadlineMs?: number;
  /** The longest duration of the claim; by default the run takes none. */
  claimMs?: number;
  /** A secret, stored apart from the run. */
  responseUrl?: string | undefined;
  quotas?: readonly Quota[] | undefined;
}

/** A run as a step loads it: its inbox (oldest first, at most 100 entries), and its number of wakes, for `markIdle`. */
export interface LoadedRun<R> {
  run: R;
  inbox: unknown[];
  wakes: number;
}

/**
 * Runs of all kinds. After `deadlineMs` of its own clock (`timeMs`), Redis refuses a write with a `ReplyError`, even if it
 * was frozen.
 */
export type RunStore = ReturnType<typeof createRunStore>;

/** Inbox entries that one step takes at most. */
const INBOX_BATCH = 100;

const CHUNK = 200;

/** Maximum active runs that a list reads. */
const LATEST_RUNS = 200;

/** Maximum runs that a person's Home can show; older ones are dropped from it. */
const PERSON_RUNS = 50;

export function createRunStore(redis: RedisClient) {
  async function write(
    run: RunBase,
    expected: string,
    { deadlineMs = Number.MAX_SAFE_INTEGER, claimMs = 0, responseUrl = '', quotas = [] }: AcceptOptions = {},
  ) {
    const touched = [
      keys.run(run.id),
      keys.activeRuns(),
      keys.responseUrl(run.id),
      keys.claim(run.claim ?? ''),
      keys.inbox(run.id),
      keys.index(run.job, run.teamId),
      ...quotas.map(({ name }) => keys.quota(name)),
      ...run.people.map((userId) => keys.runsOf(run.teamId, userId)),
    ];
    const answer = await acceptScript(redis, touched, [
      deadlineMs,
      run.id,
      JSON.stringify(run),
      expected,
      run.rev,
      run.keptMs ?? retention.runMs,
      memberOf(run),
      run.claim === undefined ? 0 : claimMs,
      responseUrl,
      retention.responseUrlMs,
      PERSON_RUNS,
      run.permanent === true ? '1' : '0',
      logScope()?.ref ?? '',
      run.teamId,
      ...[toIndexEntry(run), howIndexed(run)],
      ...quotas.map(({ max }) => max),
    ]);
    if (answer[0] === 'claimed') return { kind: answer[0], by: answer[1] };
    if (answer[0] === 'full') return { kind: answer[0], by: answer[1], quota: answer[2] };
    return { kind: answer[0] };
  }

  async function loadAll<R extends RunBase>(ids: readonly string[], schema: z.ZodType<R>): Promise<R[]> {
    const found: R[] = [];
    for (let from = 0; from < ids.length; from += CHUNK) {
      const chunk = ids.slice(from, from + CHUNK);
      const records = await loadAllScript(redis, chunk.map(keys.run));
      found.push(...records.flatMap((json) => schema.safeParse(parseJson(json)).data ?? []));
    }
    return found;
  }

  return {
    /** The clock of Redis, in epoch milliseconds. */
    timeMs: (): Promise<number> => askTime(redis),
    /**
     * Writes a new run, which will end in a visible outcome. `repeated`: it is stored already. `claimed`: another run holds
     * the claim. `full`: one of the quotas is full; `quota` is its place in the list, `by` the oldest of its active runs.
     */
    accept: (run: RunBase, options?: AcceptOptions) => write(run, '', options),
    /** The same for a run that a person changed, at the revision that was read. `stale`: that is not the latest. */
    resume: (run: RunBase, options?: AcceptOptions) =>
      write({ ...run, rev: run.rev + 1 }, String(run.rev), options),
    /**
     * Saves the next state of a run, drops the `consumed` oldest entries of its inbox, and with `release` frees the claim.
     * Returns it as `loadWithInbox` would; undefined if `run` was not the latest.
     */
    async saveStep<R extends RunBase>(
      run: R,
      { consumed = 0, release = false }: { consumed?: number; release?: boolean } = {},
    ): Promise<LoadedRun<R> | undefined> {
      const next = { ...run, rev: run.rev + 1 };
      const asked = new Set(run.needs?.map((need) => need.slice(0, need.indexOf(' '))));
      const touched = [
        ...[keys.run(run.id), keys.inbox(run.id), keys.claim(run.claim ?? '')],
        keys.index(run.job, run.teamId),
        ...['', ...asked].map((userId) => keys.askedOf(run.teamId, userId)),
      ];
      const answer = await saveScript(redis, touched, [
        ...[run.rev, JSON.stringify(next), next.rev, run.id, run.permanent === true ? '1' : '0'],
        ...[run.keptMs ?? retention.runMs, consumed, toIndexEntry(next), howIndexed(next), INBOX_BATCH],
        ...[release ? '1' : '0', leavesQuotas(next) ? '1' : '0'],
      ]);
      if (answer[0] === 'stale') return undefined;
      return { run: next, wakes: answer[1], inbox: answer[2].map((text) => JSON.parse(text)) };
    },
    /** Removes the run from the due list until it is woken; see `markIdle` in `run-scripts.ts`. */
    markIdle: (run: RunBase, release: boolean, wakes: number | 'any' = 'any'): Promise<boolean> =>
      markIdle(redis, run, { rev: run.rev, wakes, claim: release ? run.claim : undefined }),
    /** Makes a run due, even if it is idle or becoming idle. A run without a record stays as it is. */
    async markDue(job: string, runId: string) {
      await wakeScript(redis, [keys.run(runId), keys.activeRuns()], [memberOf({ job, id: runId })]);
    },
    /** Adds an event to the inbox of a run, unless it is a repeat, and wakes the run. `gone`: there is no such run. */
    appendToInbox: (job: string, id: string, entry: InboxEntry, deadlineMs?: number) =>
      appendEvent(redis, { job, id }, entry, { deadlineMs }),
    /** Removes a run without a record from the due list, or one with a damaged record; that record stays. */
    async unlist(run: RunRef, isDamaged = false) {
      if (isDamaged) {
        await redis.sadd(keys.damaged(), memberOf(run));
        await redis.pexpire(keys.damaged(), retention.runMs);
      }
      await markIdle(redis, run, { rev: isDamaged ? 'any' : undefined });
    },
    /** Returns the runs and messages whose damaged record is still there. */
    async damaged(): Promise<RunRef[]> {
      const members = await redis.smembers(keys.damaged());
      const isThere = await Promise.all(
        members.map((member) => redis.exists(recordKey(parseMember(member)))),
      );
      const gone = members.filter((_, at) => isThere[at] === 0);
      if (gone.length > 0) await redis.srem(keys.damaged(), gone);
      return members.filter((_, at) => isThere[at] === 1).map(parseMember);
    },
    /** Makes them due: another version of Docket may be able to read them. */
    async retryDamaged() {
      for (const run of await this.damaged()) {
        await wakeScript(redis, [recordKey(run), keys.activeRuns()], [memberOf(run)]);
        await redis.srem(keys.damaged(), memberOf(run));
      }
    },
    /** Throws a `ZodError` for a damaged record. */
    async load<R extends RunBase>(runId: string, schema: z.ZodType<R>): Promise<R | undefined> {
      return readRun(await redis.hget(keys.run(runId), 'json'), schema);
    },
    /** The same for a step. */
    async loadWithInbox<R extends RunBase>(runId: string, schema: z.ZodType<R>) {
      const touched = [keys.run(runId), keys.inbox(runId)];
      const [[json, wakes], entries] = await loadScript(redis, touched, [INBOX_BATCH]);
      const run = readRun(json, schema);
      return run && { run, inbox: entries.map((entry) => JSON.parse(entry)), wakes: Number(wakes ?? 0) };
    },
    /** Returns the runs that ask a person something, however old, then the latest ones of this person; each newest first. */
    async ofPerson(teamId: string, userId: string): Promise<string[]> {
      const sets = [keys.askedOf(teamId, userId), keys.runsOf(teamId, userId)];
      const found = await Promise.all(sets.map((key) => redis.zrevrange(key, 0, -1)));
      return [...new Set(found.flat())];
    },
    /** Returns how many runs of a workspace have had an open question since before this time. */
    countAsking: (teamId: string, beforeMs: number): Promise<number> =>
      redis.zcount(keys.askedOf(teamId, ''), beforeMs - retention.runMs, beforeMs),
    /** Gives a run a further name, valid as long as the run is kept. */
    async alias(name: string, runId: string) {
      await redis.set(keys.alias(name), runId, 'PX', retention.runMs);
    },
    /** The same, if the alias is `expected` or `value`. Returns whether the alias is now `value`. */
    takeAlias: async (name: string, value: string, expected = ''): Promise<boolean> =>
      (await takeAliasScript(redis, [keys.alias(name)], [value, expected, retention.runMs])) === 1,
    async byAlias(name: string): Promise<string | undefined> {
      return (await redis.get(keys.alias(name))) ?? undefined;
    },
    /** The active runs, the first due first. */
    active: async () =>
      (await redis.zrange(keys.activeRuns(), '0', '-1'))
        .map(parseMember)
        .filter(({ job }) => job !== 'outbox'),
    /** Returns the full active runs of one job in a workspace, oldest first. Unreadable records are left out. */
    activeOf: async <R extends RunBase>(schema: z.ZodType<R>, job: string, teamId: string): Promise<R[]> =>
      loadAll(await redis.zrange(keys.activeRunsOf(job, teamId), '0', '-1'), schema),
    /** Returns the active runs of one job that a workspace accepted last. `complete`: there are no more. */
    async latestOf<R extends RunBase>(schema: z.ZodType<R>, job: string, teamId: string) {
      const ids = await redis.zrevrange(keys.activeRunsOf(job, teamId), 0, LATEST_RUNS);
      const runs = await loadAll(ids.slice(0, LATEST_RUNS), schema);
      return { runs, complete: ids.length <= LATEST_RUNS };
    },
    /** Returns the index entries of a job's runs in a workspace, in no order, without reading their records. */
    indexed: async <R extends RunBase>(job: R['job'], teamId: string): Promise<Indexed<R>[]> =>
      JSON.parse(`[${(await redis.hvals(keys.index(job, teamId))).join()}]`),
    /** Returns the runs with these ids, in order. Unreadable records are left out. */
    loadAll,
  };
}

/** Returns the run of a record; undefined if there is none. Throws a `ZodError` for a damaged record. */
const readRun = <R extends RunBase>(json: string | null, schema: z.ZodType<R>): R | undefined =>
  json === null ? undefined : schema.parse(parseJson(json));

/** Whether the run no longer counts toward its quotas. */
const leavesQuotas = ({ state }: RunBase) => state === 'ended' || state === 'removed';

/** Fields of a followed thread in the index, so that thousands can be listed without their records. */
export const INDEXED = {
  id: true,
  job: true,
  project: true,
  agentJobId: true,
  owner: true,
  asked: true,
  inDirectMessage: true,
  place: true,
  state: true,
  sinceMs: true,
  needs: true,
} as const;
/** The same of a schedule. */
const INDEXED_SCHEDULE = { ...INDEXED, timetable: true, nextAtMs: true } as const;
export type Indexed<R> = Pick<R, keyof typeof INDEXED_SCHEDULE & keyof R>;

/** Returns the index entry of a run. */
export const toIndexEntry = (run: object) =>
  JSON.stringify(Object.fromEntries(Object.entries(run).filter(([name]) => name in INDEXED_SCHEDULE)));

/** A schedule is in the index until it is removed. A thread gets into it once it is followed. */
const howIndexed = (run: RunBase) => ('timetable' in run ? (run.permanent ? 'add' : 'drop') : 'keep');

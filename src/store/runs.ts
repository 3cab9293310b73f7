import type { Redis } from 'ioredis';
import { z } from 'zod';
import { keep } from '../timing.ts';
import { keys } from './keys.ts';
import { LUA_NOW, luaScript } from './lua.ts';

/** What every run has: one accepted request, from the moment it was accepted to its visible outcome. */
export const runBase = z.object({
  v: z.literal(1),
  id: z.string(),
  teamId: z.string(),
  /** The name of the job that works on it. */
  job: z.string(),
  /** Counts the saves; a save of an older state is refused. */
  rev: z.number().int(),
  /** While the run lives, no other run holds this name. */
  claim: z.string().optional(),
  /** Ids of the people whose Home shows it. */
  people: z.array(z.string()).default([]),
});
export type RunBase = z.infer<typeof runBase>;

/** A run whose record this version of Docket cannot read. `cause` says where it differs. */
export class UnreadableRun extends Error {
  override readonly name = 'UnreadableRun';
  /** Written by a newer Docket, which can read it. */
  readonly newer: boolean;

  constructor(runId: string, record: unknown, cause: unknown) {
    super(`the record of run ${runId} cannot be read`, { cause });
    const version = z.object({ v: z.number().positive() }).safeParse(record);
    this.newer = version.success && !runBase.shape.v.safeParse(version.data.v).success;
  }
}

export type Acceptance =
  /** Kept: whatever happens from here on, it ends in a visible outcome. */
  | { kind: 'accepted' }
  /** The very same request is kept already. */
  | { kind: 'repeated' }
  /** Another run holds the claim. */
  | { kind: 'claimed'; by: string }
  /** The deadline had passed when Redis came to it; nothing was written. */
  | { kind: 'late' }
  /** Somebody changed the run since it was read. */
  | { kind: 'stale' };

/**
 * Runs of all kinds. A `deadlineMs` is a time of Redis' own clock (`timeMs`): a write that a frozen Redis
 * comes to after it refuses by itself.
 */
export interface RunStore {
  /** The clock of Redis, in epoch milliseconds. */
  timeMs(): Promise<number>;
  /** Writes a new run. `responseUrl` is a secret, kept apart from the run and only while Slack honours it. */
  accept(
    run: RunBase,
    deadlineMs: number,
    claimMs: number,
    responseUrl: string | undefined,
  ): Promise<Acceptance>;
  /**
   * Writes the next state of a run that a person changed; `run` carries the revision that was read. With a `claimMs`
   * of 0 it neither needs its claim nor takes it.
   */
  resume(run: RunBase, deadlineMs: number, claimMs: number): Promise<Acceptance>;
  /**
   * Saves the next state of a run and answers it with its new revision; nothing when `run` was not the latest.
   * `release` frees its claim in the same moment.
   */
  save<R extends RunBase>(run: R, release?: boolean): Promise<R | undefined>;
  /** No worker needs to look at the run any more. `release` frees its claim. */
  settle(run: RunBase, release: boolean): Promise<void>;
  /** Throws `UnreadableRun`. */
  load<R extends RunBase>(runId: string, schema: z.ZodType<R>): Promise<R | undefined>;
  /** The runs that concern a person, newest first. */
  ofPerson(teamId: string, userId: string): Promise<string[]>;
  /** Gives a run one more name, by which it is found for as long as it is kept. */
  alias(name: string, runId: string): Promise<void>;
  byAlias(name: string): Promise<string | undefined>;
  /** Nobody needs to look at a run whose record is gone or cannot be read. Its claim is freed, as far as it is known. */
  forget(job: string, runId: string): Promise<void>;
  /** The runs of one job among them, in full. Those whose record is gone or cannot be read are left out. */
  activeOf<R extends RunBase>(schema: z.ZodType<R>, job: string): Promise<R[]>;
  /** The runs that a worker has to look at, oldest first. */
  active(): Promise<{ job: string; id: string }[]>;
  responseUrl(runId: string): Promise<string | undefined>;
}

/** Runs that a person's Home can show; older ones are forgotten there. */
const PERSON_RUNS = 50;

const acceptScript = luaScript(`${LUA_NOW}
local deadline, id, json, expected, rev, ttl, member, claimTtl, url, urlTtl, claims, kept = unpack(ARGV)
if now > tonumber(deadline) then return {'late'} end
local stored = redis.call('HGET', KEYS[1], 'rev')
if expected == '' and stored then return {'repeated'} end
if expected ~= '' and stored ~= expected then return {'stale'} end
if claims == '1' then
  local holder = redis.call('GET', KEYS[4])
  if holder and holder ~= id then return {'claimed', holder} end
end
redis.call('HSET', KEYS[1], 'json', json, 'rev', rev)
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('ZADD', KEYS[2], now, member)
if url ~= '' then redis.call('SET', KEYS[3], url, 'PX', urlTtl) end
if claims == '1' then redis.call('SET', KEYS[4], id, 'PX', claimTtl) end
for i = 5, #KEYS do
  redis.call('ZADD', KEYS[i], now, id)
  redis.call('ZREMRANGEBYRANK', KEYS[i], 0, -1 - kept)
  redis.call('PEXPIRE', KEYS[i], ttl)
end
return {'accepted'}
`);

const saveScript = luaScript(`
if redis.call('HGET', KEYS[1], 'rev') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'json', ARGV[2], 'rev', ARGV[3])
if KEYS[4] and redis.call('GET', KEYS[4]) == ARGV[4] then redis.call('DEL', KEYS[4]) end
return 1
`);

const settleScript = luaScript(`
local rev, id, member = unpack(ARGV)
if redis.call('HGET', KEYS[1], 'rev') ~= rev then return 0 end
redis.call('ZREM', KEYS[2], member)
if KEYS[4] and redis.call('GET', KEYS[4]) == id then redis.call('DEL', KEYS[4]) end
return 1
`);

const forgetScript = luaScript(`
redis.call('ZREM', KEYS[1], ARGV[1])
if KEYS[2] and redis.call('GET', KEYS[2]) == ARGV[2] then redis.call('DEL', KEYS[2]) end
return 1
`);

const memberOf = (run: RunBase) => `${run.job} ${run.id}`;

function keysOf(run: RunBase, withClaim: boolean): string[] {
  const own = [keys.run(run.id), keys.activeRuns(), keys.responseUrl(run.id)];
  return withClaim && run.claim !== undefined ? [...own, keys.claim(run.claim)] : own;
}

export function createRunStore(redis: Redis): RunStore {
  async function write(
    run: RunBase,
    expected: string,
    deadlineMs: number,
    claimMs: number,
    responseUrl: string | undefined,
  ) {
    const claims = claimMs > 0 && run.claim !== undefined;
    const touched = [
      ...keysOf(run, false),
      keys.claim(run.claim ?? ''),
      ...run.people.map((userId) => keys.runsOf(run.teamId, userId)),
    ];
    const [kind, by] = (await acceptScript(redis, touched, [
      deadlineMs,
      run.id,
      JSON.stringify(run),
      expected,
      run.rev,
      keep.runMs,
      memberOf(run),
      claimMs,
      responseUrl ?? '',
      keep.responseUrlMs,
      claims ? '1' : '0',
      PERSON_RUNS,
    ])) as [Acceptance['kind'], string | undefined];
    return kind === 'claimed' ? { kind, by: by ?? '' } : { kind };
  }

  async function active() {
    const members = await redis.zrange(keys.activeRuns(), '0', '-1');
    return members.map((member) => {
      const [job = '', id = ''] = member.split(' ');
      return { job, id };
    });
  }

  return {
    async timeMs() {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    },
    accept: (run, deadlineMs, claimMs, responseUrl) => write(run, '', deadlineMs, claimMs, responseUrl),
    // Whoever clicked is answered with the click; the address of the first request stays.
    resume: (run, deadlineMs, claimMs) =>
      write({ ...run, rev: run.rev + 1 }, String(run.rev), deadlineMs, claimMs, undefined),
    async save(run, release = false) {
      const next = { ...run, rev: run.rev + 1 };
      const args = [run.rev, JSON.stringify(next), next.rev, run.id];
      const saved = await saveScript(redis, keysOf(run, release), args);
      return saved === 1 ? next : undefined;
    },
    async settle(run, release) {
      await settleScript(redis, keysOf(run, release), [run.rev, run.id, memberOf(run)]);
    },
    async forget(job, runId) {
      const json = await redis.hget(keys.run(runId), 'json');
      const { data } = z.object({ claim: z.string() }).safeParse(parseJson(json));
      const claim = data === undefined ? [] : [keys.claim(data.claim)];
      await forgetScript(redis, [keys.activeRuns(), ...claim], [`${job} ${runId}`, runId]);
    },
    async load(runId, schema) {
      const json = await redis.hget(keys.run(runId), 'json');
      if (json === null) return undefined;
      const record = parseJson(json);
      const read = schema.safeParse(record);
      if (!read.success) throw new UnreadableRun(runId, record, read.error);
      return read.data;
    },
    ofPerson: (teamId, userId) => redis.zrevrange(keys.runsOf(teamId, userId), 0, -1),
    async alias(name, runId) {
      await redis.set(keys.alias(name), runId, 'PX', keep.runMs);
    },
    async byAlias(name) {
      return (await redis.get(keys.alias(name))) ?? undefined;
    },
    active,
    async activeOf(schema, job) {
      const ids = (await active()).filter((run) => run.job === job).map(({ id }) => id);
      const records = await Promise.all(ids.map((id) => redis.hget(keys.run(id), 'json')));
      return records.flatMap((json) => {
        const read = schema.safeParse(parseJson(json));
        return read.success ? [read.data] : [];
      });
    },
    async responseUrl(runId) {
      return (await redis.get(keys.responseUrl(runId))) ?? undefined;
    },
  };
}

function parseJson(json: string | null): unknown {
  try {
    return JSON.parse(json ?? '');
  } catch {
    return undefined;
  }
}

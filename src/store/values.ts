import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';

/** The result of a call to something outside. */
const healthSnapshot = z.object({
  /** Any answer, even a refusal, unless Slack `refused` the token. */
  answered: z.boolean(),
  atMs: z.number(),
  refused: z.literal(true).optional(),
  /** Problems with these calls for an operator. `of` is the project or the workspace. */
  problems: z.array(z.object({ of: z.string(), text: z.string() })).optional(),
});
export type HealthSnapshot = z.infer<typeof healthSnapshot>;

/** A problem for an operator, when a worker last saw it. */
const workerProblem = z.object({
  name: z.string(),
  level: z.enum(['error', 'warn']),
  text: z.string(),
  of: z.string().optional(),
  atMs: z.number(),
});
export type WorkerProblem = z.infer<typeof workerProblem>;

/** A service that Docket depends on: the docs platform, or Slack with the token of one workspace. */
export type Dependency = 'docs' | 'slack' | `slack ${string}`;

/** What is wrong with a deployment or a Git host, as its last failures say. */
const trouble = z.object({
  name: z.enum([
    ...(['deployment_refused', 'deployment_unreachable', 'deployment_workflow'] as const),
    ...(['git_host_refused', 'git_host_unreachable'] as const),
  ]),
  /** The status or the code of the answer; empty for a workflow. */
  reason: z.string(),
  fix: z.string(),
  /** The first and the last failure of those in a row. */
  sinceMs: z.number(),
  atMs: z.number(),
  /** Whether operators see it. */
  isProblem: z.boolean(),
  /** Whether asking for the repository shows the same; `due`: nobody has asked yet. */
  check: z.enum(['due', 'same', 'blind']).optional(),
  /** The run of the workflow that failed last. */
  runId: z.number().optional(),
  /** Of a Git host: the call and its repository. */
  call: z.string().optional(),
});
export type DeploymentTrouble = z.infer<typeof trouble>;

const alert = z.object({ sinceMs: z.number(), sent: z.literal(true).optional() });

/** Single values by name. All but the channel ids expire. */
export type ValueStores = ReturnType<typeof createValueStores>;

export function createValueStores(redis: RedisClient) {
  const get = async (key: string): Promise<string | undefined> => (await redis.get(key)) ?? undefined;
  const getAll = async (all: readonly string[]) => (all.length === 0 ? [] : redis.mget([...all]));
  const set = async (key: string, value: string | number, forMs: number) => {
    await redis.set(key, value, 'PX', forMs);
  };
  /** Sets a value unless there is one. Returns the stored one. */
  const add = async (key: string, value: string | number, forMs: number): Promise<string | null> => {
    await redis.set(key, value, 'PX', forMs, 'NX');
    return redis.get(key);
  };

  return {
    /**
     * Presigned links. Each link has a name of its own, and Redis deletes it when it expires; messages and records
     * contain only the name.
     */
    links: {
      async put(name: string, url: string, endsAtMs: number) {
        await redis.set(keys.link(name), url, 'PXAT', endsAtMs);
      },
      get: (name: string) => get(keys.link(name)),
    },

    /** Response URLs for ephemeral answers, by request, as long as Slack accepts them. They are secrets. */
    responseUrls: { find: (runId: string) => get(keys.responseUrl(runId)) },

    people: {
      /** Returns the direct message conversation between the bot and a person. */
      directMessage: (teamId: string, userId: string) => get(keys.directMessage(teamId, userId)),
      setDirectMessage: (teamId: string, userId: string, channel: string) =>
        set(keys.directMessage(teamId, userId), channel, retention.directMessageMs),
      markHomeOpened: (teamId: string, userId: string) =>
        set(keys.homeOpened(teamId, userId), 1, retention.homeOpenedMs),
      /** Returns those of these people who have opened their Home tab: only their tabs are refreshed. */
      async whoOpenedHome(teamId: string, userIds: readonly string[]): Promise<string[]> {
        const opened = await getAll(userIds.map((userId) => keys.homeOpened(teamId, userId)));
        return userIds.filter((_, index) => opened[index] !== null);
      },
    },

    /** Slack's present ids of channels whose ids have changed, by Docket's id of each. */
    channelIds: {
      load: (teamId: string): Promise<Record<string, string>> => redis.hgetall(keys.channelIds(teamId)),
      /** `known` is Docket's id of the channel. */
      async change(teamId: string, known: string, present: string) {
        if (known === present) await redis.hdel(keys.channelIds(teamId), known);
        else await redis.hset(keys.channelIds(teamId), known, present);
      },
    },

    /** The teams of bot tokens, by the tokens' ids. */
    teams: {
      load: (tokenId: string) => get(keys.team(tokenId)),
      save: (tokenId: string, teamId: string) => set(keys.team(tokenId), teamId, retention.runMs),
    },

    /** Alerts that all processes together send at most once an hour. */
    alerts: {
      /** Begins an alert, unless it began within the hour. Returns when (epoch milliseconds), and whether it was sent. */
      async begin(name: string, nowMs: number): Promise<z.infer<typeof alert>> {
        const begun = { sinceMs: nowMs };
        const stored = await add(keys.alert(name), JSON.stringify(begun), retention.adminAlertMs);
        return alert.safeParse(parseJson(stored)).data ?? begun;
      },
      /** Records that an alert was sent, for the rest of its hour. */
      async markSent(name: string, sinceMs: number) {
        await redis.set(keys.alert(name), JSON.stringify({ sinceMs, sent: true }), 'KEEPTTL', 'XX');
      },
    },

    /** API keys that the platform rejects, by their ids, and since when (epoch milliseconds). */
    rejectedKeys: {
      /** Records that a key is rejected. Returns since when. */
      async reject(keyId: string, nowMs: number): Promise<number> {
        const since = await add(keys.rejectedKey(keyId), nowMs, retention.rejectedKeyMs);
        await redis.pexpire(keys.rejectedKey(keyId), retention.rejectedKeyMs);
        return Number(since ?? nowMs);
      },
      /** Records that a key works. */
      async accept(keyId: string) {
        await redis.del(keys.rejectedKey(keyId));
      },
      /** Returns since when each of these is rejected; undefined for one that is not, as far as is known. */
      async since(keyIds: readonly string[]): Promise<(number | undefined)[]> {
        const found = await getAll(keyIds.map(keys.rejectedKey));
        return found.map((ms) => (ms === null ? undefined : Number(ms)));
      },
    },

    /** What is wrong with deployments, by names of the caller. */
    troubles: {
      async load(names: readonly string[]): Promise<(DeploymentTrouble | undefined)[]> {
        const found = await getAll(names.map(keys.trouble));
        return found.map((json) => trouble.safeParse(parseJson(json)).data);
      },
      save: (name: string, state: DeploymentTrouble) =>
        set(keys.trouble(name), JSON.stringify(state), retention.runMs),
      async end(name: string) {
        await redis.del(keys.trouble(name));
      },
    },

    /** Problems that workers know, for processes of which people ask the status: a hash, by their names. */
    workerProblems: {
      async save(problems: readonly Omit<WorkerProblem, 'atMs'>[], atMs: number) {
        if (problems.length === 0) return;
        const fields = problems.map((one) => [`${one.name} ${one.of}`, JSON.stringify({ ...one, atMs })]);
        const batch = redis.multi().hset(keys.health('problems'), Object.fromEntries(fields));
        await batch.pexpire(keys.health('problems'), retention.healthMs).exec();
      },
      /** Returns those that a worker has seen after `sinceMs`. */
      async load(sinceMs: number): Promise<WorkerProblem[]> {
        const found = await redis.hvals(keys.health('problems'));
        const read = found.flatMap((json) => workerProblem.safeParse(parseJson(json)).data ?? []);
        return read.filter(({ atMs }) => atMs > sinceMs);
      },
    },

    /** The latest health snapshots of all processes, for processes that made no calls themselves. */
    health: {
      save: (part: Dependency, snapshot: HealthSnapshot) =>
        set(keys.health(part), JSON.stringify(snapshot), retention.healthMs),
      async load(parts: readonly Dependency[]): Promise<Partial<Record<Dependency, HealthSnapshot>>> {
        const found = await getAll(parts.map(keys.health));
        return Object.fromEntries(
          parts.flatMap((part, index) => {
            const { data } = healthSnapshot.safeParse(parseJson(found[index]));
            return data ? [[part, data]] : [];
          }),
        );
      },
    },
  };
}

import type { Block, KnownBlock } from '@slack/types';
import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { logScope } from '../runtime/log.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { durableScript, LUA_NOW, luaScript } from './redis/lua.ts';
import { LUA_WAKE, markIdle, memberOf } from './run-scripts.ts';

/**
 * A chart of series over the same points, which `@slack/types` does not know:
 * https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
 */
export interface ChartBlock extends Block {
  type: 'data_visualization';
  title: string;
  chart: {
    type: 'bar';
    series: { name: string; data: { label: string; value: number }[] }[];
    /** Each category has one point in every series. */
    axis_config: { categories: string[]; x_label?: string; y_label?: string };
  };
}

/** A block of a message. */
export type MessageBlock = KnownBlock | ChartBlock;

/** A thread under a person's message, a conversation, direct messages, or the thread under a message of ours. */
const place = z.union([
  // Before the schema of a conversation alone, which would match it as well.
  z.object({ channel: z.string(), threadTs: z.string() }),
  z.object({ channel: z.string() }),
  z.object({ user: z.string() }),
  z.object({ under: z.string() }),
]);

// Ours, and Slack validates them; here they only have to be a list.
const blocks = z.custom<MessageBlock[]>(Array.isArray);

/** The wanted form of a message. */
export const wantedMessage = z.object({
  teamId: z.string(),
  place,
  /** Its meaning to people, which decides the order of edits. */
  kind: z.enum(['progress', 'state', 'ending']),
  /** A person clicked and waits for it: only endings have priority. */
  interactive: z.literal(true).optional(),
  /** It has the lowest priority, and leaves one slot of its place to people's requests. */
  lowPriority: z.literal(true).optional(),
  /** Whether it is posted again after a person deleted it; by default, all but progress is. */
  repost: z.boolean().optional(),
  text: z.string(),
  blocks,
  /** Its form if Slack refuses the blocks. */
  fallback: z.object({ text: z.string(), blocks }).optional(),
  /** It is deleted; if Slack refuses that, it has this form. */
  retracted: z.literal(true).optional(),
  /** It is deleted only once Slack shows the message with this key. If nothing can show that one, it has this form. */
  replacedBy: z.string().optional(),
  /** The person who gets it by direct message if the place refuses it for good. */
  fallbackRecipient: z.string().optional(),
  /** It does not expire, for messages that are still edited after a month. */
  permanent: z.literal(true).optional(),
  /** Digest of place, text, blocks, fallback, attempt and retraction. */
  hash: z.string(),
});
export type WantedMessage = z.infer<typeof wantedMessage>;

const text = z.string().optional();
const number = z.number().optional();

/** The delivery state of a message, as JSON in its record. Times are epoch milliseconds. */
export const deliveryFields = z.object({
  /** The hash that Slack shows; differs from `wanted.hash` while a delivery is pending. */
  deliveredHash: text,
  channel: text,
  ts: text,
  /** A post was sent at this time, and its outcome is unknown: it is searched before the next one. */
  postedAtMs: number,
  /** Until then, a call of unknown outcome may still take effect: no other is made. */
  unclearUntilMs: number,
  /** Where the search for a post continues. */
  cursor: text,
  editedAtMs: number,
  /** Consecutive failed deliveries. */
  failures: number,
  /** The wanted hash that Slack refused: its deletion, its blocks, or its fallback as well. */
  refusedHash: text,
  /** The form of that hash since then. */
  form: z.enum(['own', 'fallback', 'text']).optional(),
  /** The person who gets it by direct message, because its place refused it with `refusal`. */
  movedTo: text,
  refusal: text,
  /** A person deleted it in Slack; cleared when it is posted again. */
  deleted: z.boolean().optional(),
});

/** Changes of the delivery state. `undefined` deletes a field. */
export type DeliveryChanges = z.output<typeof deliveryFields>;

/** `behindSinceMs`: since when Slack has not shown the wanted form. `rev` counts the saves of the delivery state. */
export type MessageRecord = DeliveryChanges & {
  key: string;
  wanted: WantedMessage;
  behindSinceMs: number;
  rev: number;
  wakes: number;
};

/** The order in which messages are delivered, the most urgent first. */
export const urgencies = ['ending', 'clicked', 'state', 'progress', 'lowPriority'] as const;
export type Urgency = (typeof urgencies)[number];

export function urgencyOf({ kind, interactive: clicked, lowPriority }: WantedMessage): Urgency {
  if (lowPriority) return 'lowPriority';
  if (kind === 'ending') return kind;
  return clicked ? 'clicked' : kind;
}

/** The delivery state of a message. */
export type DeliveryState =
  /** `dueInMs`: when its next delivery begins, if that is not now. */
  | { kind: 'waiting'; dueInMs?: number }
  | { kind: 'shown'; channel: string; ts: string }
  | { kind: 'refused'; code: string };

export type MessageStore = ReturnType<typeof createMessageStore>;

const publishScript = durableScript<0 | 1>(`${LUA_WAKE}
local record, active = unpack(KEYS)
local member, json, hash, version, ttl, permanent, rank, ref, team = unpack(ARGV)
local stored, before, rankBefore = unpack(redis.call('HMGET', record, 'version', 'hash', 'rank'))
if stored and tonumber(stored) > tonumber(version) then return 0 end
redis.call('HSET', record, 'version', version)
if permanent == '1' then redis.call('PERSIST', record) else redis.call('PEXPIRE', record, ttl) end
if before == hash then return 0 end
redis.call('HSET', record, 'wanted', json, 'hash', hash, 'rank', rank, 'team', team)
if ref ~= '' then redis.call('HSET', record, 'ref', ref) end
redis.call('HINCRBY', record, 'wakes', 1)
local isListed = redis.call('ZSCORE', active, member)
if not isListed then redis.call('HSET', record, 'behindSinceMs', now) end
-- Its next delivery picks up this version too; only a more urgent one must not wait for that.
if isListed and tonumber(rankBefore or 0) <= tonumber(rank) then return 0 end
list(record, active, member)
return 1
`);

// A write would recreate a record that has expired, without a time to live.
const saveScript = durableScript<0 | 1>(`
local rev, json, nextRev = unpack(ARGV)
if redis.call('EXISTS', KEYS[1]) == 0 or (redis.call('HGET', KEYS[1], 'rev') or '0') ~= rev then return 0 end
redis.call('HSET', KEYS[1], 'json', json, 'rev', nextRev)
return 1
`);

const dueInScript = luaScript<number>(`${LUA_NOW}
return (tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or nil) or now) - now
`);

/** Maximum messages checked to find the oldest. */
const MAX_BEHIND = 1000;

const refOf = (key: string) => ({ job: 'outbox', id: key });

export function createMessageStore(redis: RedisClient) {
  async function load(key: string): Promise<MessageRecord | undefined> {
    const names = ['wanted', 'json', 'rev', 'wakes', 'behindSinceMs'];
    const [wanted, json, ...counts] = await redis.hmget(keys.message(key), ...names);
    if (typeof wanted !== 'string') return undefined;
    const [rev = 0, wakes = 0, behindSinceMs = 0] = counts.map(Number);
    const delivery = deliveryFields.parse(json ? parseJson(json) : {});
    return { ...delivery, key, wanted: wantedMessage.parse(parseJson(wanted)), rev, wakes, behindSinceMs };
  }

  return {
    /** Replaces the wanted form, unless a later `version` is stored. Returns whether its delivery must be woken. */
    async publish(key: string, wanted: WantedMessage, version: number): Promise<boolean> {
      const rank = urgencies.indexOf(urgencyOf(wanted));
      const args = [memberOf(refOf(key)), JSON.stringify(wanted), wanted.hash, version, retention.runMs];
      args.push(wanted.permanent ? 1 : 0, rank, logScope()?.ref ?? '', wanted.teamId);
      return (await publishScript(redis, [keys.message(key), keys.activeRuns()], args)) === 1;
    },
    /** Throws a `ZodError` for a damaged record. */
    load,
    /** Saves changes of the delivery state. Returns the record; undefined if another process has changed it. */
    async save(record: MessageRecord, changes: DeliveryChanges): Promise<MessageRecord | undefined> {
      const next = { ...record, ...changes, rev: record.rev + 1 };
      const json = JSON.stringify(deliveryFields.parse(next));
      const isSaved = await saveScript(redis, [keys.message(record.key)], [record.rev, json, next.rev]);
      return isSaved === 1 ? next : undefined;
    },
    /** Removes a delivered message from the due list. Returns false if it was published since it had `wakes`. */
    markIdle: (key: string, wakes: number): Promise<boolean> =>
      markIdle(redis, refOf(key), { rev: 'any', wakes }),
    /** A message without a record is waiting. */
    async state(key: string): Promise<DeliveryState> {
      const record = await load(key);
      if (record === undefined) return { kind: 'waiting' };
      const { wanted, channel, ts, refusal, deliveredHash, movedTo } = record;
      if (channel && ts) return { kind: 'shown', channel, ts };
      if (refusal && (deliveredHash === wanted.hash || movedTo)) return { kind: 'refused', code: refusal };
      const dueInMs = await dueInScript(redis, [keys.activeRuns()], [memberOf(refOf(key))]);
      return { kind: 'waiting', ...(dueInMs > 0 && { dueInMs }) };
    },
    /** Returns since when the oldest message of each urgency lacks its wanted form; others are left out. */
    async behindSince(): Promise<Partial<Record<Urgency, number>>> {
      const oldestKeys = await redis.zrange(keys.undelivered(), 0, String(MAX_BEHIND - 1));
      const reads = oldestKeys.map((key) => redis.hmget(keys.message(key), 'rank', 'behindSinceMs'));
      const oldest: Partial<Record<Urgency, number>> = {};
      for (const [rank, sinceMs] of await Promise.all(reads)) {
        const urgency = urgencies[Number(rank ?? -1)];
        if (urgency && sinceMs) oldest[urgency] = Math.min(oldest[urgency] ?? Infinity, Number(sinceMs));
      }
      return oldest;
    },
  };
}

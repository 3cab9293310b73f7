import type { Block, KnownBlock } from '@slack/types';
import { z } from 'zod';
import { logScope } from '../runtime/log-scope.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { lastingScript, luaScript, updateHash } from './redis/lua.ts';

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

/**
 * The place of a message: the thread under a person's message, a conversation, a person's direct messages, or the
 * thread under another message of ours.
 */
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
  /** The person who gets it by direct message if the place refuses it for good. */
  fallbackRecipient: z.string().optional(),
  /** It does not expire, for messages that are still edited after a month. */
  lasting: z.literal(true).optional(),
  /** Digest of place, text, blocks, fallback and attempt. */
  hash: z.string(),
});
export type WantedMessage = z.infer<typeof wantedMessage>;

const text = z.string().exactOptional();
const flag = z.stringbool().exactOptional();
const number = z.coerce.number().exactOptional();

/** The delivery state of a message: fields of its record, each written separately. Times are epoch milliseconds. */
const deliveryFields = z.object({
  /** The hash that Slack shows; differs from `wanted.hash` while a delivery is pending. */
  deliveredHash: text,
  channel: text,
  ts: text,
  /** A post was sent at this time, and its outcome is unknown; it is searched from `checkAtMs` on. */
  postedAtMs: number,
  checkAtMs: number,
  editedAtMs: number,
  /** Until then, an edit of unknown outcome may still arrive, and replace a later one. */
  editUnclearUntilMs: number,
  /** Consecutive failed deliveries. */
  failures: number,
  /** The wanted hash that Slack refused: its deletion, its blocks, or its fallback as well. */
  refusedHash: text,
  /** The form of that hash since then. */
  form: z.enum(['own', 'fallback', 'text']).exactOptional(),
  /** The person who gets it by direct message, because its place refused it with `refusal`. */
  movedTo: text,
  refusal: text,
  /** A person deleted it in Slack; cleared when it is posted again. */
  deleted: flag,
});
type Delivery = z.output<typeof deliveryFields>;

/** `behindSinceMs`: since when Slack has not shown the wanted form. */
export type MessageRecord = Delivery & { wanted: WantedMessage; behindSinceMs?: number };

/** The order in which messages are delivered, the most urgent first. */
export const urgencies = ['ending', 'clicked', 'state', 'progress', 'lowPriority'] as const;
export type Urgency = (typeof urgencies)[number];

export function urgencyOf({ kind, interactive: clicked, lowPriority }: WantedMessage): Urgency {
  if (lowPriority) return 'lowPriority';
  if (kind === 'ending') return kind;
  return clicked ? 'clicked' : kind;
}

const fieldNames = deliveryFields.keyof().options;

/** `undefined` deletes a field. */
export type DeliveryChanges = { [K in keyof Delivery]?: Delivery[K] | undefined };

/**
 * The delivery state of a message, for a job whose next step depends on it. A refused message with a newer form waits
 * again. `fellBack`: Slack refused its blocks, so its fallback is shown.
 */
export type DeliveryState =
  | { kind: 'waiting' }
  | { kind: 'shown'; channel: string; ts: string; fellBack?: true }
  | { kind: 'refused'; code: string };

export type MessageStore = ReturnType<typeof createMessageStore>;

const setWantedScript = lastingScript<number | null>(`
local ranks = {${urgencies.map((urgency, rank) => `${urgency}=${rank}`).join(', ')}}
local json, hash, version, now, key, ttl, lasting, urgency, ref, gap = unpack(ARGV)
local stored = redis.call('HGET', KEYS[1], 'version')
if stored and tonumber(stored) > tonumber(version) then return false end
redis.call('HSET', KEYS[1], 'version', version)
if lasting == '1' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ttl) end
local before, delivered, urgencyBefore = unpack(redis.call('HMGET', KEYS[1], 'hash', 'deliveredHash', 'urgency'))
if before == hash then return false end
redis.call('HSET', KEYS[1], 'wanted', json, 'hash', hash, 'urgency', urgency)
if ref ~= '' then redis.call('HSET', KEYS[1], 'ref', ref) end
if not before or before == delivered then redis.call('HSET', KEYS[1], 'behindSinceMs', now) end
local edited = tonumber(redis.call('HGET', KEYS[1], 'editedAtMs') or 0)
local wait = math.max(0, math.min(edited + gap - now, gap))
local isListed = redis.call('ZADD', KEYS[2], 'NX', now + wait, key) == 0
-- Already queued: that delivery will pick up this version too.
if isListed and (ranks[urgencyBefore] or 0) <= ranks[urgency] then return false end
-- What was listed waits in a line of less urgent ones, or is just about to.
if isListed then
  redis.call('HINCRBY', KEYS[1], 'wakes', 1)
  redis.call('ZADD', KEYS[2], 'XX', 'LT', now + wait, key)
end
return math.ceil(wait)
`);

// An undelivered message is listed, and due at once if it was missing.
const markDeliveredScript = luaScript(`
local delivered = (redis.call('HGET', KEYS[1], 'hash') or '') == ARGV[1]
if delivered then redis.call('ZREM', KEYS[2], ARGV[2]) else redis.call('ZADD', KEYS[2], 'NX', 0, ARGV[2]) end
return delivered and 1 or 0
`);

/** Maximum messages checked to find the oldest. */
const MAX_BEHIND = 1000;

export function createMessageStore(redis: RedisClient) {
  async function load(messageKey: string): Promise<MessageRecord | undefined> {
    const fields = await redis.hgetall(keys.message(messageKey));
    if (fields.wanted === undefined) return undefined;
    const { behindSinceMs } = fields;
    return {
      ...deliveryFields.parse(fields),
      wanted: wantedMessage.parse(JSON.parse(fields.wanted)),
      ...(behindSinceMs !== undefined && { behindSinceMs: Number(behindSinceMs) }),
    };
  }

  return {
    /**
     * Replaces the wanted form, unless a later `version` is stored. Returns the milliseconds until its delivery should
     * begin, if none is due by then: at least `editGapMs` after the last edit.
     */
    async setWanted(
      messageKey: string,
      wanted: WantedMessage,
      version: number,
      nowMs: number,
      editGapMs = 0,
    ): Promise<number | undefined> {
      const inMs = await setWantedScript(
        redis,
        [keys.message(messageKey), keys.undelivered()],
        [
          JSON.stringify(wanted),
          wanted.hash,
          version,
          nowMs,
          messageKey,
          retention.runMs,
          wanted.lasting ? 1 : 0,
          urgencyOf(wanted),
          logScope()?.ref ?? '',
          editGapMs,
        ],
      );
      return inMs ?? undefined;
    },
    /** Throws a `ZodError` for a damaged record. */
    load,
    /** Removes a message with a damaged record from the due list; the record stays. */
    async abandon(messageKey: string) {
      await redis.zrem(keys.undelivered(), messageKey);
    },
    /** Returns since when the oldest message of each urgency lacks its wanted form; others are left out. */
    async behindSince(): Promise<Partial<Record<Urgency, number>>> {
      const messageKeys = await redis.zrange(keys.undelivered(), 0, String(MAX_BEHIND - 1));
      const found = await Promise.all(
        messageKeys.map((key) => redis.hmget(keys.message(key), 'urgency', 'behindSinceMs')),
      );
      const oldest: Partial<Record<Urgency, number>> = {};
      for (const [name, sinceMs] of found) {
        const urgency = urgencies.find((one) => one === name);
        if (urgency && sinceMs) oldest[urgency] = Math.min(oldest[urgency] ?? Infinity, Number(sinceMs));
      }
      return oldest;
    },
    /** A message without a record is waiting. */
    async state(messageKey: string): Promise<DeliveryState> {
      const record = await load(messageKey);
      if (record === undefined) return { kind: 'waiting' };
      const { wanted, channel, ts, refusal, deliveredHash, refusedHash, form, movedTo } = record;
      const isDelivered = deliveredHash === wanted.hash;
      if (channel && ts) {
        const fellBack = form === 'fallback' && deliveredHash === refusedHash;
        return { kind: 'shown', channel, ts, ...(fellBack && { fellBack: true }) };
      }
      const isRefused = refusal && (isDelivered || movedTo);
      return isRefused ? { kind: 'refused', code: refusal } : { kind: 'waiting' };
    },
    /** Updates the delivery state. */
    async update(messageKey: string, changes: DeliveryChanges) {
      await updateHash(redis, keys.message(messageKey), changes);
    },
    /** The same, but only if the delivery state is still as in `read`. Returns whether it was. */
    updateIfUnchanged: (
      messageKey: string,
      read: MessageRecord,
      changes: DeliveryChanges,
    ): Promise<boolean> =>
      updateHash(
        redis,
        keys.message(messageKey),
        changes,
        Object.fromEntries(fieldNames.map((name) => [name, read[name]])),
      ),
    /**
     * Removes the message from the due list if `hash` is still the wanted one; undefined means that there is no record.
     * Returns whether it did.
     */
    async markDelivered(messageKey: string, hash: string | undefined): Promise<boolean> {
      const delivered = await markDeliveredScript(
        redis,
        [keys.message(messageKey), keys.undelivered()],
        [hash ?? '', messageKey],
      );
      return delivered === 1;
    },
  };
}

import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { scrub } from '../runtime/log.ts';
import { retention } from '../runtime/timing.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/client.ts';
import { LUA_NOW, luaScript } from './redis/lua.ts';

/** The schema of a line. */
export const entrySchema = z.object({
  /** By the clock of the process that adds it. */
  atMs: z.number(),
  user: z.object({ id: z.string(), name: z.string() }),
  /** Conversation id; empty on Home, which has none. */
  channel: z.string(),
  /** The command, button or modal. */
  what: z.string(),
  /** The subject: a domain or a job id. */
  subject: z.string(),
  /** The platform's job that resulted. */
  job: z.string().optional(),
  /** Begins with `refused` if nothing was done. */
  result: z.string(),
});

/** One line of the audit log. */
export type AuditEntry = z.output<typeof entrySchema>;

/** Who asked for what, and the result. */
export type AuditStore = ReturnType<typeof createAuditStore>;
export type AuditLines = Awaited<ReturnType<AuditStore['latest']>>;

/** Maximum entries of one workspace; the oldest are dropped. */
const ENTRIES = 100_000;
const REFUSALS = 10_000;

const MAX_TEXT = 200;

// Ids and age use Redis' clock: a process with a wrong clock must not age others' entries.
const addScript = luaScript(`${LUA_NOW}
redis.call('XADD', KEYS[1], '*', 'entry', ARGV[1])
redis.call('XTRIM', KEYS[1], 'MINID', '=', string.format('%.0f', now - ARGV[2]))
redis.call('XTRIM', KEYS[1], 'MAXLEN', '=', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);

export function createAuditStore(redis: RedisClient, limits = { entries: ENTRIES, refusals: REFUSALS }) {
  return {
    /** Stores texts as one line of at most 200 characters, without anything that looks like a secret. */
    async add(teamId: string, entry: AuditEntry) {
      const json = JSON.stringify(entry, (_, value) => (typeof value === 'string' ? shorten(value) : value));
      const [key, most] = entry.result.startsWith('refused')
        ? [keys.refusals(teamId), limits.refusals]
        : [keys.audit(teamId), limits.entries];
      await addScript(redis, [key], [json, retention.auditMs, most]);
    },

    /**
     * Returns the latest entries, `count` of each kind, newest first. Refusals are kept apart, since anybody can cause
     * many. Unreadable entries are left out.
     */
    async latest(teamId: string, count: number) {
      const latest = async (key: string) => {
        const found = await redis.xrevrange(key, '+', '-', 'COUNT', count);
        return found.flatMap(
          ([, fields]) => entrySchema.safeParse(parseJson(fields[fields.indexOf('entry') + 1])).data ?? [],
        );
      };
      const [done, refused] = await Promise.all([latest(keys.audit(teamId)), latest(keys.refusals(teamId))]);
      return { done, refused };
    },
  };
}

function shorten(text: string): string {
  const line = scrub(text, [])
    .replace(/[\p{Cc}\p{Bidi_Control}\s]+/gu, ' ')
    .trim();
  const points = Array.from(line);
  return points.length <= MAX_TEXT ? line : `${points.slice(0, MAX_TEXT - 1).join('')}…`;
}

import { keys } from './keys.ts';
import { loadRecords } from './records.ts';
import type { RedisClient } from './redis/client.ts';
import { luaScript } from './redis/lua.ts';

/**
 * Fields that the index stores for each followed thread: those that identify it and decide who may see it. So thousands
 * can be listed without their records.
 */
const INDEXED_FIELDS = [
  'id',
  'job',
  'project',
  'agentJobId',
  'owner',
  'asked',
  'inDirectMessage',
  'place',
  'state',
  'needs',
] as const;

/** Returns the index entry of a run. */
export function toIndexEntry(run: object): string {
  const fields: Record<string, unknown> = { ...run };
  return JSON.stringify(Object.fromEntries(INDEXED_FIELDS.map((name) => [name, fields[name]])));
}

/** Runs that an older process lists are not in the index; a run that is no longer followed is not added. */
const addScript = luaScript(`
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
return redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
`);

/** Returns the index entries of the followed threads, latest first. Adds those missing in the index. */
export async function loadFollowedIndex(redis: RedisClient, teamId: string): Promise<unknown[]> {
  const [ids, index] = await Promise.all([
    redis.zrevrange(keys.followed(teamId), 0, -1),
    redis.hgetall(keys.followedIndex(teamId)),
  ]);
  const missing = ids.filter((id) => index[id] === undefined);
  const found = { ...index, ...(await addMissing(redis, teamId, missing)) };
  return ids.flatMap((id) => (found[id] === undefined ? [] : [JSON.parse(found[id])]));
}

async function addMissing(
  redis: RedisClient,
  teamId: string,
  ids: string[],
): Promise<Record<string, string>> {
  const records = await loadRecords(redis, ids);
  const added = records.map(([id, json]) => [id, toIndexEntry(JSON.parse(json))] as const);
  const into = [keys.followed(teamId), keys.followedIndex(teamId)];
  await Promise.all(added.map(([id, run]) => addScript(redis, into, [id, run])));
  return Object.fromEntries(added);
}

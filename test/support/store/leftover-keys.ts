import type { Redis } from 'ioredis';
import { keys } from '../../../src/store/keys.ts';

/** What BullMQ keeps of a queue, whatever is in it. */
const OF_QUEUES = /^\{docket\}:[\w-]+:(?:meta|id|events|marker|stalled-check|pc)$/;
const DELAYED = /^\{docket\}:[\w-]+:delayed$/;
/** The audit log, figures of days, the threads of digests, which instruct nobody, teams of bot tokens, names of lists. */
const KEPT_FAMILIES = [
  keys.audit('x'),
  keys.refusals('x'),
  keys.dayFigures('x', 'x'),
  keys.closedThreads('x', 'x'),
  keys.team('x'),
].map((key) => key.slice(0, key.indexOf(':x') + 1));

interface PermanentRun {
  id: string;
  job: string;
}

/** Returns the runs that are kept until somebody ends them. */
export async function permanentRuns(client: Redis): Promise<PermanentRun[]> {
  const found = await client.keys(keys.run('*'));
  const records = await Promise.all(found.map((key) => client.hget(key, 'json')));
  return records
    .map((json) => JSON.parse(json ?? '{}') as PermanentRun & { permanent?: boolean })
    .filter(({ permanent }) => permanent)
    .map(({ id, job }) => ({ id, job }));
}

/**
 * Returns the keys that are left beyond what lasts: the runs that are kept until somebody ends them with what names them,
 * the audit log, figures of days, the threads of digests, the schema number, and BullMQ's own of
 * its queues.
 */
export async function leftoverKeys(client: Redis, permanent: readonly PermanentRun[]): Promise<string[]> {
  const others = (await client.keys('*')).filter(
    (key) =>
      key !== keys.schema() &&
      key !== keys.activeLists() &&
      !OF_QUEUES.test(key) &&
      !KEPT_FAMILIES.some((family) => key.startsWith(family)),
  );
  const jobs: string[] = [];
  const left: string[] = [];
  const ofPermanent = (text: string) => permanent.some(({ id }) => text.includes(id));
  for (const key of others.filter((key) => !DELAYED.test(key)))
    if (!ofPermanent(key) && !(await entriesOf(client, key)).every(ofPermanent)) left.push(key);
    else jobs.push(key);
  for (const key of others.filter((key) => DELAYED.test(key))) {
    const queue = key.slice(0, -'delayed'.length);
    if (!(await entriesOf(client, key)).every((id) => jobs.includes(queue + id))) left.push(key);
  }
  return left.toSorted();
}

/** What a key holds: the members of a set, the fields of a hash in one, or its text. */
async function entriesOf(client: Redis, key: string): Promise<string[]> {
  switch (await client.type(key)) {
    case 'string':
      return [(await client.get(key)) ?? ''];
    case 'zset':
      return client.zrange(key, 0, '-1');
    case 'set':
      return client.smembers(key);
    case 'hash':
      return [JSON.stringify(await client.hgetall(key))];
    default:
      return ['a list or a stream'];
  }
}

import { type DueList, dueLists } from '../../../src/store/due.ts';
import type { TestRedis } from '../redis.ts';

/** What a worker has to look at, the one that is due first first. */
export const dueIds = ({ client }: TestRedis, list: DueList): Promise<string[]> =>
  client.zrange(dueLists[list], '0', '-1');

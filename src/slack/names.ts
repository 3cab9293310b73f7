import type { Person } from '../policy.ts';
import { cached, type RememberParts } from '../runtime/cached.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { isPermanent } from './errors.ts';
import type { Mentions, Names } from './markdown/names.ts';

/** Slack did not return all names; a retry may. */
export class NamesUnknown extends Error {
  override readonly name = 'NamesUnknown';
}

/**
 * Maximum people, channels and groups, of each kind, looked up for one message. Slack allows about 100 look-ups of
 * people a minute, which permissions need as well.
 */
const MAX_LOOKUPS = 20;

export interface NamesParts extends RememberParts {
  person: (userId: string) => Promise<Pick<Person, 'name'>>;
  channelName: (channelId: string) => Promise<string>;
  groups: () => Promise<readonly { id: string; handle: string }[]>;
}

const undefinedIfPermanent = (error: unknown) => {
  if (isPermanent(error)) return undefined;
  throw error;
};

/**
 * Returns a function that looks up the names for a message's mentions, all at once and within `timeoutMs`. Names that
 * Slack does not know, and those after the first `MAX_LOOKUPS`, are missing. Rejects with `NamesUnknown` if a retry may
 * find more.
 */
export function createNames(parts: NamesParts): (mentions: Mentions) => Promise<Names> {
  const person = cached(parts, async (id) => {
    const known = await parts.person(id).catch(undefinedIfPermanent);
    return known?.name;
  });
  const channel = cached(parts, (id) => parts.channelName(id).catch(undefinedIfPermanent));
  const handles = cached(parts, async () => {
    const groups = await parts.groups().catch(undefinedIfPermanent);
    return new Map(groups?.map(({ id, handle }) => [id, handle]));
  });
  const group = async (id: string) => (await handles('all')).get(id);

  return async ({ users, channels, groups }) => {
    const found = Promise.all([
      lookUpNames(users, person),
      lookUpNames(channels, channel),
      lookUpNames(groups, group),
    ]);
    try {
      const [userNames, channelNames, groupNames] = await withTimeout(parts.timeoutMs, found);
      return { users: userNames, channels: channelNames, groups: groupNames };
    } catch (error) {
      throw new NamesUnknown('names could not be looked up', { cause: error });
    }
  };
}

async function lookUpNames(
  ids: readonly string[],
  lookUp: (id: string) => Promise<string | undefined>,
): Promise<ReadonlyMap<string, string>> {
  const known = await Promise.all(
    ids.slice(0, MAX_LOOKUPS).map(async (id) => [id, await lookUp(id)] as const),
  );
  return new Map(known.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])));
}

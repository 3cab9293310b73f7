import { type Allow, mapPermissions, type Permission } from './permissions.ts';
import { type CacheParts, cached } from './runtime/cached.ts';
import type { Log } from './runtime/log.ts';
import { withTimeout } from './runtime/with-timeout.ts';
import type { PersonFacts, SlackApi } from './slack/client.ts';
import { lacksScope } from './slack/errors.ts';
import { kindOfId } from './slack/ids.ts';
import { sanitizeUserText } from './slack/text.ts';

/** The contact in the settings: a person or a user group by id, or a text shown unchanged. */
export type Contact = { id: string } | { text: string };

export type PermissionResult =
  | { kind: 'allowed'; person: PersonFacts }
  /** `contacts` says whom to ask. `outsider`: the person is not proven to be from here, and not listed by id. */
  | { kind: 'refused'; person: PersonFacts; contacts: string; outsider?: true }
  /** Slack did not identify the person in time. `missingScope`: it cannot until an operator acts. */
  | { kind: 'unknown'; missingScope?: true };

export type Policy = ReturnType<typeof createPolicy>;

/** `timeoutMs` is the limit of one check, for all of its look-ups together. */
export interface PolicyParts extends CacheParts, Pick<SlackApi, 'person' | 'groupMembers' | 'groups'> {
  allow: Allow;
  contact?: Contact | undefined;
  log: Pick<Log, 'warn'>;
}

/** Maximum names in a refusal, and maximum people and groups looked up to find them. */
const MAX_NAMES = 3;
const MAX_LOOKUPS = 6;

const isGroup = (entry: string) => kindOfId(entry) === 'group';

/**
 * Returns a policy by the lists in `allow`. `everyone` means full members. Guests and people of other organizations
 * need to be listed by their own id or as members of a listed user group.
 */
export function createPolicy(parts: PolicyParts) {
  const { allow, timeoutMs, now, log } = parts;
  const lists: Record<Permission, readonly string[]> = {
    ...mapPermissions(({ like }, name) => allow[allow[name].length > 0 ? name : (like ?? name)]),
    status: ['everyone', ...new Set(Object.values(allow).flat())],
  };
  const permissions = Object.keys(lists) as Permission[];
  const person = cached(parts, parts.person);
  const reported = new Set<string>();
  const members = cached(parts, async (group): Promise<ReadonlySet<string>> => {
    const found = await parts.groupMembers(group);
    if (found === undefined && !reported.has(group))
      log.warn({ group }, 'a user group that may do something does not exist; nobody is in it');
    if (found === undefined) reported.add(group);
    return new Set(found);
  });
  const handles = cached(parts, () => parts.groups());

  /** Looks the person and the groups up concurrently. Rejects if a failed look-up could decide. */
  async function isAllowed(userId: string, list: readonly string[]) {
    const groups = list.includes(userId) ? [] : list.filter(isGroup);
    const lookUps = groups.map(async (group) => (await members(group)).has(userId) || Promise.reject());
    const inGroup = Promise.any(lookUps).catch(({ errors }: AggregateError) => {
      const failure = errors.find((error) => error !== undefined);
      if (failure !== undefined) throw failure;
      return false;
    });
    // Not awaited if the person alone decides.
    inGroup.catch(() => {});
    const who = await person(userId);
    if (!who.active) return { who, allowed: false };
    const isMember = who.fullMember || who.gridMember === true;
    if (list.includes(userId) || (isMember && list.includes('everyone'))) return { who, allowed: true };
    return { who, allowed: await inGroup };
  }

  async function findName(entry: string): Promise<string | undefined> {
    if (isGroup(entry)) return (await handles('all')).get(entry);
    const { name, active } = await person(entry);
    return active ? name : undefined;
  }

  /** Returns the contact in words; undefined if the settings have none, or Slack has no name for the id. */
  async function contactText(): Promise<string | undefined> {
    const { contact } = parts;
    if (contact === undefined || 'text' in contact) return contact?.text;
    const name = await findName(contact.id);
    return name === undefined ? undefined : `@${name}`;
  }

  /** Returns whom this person can ask: the settings' contact, else people and user groups of the list. */
  async function whomToAsk(userId: string, list: readonly string[], leftMs: () => number): Promise<string> {
    const orNone = (lookUp: Promise<string | undefined>) =>
      withTimeout(leftMs(), lookUp).catch(() => undefined);
    const { contact } = parts;
    // Nobody is pointed to themselves.
    const isSelf = contact !== undefined && 'id' in contact && contact.id === userId;
    const text = isSelf ? undefined : await orNone(contactText());
    if (text !== undefined) return sanitizeUserText(text.toWellFormed(), 80);
    const others = list.filter((entry) => entry !== 'everyone' && entry !== userId).slice(0, MAX_LOOKUPS);
    const found = await Promise.all(others.map((entry) => orNone(findName(entry))));
    const names = found.filter((name) => name !== undefined).slice(0, MAX_NAMES);
    if (names.length > 0)
      return names.map((name) => `@${sanitizeUserText(name.toWellFormed(), 60)}`).join(' or ');
    return list.includes('everyone') ? 'a full member of this workspace' : 'your Docket admins';
  }

  return {
    /**
     * Returns whether a person has a permission. If the request is `external`, not proven to come from this workspace,
     * only members of our Grid and people listed by their own id are allowed.
     */
    async check(
      userId: string,
      permission: Permission,
      { external }: { external: boolean } = { external: false },
    ): Promise<PermissionResult> {
      const list = lists[permission];
      const untilMs = now() + timeoutMs;
      const leftMs = () => untilMs - now();
      try {
        const { who, allowed } = await withTimeout(leftMs(), isAllowed(userId, list));
        const outsider = external && !who.gridMember && !list.includes(userId);
        if (allowed && !outsider) return { kind: 'allowed', person: who };
        const contacts = await whomToAsk(userId, list, leftMs);
        return { kind: 'refused', person: who, contacts, ...(outsider && { outsider }) };
      } catch (error) {
        log.warn({ err: error, user: userId }, 'a person could not be looked up');
        return { kind: 'unknown', ...(lacksScope(error) && { missingScope: true }) };
      }
    },

    /** Returns all permissions of a person; undefined if Slack did not identify them in time. */
    async permissionsOf(userId: string): Promise<Permission[] | undefined> {
      const answers = Promise.all(permissions.map((permission) => isAllowed(userId, lists[permission])));
      const known = await withTimeout(timeoutMs, answers).catch(() => undefined);
      return known && permissions.filter((_, index) => known[index]?.allowed);
    },

    /** Returns the settings' contact in words; undefined if Slack has no name for it in time. */
    contactText: (): Promise<string | undefined> =>
      withTimeout(timeoutMs, contactText()).catch(() => undefined),
  };
}

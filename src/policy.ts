import type { Log } from './log.ts';
import { remember } from './remember.ts';
import { within } from './within.ts';

/** What decides a permission, and the name that is shown. */
export interface Person {
  id: string;
  name: string;
  /** A full member of this workspace: active, no guest, nobody from another organization. */
  fullMember: boolean;
  /** Neither a bot nor deactivated. Whoever is not may nothing, not even when named. */
  active: boolean;
}

const PERMISSIONS = ['export', 'agent', 'digest', 'admin', 'status'] as const;

/** What a person may be allowed to do. `status`, to see how things are: full members, and who may anything else. */
export type Permission = (typeof PERMISSIONS)[number];

/** Who may what: `everyone` (all full members), user ids (`U…`, `W…`) and user group ids (`S…`). */
export type Allow = Record<Exclude<Permission, 'status'>, readonly string[]>;

export type Verdict =
  | { kind: 'allowed'; person: Person }
  /** `ask`: up to three names of people and user groups who may, as far as they became known in time. */
  | { kind: 'refused'; person: Person; ask: string[] }
  /** Slack did not tell in time who this is; nothing is allowed to somebody unknown. */
  | { kind: 'unknown' };

export interface Policy {
  check(userId: string, permission: Permission): Promise<Verdict>;
  /** Everything that this person may; nothing when Slack did not tell in time. */
  mayList(userId: string): Promise<Permission[] | undefined>;
  /** Whether the list names this very id, as it must for people of other organizations. */
  named(userId: string, permission: Permission): boolean;
  /** Whether every full member may. */
  open(permission: Permission): boolean;
}

export interface PolicyParts {
  person: (userId: string) => Promise<Person>;
  /** User ids; nothing when there is no such group. */
  groupMembers: (groupId: string) => Promise<readonly string[] | undefined>;
  groups: () => Promise<readonly { id: string; handle: string }[]>;
  allow: Allow;
  /** For everything that one question needs of Slack. */
  timeoutMs: number;
  cacheMs: number;
  now: () => number;
  log: Pick<Log, 'warn'>;
}

/** Names that a refusal gives, and how many people and groups are looked up to find them. */
const NAMED = 3;
const TRIED = 6;

const isGroup = (entry: string) => entry.startsWith('S');

/**
 * Allows what the lists allow. `everyone` means full members; guests and people of other organizations are allowed
 * only by their own id or as members of a listed user group.
 */
export function createPolicy(parts: PolicyParts): Policy {
  const { allow, timeoutMs, log } = parts;
  const lists: Record<Permission, readonly string[]> = {
    ...allow,
    status: ['everyone', ...new Set(Object.values(allow).flat())],
  };
  const person = remember(parts, parts.person);
  const members = remember(parts, membersOf);
  const handles = remember(
    parts,
    async () => new Map((await parts.groups()).map(({ id, handle }) => [id, handle])),
  );
  const reported = new Set<string>();

  async function membersOf(group: string): Promise<ReadonlySet<string>> {
    const found = await parts.groupMembers(group);
    if (found === undefined && !reported.has(group)) {
      reported.add(group);
      log.warn({ group }, 'a user group that may do something does not exist; nobody is in it');
    }
    return new Set(found);
  }

  /** Asks for the person and the groups at once. Rejects when too little is known to say. */
  async function may(userId: string, list: readonly string[]): Promise<{ who: Person; allowed: boolean }> {
    const groups = list.includes(userId) ? [] : list.filter(isGroup);
    const inGroup = anyTrue(groups.map(async (group) => (await members(group)).has(userId)));
    // Not waited for when the person alone decides.
    inGroup.catch(() => {});
    const who = await person(userId);
    if (!who.active) return { who, allowed: false };
    const byItself = list.includes(userId) || (who.fullMember && list.includes('everyone'));
    return { who, allowed: byItself || (await inGroup) };
  }

  /** Adds the name of each entry of a list as soon as it is known. */
  async function findNames(entries: readonly string[], names: Map<string, string>) {
    const find = async (entry: string) => {
      const name = isGroup(entry) ? (await handles('all')).get(entry) : await nameOf(entry);
      if (name !== undefined) names.set(entry, name);
    };
    await Promise.allSettled(entries.map(find));
  }

  async function nameOf(userId: string): Promise<string | undefined> {
    const { name, active } = await person(userId);
    return active ? name : undefined;
  }

  return {
    async check(userId, permission) {
      const list = lists[permission];
      const found: { verdict: Verdict; names: Map<string, string> } = {
        verdict: { kind: 'unknown' },
        names: new Map(),
      };
      const look = async () => {
        const { who, allowed } = await may(userId, list);
        found.verdict = allowed
          ? { kind: 'allowed', person: who }
          : { kind: 'refused', person: who, ask: [] };
        if (!allowed) await findNames(others, found.names);
      };
      const others = list.filter((entry) => entry !== 'everyone' && entry !== userId).slice(0, TRIED);
      // What is known when the time is over counts: a refusal needs no names.
      await within(timeoutMs, look()).catch((error: unknown) => {
        if (found.verdict.kind === 'unknown')
          log.warn({ err: error, user: userId }, 'Slack does not tell who this is');
      });
      const { verdict, names } = found;
      if (verdict.kind !== 'refused') return verdict;
      return { ...verdict, ask: others.flatMap((entry) => names.get(entry) ?? []).slice(0, NAMED) };
    },

    async mayList(userId) {
      const answers = Promise.all(PERMISSIONS.map((permission) => may(userId, lists[permission])));
      const known = await within(timeoutMs, answers).catch(() => undefined);
      return known && PERMISSIONS.filter((_, index) => known[index]?.allowed);
    },

    named: (userId, permission) => lists[permission].includes(userId),
    open: (permission) => lists[permission].includes('everyone'),
  };
}

/** Whether any answer is yes, as soon as one is. Rejects when none is and one is not known. */
async function anyTrue(answers: Promise<boolean>[]): Promise<boolean> {
  const yes = answers.map(async (answer) => {
    if (!(await answer)) throw new No();
  });
  return Promise.any(yes).then(
    () => true,
    ({ errors }: AggregateError) => {
      const unknown = errors.find((error) => !(error instanceof No));
      if (unknown !== undefined) throw unknown;
      return false;
    },
  );
}

class No extends Error {}

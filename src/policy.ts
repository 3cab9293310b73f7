import { within } from './within.ts';

/** What decides a permission, and the name that is shown. */
export interface Person {
  id: string;
  name: string;
  /** A full member of this workspace: no guest, nobody from another organization, no bot, not deactivated. */
  fullMember: boolean;
}

/** What a person may be allowed to do. */
export type Permission = 'export';

export type Verdict =
  | { kind: 'allowed'; person: Person }
  | { kind: 'refused'; person: Person }
  /** Slack did not tell in time who this is; nothing is allowed to somebody unknown. */
  | { kind: 'unknown' };

export interface Policy {
  check(userId: string, permission: Permission): Promise<Verdict>;
}

export interface PolicyParts {
  person: (userId: string) => Promise<Person>;
  timeoutMs: number;
  cacheMs: number;
  now: () => number;
}

/** People remembered at once, so that a large workspace cannot fill the memory. */
const REMEMBERED = 5000;

/** Every full member may; guests and people from other organizations may not. */
export function createPolicy({ person, timeoutMs, cacheMs, now }: PolicyParts): Policy {
  const known = new Map<string, { person: Person; untilMs: number }>();

  async function lookUp(userId: string): Promise<Person | undefined> {
    const cached = known.get(userId);
    if (cached && cached.untilMs > now()) return cached.person;
    try {
      const found = await within(timeoutMs, person(userId));
      if (known.size >= REMEMBERED) known.clear();
      known.set(userId, { person: found, untilMs: now() + cacheMs });
      return found;
    } catch {
      return undefined;
    }
  }

  return {
    async check(userId, permission) {
      const found = await lookUp(userId);
      if (found === undefined) return { kind: 'unknown' };
      const allowed: Record<Permission, boolean> = { export: found.fullMember };
      return { kind: allowed[permission] ? 'allowed' : 'refused', person: found };
    },
  };
}

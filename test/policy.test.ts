import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Allow } from '../src/permissions.ts';
import { createPolicy, type PolicyParts } from '../src/policy.ts';
import type { PersonFacts } from '../src/slack/client.ts';
import { SlackApiError } from '../src/slack/errors.ts';

const CACHE_MS = 300_000;
const NOBODY: Allow = { export: [], agent: [], digest: [], site: [], deploy: [], admin: [] };

const member = (id: string): PersonFacts => ({
  id,
  name: id.replace(/^U0?/, '').toLowerCase(),
  fullMember: true,
  active: true,
});
const guest = (id: string): PersonFacts => ({ ...member(id), fullMember: false });
const gone = (id: string): PersonFacts => ({ ...guest(id), active: false });
const never = () => new Promise<never>(() => {});
const away = () => Promise.reject(new Error('away'));

/**
 * A policy over a Slack in which gus and sue are guests, dee is deactivated and everybody else is a full member; ben
 * and gus are in the group S0DOCS. `asked` has every call.
 */
function aPolicy(allow: Partial<Allow>, slack: Partial<PolicyParts> = {}) {
  let nowMs = 1_000_000;
  const asked: string[] = [];
  const warned: unknown[] = [];
  const recorded =
    <T>(name: string, answer: (id: string) => Promise<T>) =>
    (id?: string) => {
      asked.push(id === undefined ? name : `${name} ${id}`);
      return answer(id ?? '');
    };
  const people: Record<string, PersonFacts> = {
    U0GUS: guest('U0GUS'),
    U0SUE: guest('U0SUE'),
    U0DEE: gone('U0DEE'),
  };
  const groups: Record<string, string[]> = { S0DOCS: ['U0BEN', 'U0GUS', 'U0DEE'], S0EMPTY: [] };
  const policy = createPolicy({
    person: recorded('person', slack.person ?? (async (id) => people[id] ?? member(id))),
    groupMembers: recorded('group', slack.groupMembers ?? (async (id) => groups[id])),
    groups: recorded(
      'groups',
      slack.groups ??
        (async () =>
          new Map([
            ['S0DOCS', 'docs-admins'],
            ['S0EMPTY', 'empty'],
          ])),
    ),
    allow: { ...NOBODY, ...allow },
    timeoutMs: slack.timeoutMs ?? 1000,
    contact: slack.contact,
    cacheMs: CACHE_MS,
    now: () => nowMs,
    log: { warn: (about: unknown) => warned.push(about) } as unknown as PolicyParts['log'],
  });
  return {
    policy,
    asked,
    warned,
    kind: async (id: string, permission: Parameters<typeof policy.check>[1] = 'export') =>
      (await policy.check(id, permission)).kind,
    passes: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('who may', () => {
  test('everyone is every full member', async () => {
    const { policy } = aPolicy({ export: ['everyone'] });
    expect(await policy.check('U0ANA', 'export')).toEqual({ kind: 'allowed', person: member('U0ANA') });
    expect(await policy.check('U0GUS', 'export')).toEqual({
      kind: 'refused',
      person: guest('U0GUS'),
      contacts: 'a full member of this workspace',
    });
  });

  test('nobody who is deactivated or a bot, however named', async () => {
    const { kind } = aPolicy({ export: ['U0DEE'], agent: ['S0DOCS'], digest: ['everyone'] });
    for (const permission of ['export', 'agent', 'digest', 'status'] as const)
      expect(await kind('U0DEE', permission)).toBe('refused');
  });

  test('the status is for full members, and for people with any permission', async () => {
    const { kind } = aPolicy({ admin: ['U0SUE'], digest: ['S0DOCS'] });
    expect(await kind('U0ANA', 'status')).toBe('allowed');
    expect(await kind('U0SUE', 'status')).toBe('allowed');
    expect(await kind('U0GUS', 'status')).toBe('allowed');
    expect(await aPolicy({ admin: ['U0ANA'] }).kind('U0GUS', 'status')).toBe('refused');
  });

  test.each([
    ['deploy', 'admin', [], 'allowed', 'refused'],
    ['deploy', 'admin', ['U0SUE'], 'refused', 'allowed'],
    ['site', 'agent', [], 'allowed', 'refused'],
    ['site', 'agent', ['U0SUE'], 'refused', 'allowed'],
  ] as const)(
    '%s is for those of %s, unless it has people of its own: %j',
    async (name, like, own, ana, sue) => {
      const { kind } = aPolicy({ [like]: ['U0ANA'], [name]: own });
      expect([await kind('U0ANA', name), await kind('U0SUE', name)]).toEqual([ana, sue]);
    },
  );

  test('whose request comes from elsewhere has to be named by their own id', async () => {
    const { policy } = aPolicy({ export: ['everyone', 'S0DOCS', 'U0EVE'], agent: ['everyone'] });
    const from = async (id: string, permission: 'export' | 'status' | 'agent' = 'export') =>
      policy.check(id, permission, { external: true });
    expect(await from('U0EVE')).toMatchObject({ kind: 'allowed' });
    expect(await from('U0EVE', 'status')).toMatchObject({ kind: 'allowed' });
    expect(await from('U0EVE', 'agent')).toMatchObject({ kind: 'refused', outsider: true });
    expect(await from('U0BEN')).toMatchObject({
      kind: 'refused',
      outsider: true,
      contacts: '@docs-admins or @eve',
    });
    expect(await policy.check('U0BEN', 'export')).toMatchObject({ kind: 'allowed' });
    expect(await from('U0DEE')).toMatchObject({ kind: 'refused' });
  });

  test('everyone is also who is of our Grid, wherever their request comes from; a guest of it is not', async () => {
    const person = async (id: string): Promise<PersonFacts> => ({
      ...guest(id),
      ...(id === 'U0SIS' && { gridMember: true }),
    });
    const { policy } = aPolicy({ agent: ['everyone'] }, { person });
    const from = async (id: string, external: boolean) =>
      (await policy.check(id, 'agent', { external })).kind;
    expect(await from('U0SIS', true)).toBe('allowed');
    expect(await from('U0SIS', false)).toBe('allowed');
    expect(await from('U0GUS', true)).toBe('refused');
    expect(await policy.permissionsOf('U0SIS')).toContain('agent');
  });

  test('is not known where the app lacks the scope, and says so', async () => {
    const { policy, warned } = aPolicy(
      { export: ['everyone'] },
      { person: async () => Promise.reject(new SlackApiError('refused', 'users.info', 'missing_scope')) },
    );
    expect(await policy.check('U0ANA', 'export')).toEqual({ kind: 'unknown', missingScope: true });
    expect(warned).toHaveLength(1);
    const other = aPolicy({ export: ['everyone'] }, { person: away });
    expect(await other.policy.check('U0ANA', 'export')).toEqual({ kind: 'unknown' });
  });

  test('nobody whom the list does not cover, whatever it says and whatever Slack returns', async () => {
    const ids = fc.constantFrom('U0', 'U1', 'U2', 'U3');
    const group = fc.constantFrom('S0DOCS', 'S1DOCS', 'S2DOCS');
    const known = fc.record({ fullMember: fc.boolean(), active: fc.boolean(), fails: fc.boolean() });
    const entries = fc.array(fc.oneof(ids, group, fc.constant('everyone')), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        entries,
        fc.dictionary(ids, known),
        fc.dictionary(group, fc.option(fc.array(ids), { nil: undefined })),
        fc.subarray(['S0DOCS', 'S1DOCS', 'S2DOCS']),
        ids,
        async (list, people, members, broken, asking) => {
          const { policy } = aPolicy(
            { agent: list },
            {
              person: async (id) => {
                const found = people[id];
                if (found === undefined || found.fails) throw new Error('away');
                const { fullMember, active } = found;
                return { id, name: id, active, fullMember: active && fullMember };
              },
              groupMembers: async (id) => (broken.includes(id) ? away() : members[id]),
              groups: away,
            },
          );
          const who = people[asking];
          const grouped = list.filter((entry) => entry.startsWith('S') && !broken.includes(entry));
          const covered =
            who?.active === true &&
            !who.fails &&
            (list.includes(asking) ||
              (list.includes('everyone') && who.fullMember) ||
              grouped.some((entry) => members[entry]?.includes(asking)));
          const { kind } = await policy.check(asking, 'agent');
          expect(kind === 'allowed').toBe(covered);
          expect((await policy.permissionsOf(asking))?.includes('agent') ?? false).toBe(
            covered && (await policy.permissionsOf(asking)) !== undefined,
          );
          if (who === undefined || who.fails) expect(kind).toBe('unknown');
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('facts that Slack does not return', () => {
  test.each([
    ['in time', never],
    ['at all', away],
  ])('who somebody is, %s: unknown', async (_, person) => {
    const { policy, kind } = aPolicy({ export: ['everyone', 'U0ANA'] }, { person, timeoutMs: 1 });
    expect(await policy.check('U0ANA', 'export')).toEqual({ kind: 'unknown' });
    expect(await kind('U0ANA', 'status')).toBe('unknown');
    expect(await policy.permissionsOf('U0ANA')).toBeUndefined();
  });

  test('who is in a group: unknown to those whom only the group could allow', async () => {
    const groupMembers = async (id: string) => (id === 'S0SLOW' ? away() : ['U0BEN']);
    const { policy, kind } = aPolicy(
      { export: ['S0SLOW', 'S0DOCS', 'U0GUS'], agent: ['everyone', 'S0SLOW'] },
      { groupMembers, timeoutMs: 50 },
    );
    expect(await kind('U0ANA')).toBe('unknown');
    expect(await kind('U0BEN')).toBe('allowed');
    expect(await kind('U0GUS')).toBe('allowed');
    expect(await kind('U0ANA', 'agent')).toBe('allowed');
    expect(await policy.permissionsOf('U0ANA')).toBeUndefined();
  });

  test('who is in one group does not wait for the members of another', async () => {
    const groupMembers = (id: string) => (id === 'S0SLOW' ? never() : Promise.resolve(['U0BEN']));
    const { kind } = aPolicy({ export: ['S0SLOW', 'S0DOCS'] }, { groupMembers, timeoutMs: 50 });
    expect([await kind('U0BEN'), await kind('U0ANA')]).toEqual(['allowed', 'unknown']);
  });
});

describe('whom to ask', () => {
  const ask = async (list: string[], slack: Partial<PolicyParts> = {}) => {
    const { policy, asked } = aPolicy({ admin: list }, slack);
    const verdict = await policy.check('U0GUS', 'admin');
    return { asked, whom: verdict.kind === 'refused' ? verdict.contacts : verdict.kind };
  };
  const nobody = 'your Docket admins';
  const slow = { groups: never, timeoutMs: 50 };

  test.each<[string, string[], Partial<PolicyParts>]>([
    ['@ana or @empty or @ben', ['U0ANA', 'S0EMPTY', 'U0BEN', 'U0DORA'], {}],
    ['@ana', ['U0DEE', 'S0NONE', 'U0ANA'], {}],
    ['a full member of this workspace', ['everyone'], { person: async (id) => guest(id) }],
    [nobody, [], {}],
    ['@ana', ['U0ANA', 'S0EMPTY'], { groups: away }],
    ['@ana', ['S0EMPTY', 'U0ANA'], slow],
    [nobody, ['U0ANA'], { person: async (id) => (id === 'U0GUS' ? guest(id) : never()), timeoutMs: 50 }],
    ['@docs-admins', ['U0ANA'], { contact: { id: 'S0DOCS' } }],
    ['@ben', ['U0ANA'], { contact: { id: 'U0BEN' } }],
    ['@ana', ['U0ANA'], { contact: { id: 'S0NONE' } }],
    ['@ana', ['U0ANA'], { contact: { id: 'U0DEE' } }],
    ['@ana', ['U0ANA'], { contact: { id: 'S0DOCS' }, groups: away }],
    ['@ana', ['U0ANA'], { contact: { id: 'U0GUS' } }],
  ])('%s, of %j with %j', async (whom, list, slack) => expect((await ask(list, slack)).whom).toBe(whom));

  test('a text of the settings stands as it is, and nobody is looked up for it', async () => {
    expect(await ask(['U0ANA'], { contact: { text: 'the docs team' } })).toEqual({
      whom: 'the docs team',
      asked: ['person U0GUS'],
    });
  });
});

describe('what is asked of Slack', () => {
  test('who became a guest, or left a group, is refused when the time is over', async () => {
    const slack = { fullMember: true, members: ['U0SUE'] };
    const { kind, passes } = aPolicy(
      { export: ['everyone', 'S0DOCS'] },
      {
        person: async (id) => ({ ...member(id), fullMember: id !== 'U0SUE' && slack.fullMember }),
        groupMembers: async () => slack.members,
      },
    );
    expect([await kind('U0ANA'), await kind('U0SUE')]).toEqual(['allowed', 'allowed']);
    Object.assign(slack, { fullMember: false, members: [] });
    expect([await kind('U0ANA'), await kind('U0SUE')]).toEqual(['allowed', 'allowed']);
    passes(CACHE_MS);
    expect([await kind('U0ANA'), await kind('U0SUE')]).toEqual(['refused', 'refused']);
  });

  test('a group that does not exist is warned of once', async () => {
    const { kind, passes, warned } = aPolicy({ export: ['S0NONE'] });
    expect(await kind('U0ANA')).toBe('refused');
    passes(CACHE_MS);
    expect(await kind('U0ANA')).toBe('refused');
    expect(warned).toEqual([{ group: 'S0NONE' }]);
  });
});

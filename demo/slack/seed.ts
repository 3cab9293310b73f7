import { type Channel, createWorkspace, type Team, type User, type Workspace } from './workspace.ts';

/** The people of the demo workspace, and what is special about each. */
export const PERSON_NAMES = ['ana', 'ben', 'gus', 'sue', 'eve'] as const;
export type PersonName = (typeof PERSON_NAMES)[number];

const TEAM = { id: 'T0ACME', domain: 'acme', name: 'Acme', url: 'https://acme.slack.com/' };
const BOT = { userId: 'U0DOCKET', botId: 'B0DOCKET', appId: 'A0DOCKET' };
const OTHER_TEAM = 'T0OTHER';

function userOf(team: Team, name: string, realName: string, special: Partial<User> = {}): User {
  return {
    id: `U0${name.toUpperCase()}`,
    name,
    realName,
    team: team.id,
    tz: 'Europe/Berlin',
    tzOffset: 3600,
    isBot: false,
    isRestricted: false,
    isUltraRestricted: false,
    isStranger: false,
    deleted: false,
    ...special,
  };
}

/** A workspace with two full members, two guests, somebody from another organization, and channels of each kind. */
export function createAcme(nowMs: () => number, team: Team = TEAM): Workspace {
  const user = (name: string, realName: string, special?: Partial<User>) =>
    userOf(team, name, realName, special);
  const workspace = createWorkspace({
    team,
    bot: BOT,
    nowMs,
    users: [
      user('docket', 'Docket', { id: BOT.userId, isBot: true, tz: 'America/Los_Angeles', tzOffset: -28_800 }),
      user('ana', 'Ana Alves'),
      user('ben', 'Ben Brandt', { tz: 'America/New_York', tzOffset: -18_000 }),
      user('gus', 'Gus Gast', { isRestricted: true }),
      // Slack sets both flags for single-channel guests.
      user('sue', 'Sue Single', { isRestricted: true, isUltraRestricted: true }),
      user('eve', 'Eve Extern', { team: OTHER_TEAM, isStranger: true }),
    ],
  });
  workspace.userGroups.set('S0DOCS', { handle: 'docs-admins', users: ['U0ANA'] });

  const conversation = (name: string, members: string[], rest: Partial<Channel> = {}) =>
    workspace.addChannel({
      label: `#${name}`,
      name,
      kind: 'public',
      members: new Set(members.map((member) => userNamed(workspace, member).id)),
      archived: false,
      shared: false,
      ...rest,
    });
  conversation('docs', ['docket', 'ana', 'ben', 'gus', 'sue']);
  conversation('private', ['docket', 'ana', 'ben', 'gus'], { kind: 'private' });
  conversation('elsewhere', ['ana', 'ben']);
  conversation('secret', ['ana', 'ben'], { kind: 'private' });
  conversation('archive', ['docket', 'ana', 'ben'], { archived: true });
  conversation('shared', ['docket', 'ana', 'ben', 'eve'], { shared: true });
  return workspace;
}

/** The user with this name; asking for one who does not exist is a mistake in the test. */
export function userNamed(workspace: Workspace, name: string): User {
  const found = workspace.users.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`Nobody here is called ${name}`);
  return found;
}

/**
 * Finds a conversation as people speak of it: `#docs`, an id, `@ana` for the direct messages between ana and
 * the bot, `ana+ben` for those between two people, `ana+ben+docket` for a group of three.
 */
export function channelNamed(workspace: Workspace, where: string): Channel {
  const { channels, bot } = workspace;
  const found = channels.find(({ id, label }) => id === where || label === where);
  if (found) return found;
  if (where.startsWith('@')) return workspace.direct([bot.userId, userNamed(workspace, where.slice(1)).id]);
  if (where.includes('+')) {
    return workspace.direct(where.split('+').map((name) => userNamed(workspace, name.trim()).id));
  }
  throw new Error(`No conversation ${where}; there are ${channels.map(({ label }) => label).join(', ')}`);
}

import { z } from 'zod';
import { flag } from './arguments.ts';
import { defineMethod, type Method } from './method.ts';
import { Refused } from './refused.ts';

const list = defineMethod({
  tier: 'T2',
  scopes: ['usergroups:read'],
  args: z.object({ include_count: flag, include_disabled: flag, include_users: flag }),
  run({ workspace }, args) {
    const { team, userGroups } = workspace;
    const usergroups = [...userGroups].map(([id, { handle, users }]) => ({
      id,
      team_id: team.id,
      is_usergroup: true,
      is_subteam: true,
      name: handle,
      description: '',
      handle,
      is_external: false,
      date_delete: 0,
      auto_type: null,
      prefs: { channels: [], groups: [] },
      ...(args.include_users && { users }),
      ...(args.include_count && { user_count: users.length }),
    }));
    return { usergroups };
  },
});

const users = defineMethod({
  tier: 'T2',
  scopes: ['usergroups:read'],
  args: z.object({ usergroup: z.string(), include_disabled: flag }),
  run({ workspace }, { usergroup }) {
    const group = workspace.userGroups.get(usergroup);
    if (!group) throw new Refused('no_such_subteam');
    return { users: group.users };
  },
});

export const usergroupMethods: Record<string, Method> = {
  'usergroups.list': list,
  'usergroups.users.list': users,
};

import type { UsersInfoResponse } from '@slack/web-api';
import type { Person } from '../policy.ts';

/** Returns the facts about a person that decide permissions, from `users.info`. `own` is the app's workspace. */
export function personOf(
  userId: string,
  user: NonNullable<UsersInfoResponse['user']>,
  own: { teamId: string; enterpriseId?: string },
): Person {
  const guest = user.is_restricted === true || user.is_ultra_restricted === true;
  const active = user.is_bot !== true && user.deleted !== true;
  const full = active && !guest && user.is_stranger !== true;
  // A person of another organization in a shared channel is not `is_stranger`, but has another team.
  const here = [user.team_id, ...(user.enterprise_user?.teams ?? [])].includes(own.teamId);
  // The person's own, never a workspace's: anybody may write in a channel that is shared with it.
  const theirGrid = user.enterprise_user?.enterprise_id;
  const gridMember = full && own.enterpriseId !== undefined && theirGrid === own.enterpriseId;
  const name = [user.profile?.display_name, user.profile?.real_name, user.name].find(Boolean) ?? userId;
  return { id: userId, name, fullMember: full && here, ...(gridMember && { gridMember }), active };
}

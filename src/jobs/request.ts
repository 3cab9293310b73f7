import { idOf } from '../store/ids.ts';

/** Somebody's request, from which a run is made. */
export interface RunRequest {
  teamId: string;
  user: { id: string; name: string; fullMember: boolean };
  /** `name` is Slack's: the channel's own, or `directmessage` and `privategroup` for those it does not name. */
  channel: { id: string; name: string };
  /** The same for a repeat of the same request. */
  requestId: string;
}

/** Returns the id of the run that a request starts: the same for a repeat, which starts no other. */
export const requestRunId = ({ teamId, requestId }: Pick<RunRequest, 'teamId' | 'requestId'>) =>
  idOf(teamId, requestId);

/**
 * Returns where somebody asked. `joinable`: the app can be invited there. Slack names public channels alone; one
 * without a name counts as private. On Home there is none: what is asked there goes to the person's direct messages.
 */
export function conversationOf({ id, name }: RunRequest['channel']) {
  const isDirect = name === 'directmessage' || name.startsWith('mpdm-') || id.startsWith('D') || id === '';
  const isNamed = name !== '' && name !== 'privategroup';
  return { channel: id, joinable: !isDirect, isPublic: !isDirect && isNamed };
}

import { idOf } from '../store/keys.ts';

/** A person's request, which becomes a run. */
export interface RunRequest {
  teamId: string;
  user: { id: string; name: string; fullMember: boolean };
  /** `name` is Slack's: the channel's own, or `directmessage` and `privategroup` for unnamed ones. */
  channel: { id: string; name: string };
  /** The same for a repeat of the same request. */
  requestId: string;
}

/** Returns the run id of a request. A repeat has the same id, so it starts no second run. */
export const requestRunId = ({ teamId, requestId }: Pick<RunRequest, 'teamId' | 'requestId'>) =>
  idOf(teamId, requestId);

/**
 * Returns the conversation of a request. `joinable`: the app can be invited there. Slack names only public channels;
 * one without a name counts as private. Home has no conversation: its requests use the person's direct messages.
 */
export function conversationOf({ id, name }: RunRequest['channel']) {
  const isDirect = name === 'directmessage' || name.startsWith('mpdm-') || id.startsWith('D') || id === '';
  const isNamed = name !== '' && name !== 'privategroup';
  return { channel: id, joinable: !isDirect, isPublic: !isDirect && isNamed };
}

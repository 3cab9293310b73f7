import { messageUrl } from '../../../slack/text.ts';
import type { Visible } from '../../visibility.ts';
import type { ListedThread } from './record.ts';

/** What decides who may see a thread: whoever followed its job asked for it. */
export const visibleThread = ({ owner, ...thread }: ListedThread): Visible => ({
  ...thread,
  requester: owner,
});

/** Returns the address of a thread, once it has a place. */
export const threadPermalink = (
  { place }: Pick<ListedThread, 'place'>,
  workspaceUrl: string,
): string | undefined => place && messageUrl(workspaceUrl, { channel: place.channel, ts: place.rootTs });

import type { Log } from '../runtime/log.ts';
import { type RememberParts, remember } from '../runtime/remember.ts';
import { within } from '../runtime/within.ts';
import type { SlackApi } from './client.ts';
import { isPermanent } from './errors.ts';

export interface PublicChannelsParts extends RememberParts {
  channel: SlackApi['channel'];
  log: Pick<Log, 'info'>;
}

/**
 * Returns a cached look-up of whether every full member may read a conversation. It never rejects: when Slack does not
 * answer within `timeoutMs`, the conversation counts as private.
 */
export function createPublicChannels(parts: PublicChannelsParts): (channelId: string) => Promise<boolean> {
  const isPublic = remember(parts, async (id) => {
    try {
      return (await parts.channel(id)).isPublic;
    } catch (error) {
      if (isPermanent(error)) return false;
      throw error;
    }
  });
  return async (channelId) => {
    try {
      return await within(parts.timeoutMs, isPublic(channelId));
    } catch (error) {
      parts.log.info(
        { err: error, channel: channelId },
        'a channel could not be looked up; it counts as private',
      );
      return false;
    }
  };
}

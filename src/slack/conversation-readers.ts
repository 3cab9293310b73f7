import { cached, type RememberParts } from '../runtime/cached.ts';
import type { Log } from '../runtime/log.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import type { SlackApi } from './client.ts';
import { isPermanent } from './errors.ts';

export interface ConversationReadersParts extends RememberParts, Pick<SlackApi, 'channel' | 'members'> {
  log: Pick<Log, 'info'>;
}

/** Who may read a conversation. Neither rejects: if Slack does not answer in time, the result is false. */
export interface ConversationReaders {
  /** Whether every full member of the workspace may. */
  isPublic(channelId: string): Promise<boolean>;
  /** Whether this person is in it. */
  isMember(channelId: string, userId: string): Promise<boolean>;
}

/** Returns cached look-ups of who may read a conversation. */
export function createConversationReaders(parts: ConversationReadersParts): ConversationReaders {
  /** Returns Slack's facts about a channel; `otherwise` if Slack does not answer, or never will. */
  function lookUp<T>(load: (id: string) => Promise<T>, otherwise: T) {
    const loadCached = cached(parts, async (id) => {
      try {
        return await load(id);
      } catch (error) {
        if (isPermanent(error)) return otherwise;
        throw error;
      }
    });
    return async (channelId: string) => {
      try {
        return await withTimeout(parts.timeoutMs, loadCached(channelId));
      } catch (error) {
        const about = { err: error, channel: channelId };
        parts.log.info(about, 'a channel could not be looked up; it counts as private');
        return otherwise;
      }
    };
  }

  const isPublic = lookUp(async (id) => (await parts.channel(id)).isPublic, false);
  const membersOf = lookUp(async (id) => new Set(await parts.members(id)), new Set<string>());
  return {
    isPublic,
    isMember: async (channelId, userId) => (await membersOf(channelId)).has(userId),
  };
}

import type { Timing } from '../runtime/timing.ts';
import type { PaceStore } from '../store/rate-limit.ts';
import type { SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';
import { holdWhenLimited, readPace } from './rate-limits.ts';

export interface ChannelsParts {
  slack: Pick<SlackApi, 'channel'>;
  pace: PaceStore;
  teamId: () => string;
  timing: Pick<Timing, 'readsPerMinute'>;
  now: () => number;
}

/**
 * What Slack says of a conversation. Whoever asks meanwhile gets the same answer; whoever has to wait for a turn is
 * told with kind `limited` when to ask again.
 */
export function createChannels({ slack, pace, teamId, timing, now }: ChannelsParts): SlackApi['channel'] {
  const asked = new Map<string, ReturnType<SlackApi['channel']>>();

  async function ask(channelId: string) {
    const pacer = readPace('info', teamId(), timing);
    const retryAfterMs = await pace.take(pacer, { of: channelId, rank: 0, sinceMs: now() });
    if (retryAfterMs > 0)
      throw new SlackApiError('limited', 'conversations.info', 'no_turn', { retryAfterMs });
    return slack.channel(channelId).catch(holdWhenLimited(pace, pacer));
  }

  return (channelId) => {
    const asking = asked.get(channelId) ?? ask(channelId).finally(() => asked.delete(channelId));
    asked.set(channelId, asking);
    return asking;
  };
}

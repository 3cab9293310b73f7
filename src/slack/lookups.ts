import { setTimeout as sleep } from 'node:timers/promises';
import { type CacheParts, cached } from '../runtime/cached.ts';
import type { Log } from '../runtime/log.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import type { RateLimitStore } from '../store/rate-limit.ts';
import type { SlackApi } from './client.ts';
import { isPermanent, SlackApiError } from './errors.ts';
import type { Mentions, Names } from './markdown/inline.ts';
import { holdWhenLimited, slackRateLimit } from './rate-limits.ts';
import { ORG_WIDE_TEXT } from './web-calls.ts';

/** Asks Slack who the bot is, until it answers. Until then, Docket refuses commands. Resolves after the first try. */
export async function findBot(
  slack: SlackApi,
  timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs'>,
  log: Log,
  stopping: AbortSignal,
  failures = 1,
): Promise<void> {
  try {
    const { teamId, botUserId } = await slack.identity();
    log.info({ team: teamId, bot: botUserId }, 'authenticated with Slack');
  } catch (error) {
    const isRefused = error instanceof SlackApiError && ['token', 'refused'].includes(error.kind);
    const level = isRefused ? 'error' : 'warn';
    const unknown = 'Slack does not say who the bot is; check its token and SLACK_API_URL';
    log[level]({ err: error }, slack.isOrgWide() ? ORG_WIDE_TEXT : unknown);
    const pause = sleep(backoffMs(timing, failures, 0.5), undefined, { signal: stopping, ref: false });
    void pause.then(() => findBot(slack, timing, log, stopping, failures + 1)).catch(() => {});
  }
}

/**
 * Returns `slack.channel` under its rate limit. If no slot is free, it rejects with a `SlackApiError` of kind `limited`,
 * whose `retryAfterMs` is the time of the retry.
 */
export function createChannels(
  slack: Pick<SlackApi, 'channel'>,
  rateLimiter: RateLimitStore,
  teamId: () => string,
  timing: Timing,
): SlackApi['channel'] {
  return async (channelId) => {
    const rateLimit = slackRateLimit('info', teamId(), timing);
    const retryAfterMs = await rateLimiter.takeSlot(rateLimit, { id: channelId });
    if (retryAfterMs > 0)
      throw new SlackApiError('limited', 'conversations.info', 'no_slot', { retryAfterMs });
    return slack.channel(channelId).catch(holdWhenLimited(rateLimiter, rateLimit));
  };
}

/** Returns a handler that replaces an error by `otherwise` if a retry would have the same outcome. */
const ifPermanent =
  <T>(otherwise: T) =>
  (error: unknown): T => {
    if (isPermanent(error)) return otherwise;
    throw error;
  };

/** How long an answer waits for Slack to say who may read a conversation. */
const READERS_MS = 500;

/** Returns cached look-ups of names, see `createNames`, and of who may read a conversation, see `ConversationReaders`. */
export function createLookups(slack: LookupSlack, parts: CacheParts, log: Pick<Log, 'info'>) {
  /** If Slack does not answer, or never will, the channel counts as private and without members. */
  function lookUp<T>(load: (id: string) => Promise<T>, otherwise: T) {
    const timeoutMs = Math.min(parts.timeoutMs, READERS_MS);
    const loadCached = cached({ ...parts, timeoutMs }, (id) => load(id).catch(ifPermanent(otherwise)));
    return (channel: string) =>
      withTimeout(timeoutMs, loadCached(channel)).catch((err: unknown) => {
        log.info({ err, channel }, 'a channel could not be looked up; it counts as private');
        return otherwise;
      });
  }

  const membersOf = lookUp(slack.members, []);
  return {
    names: createNames(slack, parts),
    isPublic: lookUp(async (id) => (await slack.channel(id)).isPublic, false),
    isMember: async (channelId: string, userId: string) => (await membersOf(channelId)).includes(userId),
  };
}

/** Maximum look-ups of each kind for one message. Slack allows about 100 of people a minute, also for permissions. */
const MAX_LOOKUPS = 20;

interface LookupSlack extends Pick<SlackApi, 'channel' | 'channelName' | 'groups' | 'members'> {
  person: (userId: string) => Promise<{ name: string }>;
}

/**
 * Returns a function that looks up the names for a message's mentions, all at once and within `timeoutMs`. Names that
 * Slack does not know, and those after the first `MAX_LOOKUPS`, are missing. Rejects if a retry may find more.
 */
function createNames(slack: LookupSlack, parts: CacheParts): (mentions: Mentions) => Promise<Names> {
  const person = cached(parts, async (id) => (await slack.person(id).catch(ifPermanent(undefined)))?.name);
  const channel = cached(parts, (id) => slack.channelName(id).catch(ifPermanent(undefined)));
  const handles = cached(parts, () => slack.groups().catch(ifPermanent(new Map<string, string>())));
  const group = async (id: string) => (await handles('all')).get(id);

  async function lookUp(ids: readonly string[], find: (id: string) => Promise<string | undefined>) {
    const first = ids.slice(0, MAX_LOOKUPS);
    return new Map(await Promise.all(first.map(async (id) => [id, await find(id)] as const)));
  }

  return async ({ users, channels, groups }) => {
    const found = Promise.all([lookUp(users, person), lookUp(channels, channel), lookUp(groups, group)]);
    const names = await withTimeout(parts.timeoutMs, found);
    return { users: names[0], channels: names[1], groups: names[2] };
  };
}

import { cached, type RememberParts } from '../runtime/cached.ts';
import type { Log } from '../runtime/log.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import type { RateLimitStore } from '../store/rate-limit.ts';
import type { Identity, SlackApi } from './client.ts';
import { isPermanent, SlackApiError } from './errors.ts';
import type { Mentions, Names } from './markdown/inline.ts';
import { holdWhenLimited, readRateLimit } from './rate-limits.ts';

/** Fewer consecutive failures may pass by themselves. */
const FAILURES_BEFORE_ERROR = 3;

/** Returns whether Slack refused the bot, which no retry changes. */
const isRefused = (error: unknown) =>
  error instanceof SlackApiError && (error.kind === 'token' || error.kind === 'refused');

/** Loads the bot's identity, and retries until Slack answers. Until then, Docket refuses commands. */
export function createIdentity(slack: SlackApi, timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs'>, log: Log) {
  let identity: Identity | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function load(failures: number) {
    try {
      identity = await slack.identity();
      log.info({ team: identity.teamId, bot: identity.botUserId }, 'authenticated with Slack');
    } catch (error) {
      const level = isRefused(error) || failures >= FAILURES_BEFORE_ERROR ? 'error' : 'warn';
      log[level](
        { err: error },
        'Slack does not say who the bot is; check SLACK_BOT_TOKEN and SLACK_API_URL',
      );
      if (!stopped) timer = setTimeout(() => void load(failures + 1), backoffMs(timing, failures, 0.5));
    }
  }

  return {
    /** Returns undefined until Slack has answered. */
    current: () => identity,
    /** Resolves after the first answer, good or bad. */
    start: () => load(1),
    stop(): void {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

export interface ChannelsParts {
  slack: Pick<SlackApi, 'channel'>;
  rateLimiter: RateLimitStore;
  teamId: () => string;
  timing: Pick<Timing, 'readsPerMinute'>;
}

/**
 * Returns `slack.channel` under its rate limit. If no slot is free, it rejects with a `SlackApiError` of kind `limited`,
 * whose `retryAfterMs` is the time of the retry.
 */
export function createChannels({ slack, rateLimiter, teamId, timing }: ChannelsParts): SlackApi['channel'] {
  return async (channelId) => {
    const rateLimit = readRateLimit('info', teamId(), timing);
    const retryAfterMs = await rateLimiter.takeSlot(rateLimit, { id: channelId });
    if (retryAfterMs > 0)
      throw new SlackApiError('limited', 'conversations.info', 'no_turn', { retryAfterMs });
    return slack.channel(channelId).catch(holdWhenLimited(rateLimiter, rateLimit));
  };
}

export interface ConversationReadersParts extends RememberParts, Pick<SlackApi, 'channel' | 'members'> {
  log: Pick<Log, 'info'>;
}

/** Returns a handler that replaces an error by `otherwise` if a retry would have the same outcome. */
const ifPermanent =
  <T>(otherwise: T) =>
  (error: unknown): T => {
    if (isPermanent(error)) return otherwise;
    throw error;
  };

/** Returns cached look-ups of who may read a conversation, see `ConversationReaders`. */
export function createConversationReaders(parts: ConversationReadersParts) {
  /** Returns Slack's facts about a channel; `otherwise` if Slack does not answer, or never will. */
  function lookUp<T>(load: (id: string) => Promise<T>, otherwise: T) {
    const loadCached = cached(parts, (id) => load(id).catch(ifPermanent(otherwise)));
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
    isMember: async (channelId: string, userId: string) => (await membersOf(channelId)).has(userId),
  };
}

/** Slack did not return all names; a retry may. */
export class NamesUnknown extends Error {
  override readonly name = 'NamesUnknown';
}

/**
 * Maximum people, channels and groups, of each kind, looked up for one message. Slack allows about 100 look-ups of
 * people a minute, which permissions need as well.
 */
const MAX_LOOKUPS = 20;

export interface NamesParts extends RememberParts {
  person: (userId: string) => Promise<{ name: string }>;
  channelName: (channelId: string) => Promise<string>;
  groups: () => Promise<readonly { id: string; handle: string }[]>;
}

/**
 * Returns a function that looks up the names for a message's mentions, all at once and within `timeoutMs`. Names that
 * Slack does not know, and those after the first `MAX_LOOKUPS`, are missing. Rejects with `NamesUnknown` if a retry may
 * find more.
 */
export function createNames(parts: NamesParts): (mentions: Mentions) => Promise<Names> {
  const person = cached(parts, async (id) => (await parts.person(id).catch(ifPermanent(undefined)))?.name);
  const channel = cached(parts, (id) => parts.channelName(id).catch(ifPermanent(undefined)));
  const handles = cached(parts, async () => {
    const groups = await parts.groups().catch(ifPermanent([]));
    return new Map(groups.map(({ id, handle }) => [id, handle]));
  });
  const group = async (id: string) => (await handles('all')).get(id);

  return async ({ users, channels, groups }) => {
    const found = Promise.all([
      lookUpNames(users, person),
      lookUpNames(channels, channel),
      lookUpNames(groups, group),
    ]);
    try {
      const [userNames, channelNames, groupNames] = await withTimeout(parts.timeoutMs, found);
      return { users: userNames, channels: channelNames, groups: groupNames };
    } catch (error) {
      throw new NamesUnknown('names could not be looked up', { cause: error });
    }
  };
}

async function lookUpNames(
  ids: readonly string[],
  lookUp: (id: string) => Promise<string | undefined>,
): Promise<ReadonlyMap<string, string>> {
  const known = await Promise.all(
    ids.slice(0, MAX_LOOKUPS).map(async (id) => [id, await lookUp(id)] as const),
  );
  return new Map(known.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])));
}

import { Stopping } from '../runtime/stopping.ts';
import {
  type DeliveryChanges,
  type MessageRecord,
  type MessageStore,
  type Urgency,
  urgencyOf,
  type WantedMessage,
} from '../store/messages.ts';
import type { RateLimit, RateLimitStore } from '../store/rate-limit.ts';
import type { OwnPostStore } from '../store/threads.ts';
import type { ValueStores } from '../store/values.ts';
import { fillLinks, type Message, textOnly, withPreface } from './blocks.ts';
import type { FoundMessage, Place, SlackApi } from './client.ts';
import { isPermanent, SlackApiError } from './errors.ts';
import {
  editRateLimit,
  holdWhenLimited,
  postRateLimit,
  type RetryParts,
  readRateLimit,
  retryOf,
} from './rate-limits.ts';
import type { IsTooLate } from './web-calls.ts';

export interface DeliveryParts extends RetryParts {
  slack: SlackApi;
  messages: MessageStore;
  links: ValueStores['links'];
  people: ValueStores['people'];
  ownPosts: OwnPostStore;
  rateLimiter: RateLimitStore;
  /** Called when Slack shows the wanted form; `lagMs` is how long that was pending. */
  onShown?: (urgency: Urgency, lagMs: number) => void;
  now: () => number;
}

/** Maximum searches for lost posts that continue on a further page. */
const MAX_SEARCHES = 10_000;

/** Progress and low-priority posts leave a share of the slots to endings and clicks. */
const priorityOf = (wanted: WantedMessage): 'interactive' | 'low' =>
  ['progress', 'lowPriority'].includes(urgencyOf(wanted)) ? 'low' : 'interactive';

/** Returns whether a message is posted again after a person deleted it. */
const isReposted = ({ kind, repost }: WantedMessage) => repost ?? kind !== 'progress';

const forgetPost = { postedAtMs: undefined, checkAtMs: undefined };

/** Returns the changes after a post. A refusal that moved the message stays recorded. */
const afterPost = ({ movedTo }: MessageRecord): DeliveryChanges => ({
  ...forgetPost,
  failures: undefined,
  deleted: undefined,
  ...(movedTo === undefined && { refusal: undefined }),
});

const forgetEdits = { ts: undefined, deliveredHash: undefined, editUnclearUntilMs: undefined };

/** Returns the form in which to send a message, after Slack's refusals. */
const formOf = ({ wanted, refusedHash, form = 'own' }: MessageRecord) =>
  refusedHash === wanted.hash ? form : 'own';

/** A call that posts or edits a message. */
interface MarkedCall<Result> {
  rateLimit: RateLimit;
  /** Returns the mark of a call that may take effect until this time. */
  mark: (untilMs: number) => Pick<MessageRecord, 'postedAtMs' | 'checkAtMs' | 'editUnclearUntilMs'>;
  /** The changes for a call that did not happen: they remove the mark. */
  undone: DeliveryChanges;
  /** Returns the changes for a call that may have happened. */
  unclear: () => DeliveryChanges;
  send: (content: Message, isTooLate: IsTooLate) => Promise<Result>;
  /** Records the result. Returns the same as `Deliver`. */
  onResult: (result: Result, marked: MessageRecord) => Promise<number | undefined>;
}

/**
 * Delivers the wanted form of one message. Returns the milliseconds until its next call, or undefined if Slack shows
 * the wanted form. Safe to repeat at any point.
 */
export type Deliver = (key: string) => Promise<number | undefined>;

/**
 * Returns the delivery of one message: posts it once, then edits it. Two deliveries of one key may overlap if a process
 * was taken for dead. They cannot post twice: a mark is written before every call, but only if the record is unchanged
 * since it was read, so the second delivery loads the record again.
 */
export function createDelivery(parts: DeliveryParts): Deliver {
  const { slack, messages, links, people, ownPosts, rateLimiter, now, timing, log } = parts;
  /** Where searches for lost posts continue, by message. A later search of the same message has another `fromMs`. */
  const nextPages = new Map<string, { fromMs: number; cursor: string }>();
  /** How long after a call was sent it may still take effect. */
  const effectMs = timing.slackCallMs + timing.callMarginMs;

  const isShown = ({ deliveredHash, wanted }: MessageRecord) => deliveredHash === wanted.hash;

  return async (key) => {
    const record = await messages.load(key);
    if (record !== undefined && (!isShown(record) || record.editUnclearUntilMs !== undefined)) {
      // While Slack refuses the token, no call is made.
      const inMs = slack.refusedForMs() || (await deliver(key, record));
      if (inMs !== undefined) return inMs;
    }
    return (await messages.markDelivered(key, record?.wanted.hash)) ? undefined : 0;
  };

  async function deliver(key: string, record: MessageRecord): Promise<number | undefined> {
    const { retracted, hash } = record.wanted;
    try {
      if (record.ts === undefined) return await post(key, record);
      if (retracted && record.refusedHash !== hash) return await remove(key, record);
      return await edit(key, record);
    } catch (error) {
      return handleFailure(key, record, error);
    }
  }

  /** Deletes the message; twice does no harm. */
  async function remove(key: string, record: MessageRecord): Promise<number | undefined> {
    const { wanted, channel = '', ts = '' } = record;
    const rateLimit = editRateLimit(wanted.teamId, timing);
    const waitMs = await rateLimiter.takeSlot(rateLimit, { id: key });
    if (waitMs > 0) return waitMs;
    try {
      await slack.remove({ channel, ts }).catch(holdWhenLimited(rateLimiter, rateLimit));
    } catch (error) {
      if (!(error instanceof SlackApiError) || !isPermanent(error)) throw error;
      if (error.kind !== 'missing') return save(key, record, { refusedHash: wanted.hash, form: 'own' }, 0);
    }
    reportShown(record);
    return save(key, record, { ...forgetEdits, deliveredHash: wanted.hash, failures: undefined }, undefined);
  }

  /** Posts the message. If an earlier post had no answer, searches for it first. */
  async function post(key: string, record: MessageRecord): Promise<number | undefined> {
    const { wanted } = record;
    const isUnwanted = wanted.retracted && record.postedAtMs === undefined;
    if (isUnwanted || (record.deleted && !isReposted(wanted))) {
      return save(key, record, { deliveredHash: wanted.hash }, undefined);
    }
    const target = await resolveTarget(record);
    if (target === undefined) return timing.retryMinMs;
    const isRoot = target.threadTs === undefined;

    if (record.postedAtMs !== undefined) {
      const { checkAtMs = 0, postedAtMs: sinceMs } = record;
      const waitMs = checkAtMs - now();
      // Further away than it can be: another process planned it, with a clock that was ahead or longer limits.
      if (waitMs > effectMs) return save(key, record, { checkAtMs: now() + effectMs }, effectMs);
      if (waitMs > 0) return waitMs;
      const found = await findLostPost(key, wanted.teamId, target, sinceMs, checkAtMs);
      if (typeof found === 'number') return found;
      log.info({ message: key, found: found !== undefined }, 'looked for a post whose answer was lost');
      if (found !== undefined) {
        const { channel, ts, hash } = found;
        if (isRoot) await ownPosts.markPosted(wanted.teamId, channel, key, ts);
        if (hash === wanted.hash) reportShown(record);
        return save(key, record, { channel, ts, deliveredHash: hash, ...afterPost(record) }, 0);
      }
      if (wanted.retracted) return save(key, record, forgetPost, 0);
    }

    const rateLimit = postRateLimit(target.channel, timing);
    const waitMs = await rateLimiter.takeSlot(rateLimit, { id: key, priority: priorityOf(wanted) });
    if (waitMs > 0) return waitMs;
    if (isRoot) await ownPosts.markPosting(wanted.teamId, target.channel, key);
    const postedAtMs = record.postedAtMs ?? now();
    return callMarked(key, record, {
      rateLimit,
      mark: (untilMs) => ({ postedAtMs, checkAtMs: untilMs }),
      // A failed retry says nothing about whether an earlier attempt succeeded.
      undone: record.postedAtMs === undefined ? forgetPost : { checkAtMs: now() },
      unclear: () => ({ checkAtMs: now() + timing.callMarginMs }),
      send: (content, isTooLate) => slack.post(target, content, { key, hash: wanted.hash }, isTooLate),
      async onResult(posted) {
        reportShown(record);
        await messages.update(key, { ...posted, deliveredHash: wanted.hash, ...afterPost(record) });
        if (isRoot) await ownPosts.markPosted(wanted.teamId, posted.channel, key, posted.ts);
        return undefined;
      },
    });
  }

  /**
   * Searches for a post whose answer was lost: reads one page, for which it takes a slot. Returns the message, undefined
   * if it is not there, or the milliseconds until the next page. The post was made at `sinceMs` or later; from
   * `fromMs` on, it can be found.
   */
  async function findLostPost(
    key: string,
    teamId: string,
    place: Place,
    sinceMs: number,
    fromMs: number,
  ): Promise<FoundMessage | undefined | number> {
    const rateLimit = readRateLimit(place.threadTs === undefined ? 'history' : 'replies', teamId, timing);
    const waitMs = await rateLimiter.takeSlot(rateLimit, { id: key });
    if (waitMs > 0) return waitMs;
    const next = nextPages.get(key);
    const cursor = next?.fromMs === fromMs ? next.cursor : undefined;
    try {
      const { found, nextCursor } = await slack.findMessage(key, place, sinceMs, cursor);
      if (found === undefined && nextCursor !== undefined) {
        // An entry stays if another process ends that search.
        const [oldest = key] = nextPages.keys();
        if (nextPages.size >= MAX_SEARCHES) nextPages.delete(oldest);
        nextPages.set(key, { fromMs, cursor: nextCursor });
        return 0;
      }
      nextPages.delete(key);
      return found;
    } catch (error) {
      const isCursorLost = error instanceof SlackApiError && error.code === 'invalid_cursor';
      if (!isCursorLost) return holdWhenLimited(rateLimiter, rateLimit)(error);
      // The message at which the next page begins was deleted.
      nextPages.delete(key);
      return 0;
    }
  }

  /** Edits the message. If an edit had no answer, edits once more after it can no longer arrive. */
  async function edit(key: string, record: MessageRecord): Promise<number | undefined> {
    const { wanted, channel, ts, editUnclearUntilMs = 0 } = record;
    if (channel === undefined || ts === undefined) throw new Error('an edit of what is not posted');
    const unclearMs = Math.min(editUnclearUntilMs - now(), effectMs);
    if (isShown(record) && unclearMs > 0) return unclearMs;
    const gapMs = (record.editedAtMs ?? 0) + timing.editGapMs - now();
    if (gapMs > 0) return Math.min(gapMs, timing.editGapMs);
    const rateLimit = editRateLimit(wanted.teamId, timing);
    const waitMs = await rateLimiter.takeSlot(rateLimit, { id: key, priority: priorityOf(wanted) });
    if (waitMs > 0) return waitMs;
    // The mark of an earlier edit, which may still arrive.
    const undone = { editUnclearUntilMs: record.editUnclearUntilMs };
    return callMarked(key, record, {
      rateLimit,
      mark: (untilMs) => ({ editUnclearUntilMs: untilMs }),
      undone,
      unclear: () => ({ editUnclearUntilMs: now() + effectMs }),
      send: (content, isTooLate) => slack.edit({ channel, ts }, content, isTooLate),
      async onResult(_, marked) {
        if (!isShown(record)) reportShown(record);
        const known = { deliveredHash: wanted.hash, editedAtMs: now(), failures: undefined };
        const isLast = editUnclearUntilMs <= now();
        if (!isLast) return save(key, marked, { ...known, ...undone }, editUnclearUntilMs - now());
        return save(key, marked, { ...known, editUnclearUntilMs: undefined }, undefined);
      },
    });
  }

  /** Marks the record, and then makes the call, unless the record has changed or it is too late. */
  async function callMarked<Result>(
    key: string,
    record: MessageRecord,
    { rateLimit, mark, undone, unclear, send, onResult }: MarkedCall<Result>,
  ): Promise<number | undefined> {
    const markedAtMs = now();
    const changes = mark(markedAtMs + effectMs);
    if (!(await messages.updateIfUnchanged(key, record, changes))) return 0;
    const marked = { ...record, ...changes };
    const content = await renderContent(record);
    // Redis was slow, or the process froze: the mark no longer covers the call's duration, so others may search too
    // early.
    const isTooLate = () => now() - markedAtMs > timing.callMarginMs;
    if (isTooLate()) return save(key, marked, undone, 0);
    let result: Result;
    try {
      result = await send(content, isTooLate).catch(holdWhenLimited(rateLimiter, rateLimit));
    } catch (error) {
      return handleFailure(key, marked, error, undone, unclear());
    }
    return onResult(result, marked);
  }

  function reportShown({ wanted, behindSinceMs }: MessageRecord) {
    if (behindSinceMs !== undefined) parts.onShown?.(urgencyOf(wanted), now() - behindSinceMs);
  }

  /** Saves the changes. Returns `inMs`, or 0 if another process has changed the record. */
  async function save(
    key: string,
    record: MessageRecord,
    changes: DeliveryChanges,
    inMs: number | undefined,
  ): Promise<number | undefined> {
    return (await messages.updateIfUnchanged(key, record, changes)) ? inMs : 0;
  }

  /** Saves the retry of a failed call, or gives up. Returns the same as `Deliver`. */
  async function handleFailure(
    key: string,
    record: MessageRecord,
    error: unknown,
    undone: DeliveryChanges = {},
    unclear = undone,
  ): Promise<number | undefined> {
    // Without the mark, the next process does not wait for this call to take effect.
    if (error instanceof Stopping) await messages.updateIfUnchanged(key, record, undone);
    if (!(error instanceof SlackApiError)) throw error;
    const { kind, code, method, pointers } = error;
    const retry = retryOf(error, record.failures ?? 0, { message: key }, parts);
    if (retry !== undefined) {
      const changes = kind === 'unclear' ? unclear : undone;
      return save(key, record, { failures: retry.failures || undefined, ...changes }, retry.inMs);
    }
    switch (kind) {
      case 'missing':
        if (method !== 'chat.update') return giveUp(key, record, code, undone);
        // A person deleted it.
        return save(key, record, { deleted: true, ...forgetEdits }, 0);
      case 'blocks': {
        const form = formOf(record);
        const { fallback, hash } = record.wanted;
        const expected = form === 'own' && fallback !== undefined;
        log[expected ? 'info' : 'error']({ message: key, code, pointers, form }, 'Slack refused our blocks');
        if (form === 'text') return giveUp(key, record, code, undone);
        return save(key, record, { refusedHash: hash, form: expected ? 'fallback' : 'text', ...undone }, 0);
      }
      default:
        return giveUp(key, record, code, undone);
    }
  }

  /**
   * Handles a permanent refusal: moves the message to a direct message, once, or else records the refusal. An earlier
   * post of unknown outcome stays unknown: the next form is posted only after a search. A moved message may be in both
   * places, since the first one cannot be read.
   */
  async function giveUp(
    key: string,
    record: MessageRecord,
    code: string,
    undone: DeliveryChanges,
  ): Promise<number | undefined> {
    const { wanted, ts, movedTo } = record;
    if (ts === undefined && wanted.fallbackRecipient !== undefined && movedTo === undefined) {
      return save(key, record, { movedTo: wanted.fallbackRecipient, refusal: code, ...forgetPost }, 0);
    }
    // It has low priority, or the person is informed in another way.
    log[wanted.lowPriority ? 'warn' : 'error']({ message: key, code }, 'a message cannot be delivered');
    const known = { refusal: code, deliveredHash: wanted.hash, ...undone, editUnclearUntilMs: undefined };
    return save(key, record, known, undefined);
  }

  /** Returns where to post; undefined while the root of its thread is not posted yet. */
  async function resolveTarget(record: MessageRecord): Promise<Place | undefined> {
    const { teamId, place } = record.wanted;
    if (record.movedTo !== undefined) return { channel: await directMessage(teamId, record.movedTo) };
    if ('channel' in place) return place;
    if ('user' in place) return { channel: await directMessage(teamId, place.user) };
    const parent = await messages.state(place.under);
    if (parent.kind === 'refused') throw new SlackApiError('place', 'chat.postMessage', parent.code);
    return parent.kind === 'shown' ? { channel: parent.channel, threadTs: parent.ts } : undefined;
  }

  async function directMessage(teamId: string, userId: string): Promise<string> {
    const known = await people.directMessage(teamId, userId);
    if (known !== undefined) return known;
    const channel = await slack.openDirectMessage(userId);
    await people.setDirectMessage(teamId, userId, channel);
    return channel;
  }

  async function renderContent(record: MessageRecord): Promise<Message> {
    const { wanted, movedTo, refusal } = record;
    const form = formOf(record);
    const content = form === 'fallback' ? (wanted.fallback ?? wanted) : wanted;
    const preface = movedPreface(refusal ?? '');
    const whole = movedTo === undefined ? content : withPreface(content, [preface]);
    const filled = await fillLinks(whole, links.get);
    return form === 'text' ? textOnly(filled) : filled;
  }
}

/** Returns the first line of a message that its channel refused, for the person who gets it instead. */
function movedPreface(code: string): string {
  if (code === 'is_archived') return "I couldn't post this in the channel: it is archived.";
  if (code === 'not_in_channel' || code === 'channel_not_found') {
    return "I couldn't post this in the channel: I'm not in it. Type /invite @Docket there before the next one.";
  }
  return `I couldn't post this in the channel: Slack doesn't let me (${code}).`;
}

import { Later } from '../runtime/later.ts';
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
import type { ThreadStore } from '../store/threads.ts';
import type { ValueStores } from '../store/values.ts';
import { fillLinks, type Message, textOnly, withPreface } from './blocks.ts';
import type { Place, SlackApi } from './client.ts';
import { isPermanent, SlackApiError } from './errors.ts';
import { holdWhenLimited, type RetryParts, retryOf, slackRateLimit } from './rate-limits.ts';
import type { IsTooLate } from './web-calls.ts';

interface DeliveryParts extends RetryParts {
  slack: SlackApi;
  messages: MessageStore;
  links: ValueStores['links'];
  people: ValueStores['people'];
  threads: Pick<ThreadStore, 'markPosting' | 'markPosted'>;
  rateLimiter: RateLimitStore;
  /** Called when Slack shows the wanted form; `lagMs` is how long that was pending. */
  onShown?: (urgency: Urgency, lagMs: number) => void;
  now: () => number;
}

/** Progress and low-priority posts leave a share of the slots to endings and clicks. */
const priorityOf = (wanted: WantedMessage): 'interactive' | 'low' =>
  ['progress', 'lowPriority'].includes(urgencyOf(wanted)) ? 'low' : 'interactive';

const forgetPost = { postedAtMs: undefined, unclearUntilMs: undefined, cursor: undefined };

/** Returns the changes after a post. A refusal that moved the message stays recorded. */
const afterPost = ({ movedTo }: MessageRecord): DeliveryChanges => ({
  ...forgetPost,
  failures: undefined,
  deleted: undefined,
  ...(movedTo === undefined && { refusal: undefined }),
});

const forgetEdits = { ts: undefined, deliveredHash: undefined, unclearUntilMs: undefined };

/** Returns the form in which to send a message, after Slack's refusals. */
const formOf = ({ wanted, refusedHash, form = 'own' }: MessageRecord) =>
  refusedHash === wanted.hash ? form : 'own';

const isShown = ({ deliveredHash, wanted, unclearUntilMs }: MessageRecord) =>
  deliveredHash === wanted.hash && unclearUntilMs === undefined;

/**
 * Returns the delivery of one message: posts it once, then edits it. It resolves once Slack shows the wanted form, and
 * throws `Later` until then. Two deliveries of one key may overlap if a process was taken for dead. They
 * cannot post twice: a mark is saved before every call, but only if the record is unchanged.
 */
export function createDelivery(parts: DeliveryParts) {
  const { slack, messages, links, people, threads, rateLimiter, now, timing, log } = parts;
  /** How long after a call was sent it may still take effect. */
  const effectMs = timing.slackCallMs + timing.callMarginMs;

  return async (key: string): Promise<void> => {
    const record = await messages.load(key);
    if (record !== undefined && !isShown(record)) {
      // While Slack refuses the token, no call is made.
      const refusedMs = slack.refusedForMs();
      if (refusedMs > 0) throw new Later(refusedMs);
      await deliver(record);
    }
    if (!(await messages.markIdle(key, record?.wakes ?? 0))) throw new Later(0);
  };

  async function deliver(record: MessageRecord): Promise<void> {
    const { retracted, hash } = record.wanted;
    const unclearMs = (record.unclearUntilMs ?? 0) - now();
    // Further away than it can be: another process planned it, with a clock that was ahead or longer limits.
    if (unclearMs > effectMs) return retryIn(effectMs, record, { unclearUntilMs: now() + effectMs });
    if (unclearMs > 0) throw new Later(unclearMs);
    try {
      if (record.ts === undefined) return await post(record);
      if (retracted && record.refusedHash !== hash) return await remove(record);
      return await edit(record);
    } catch (error) {
      return handleFailure(record, error);
    }
  }

  /** Deletes the message, once its replacement is shown; twice does no harm. */
  async function remove(record: MessageRecord): Promise<void> {
    const { wanted, channel = '', ts = '' } = record;
    const keep = () => retryIn(0, record, { refusedHash: wanted.hash, form: 'own' });
    const by = await findReplacement(wanted);
    const replacement = by === undefined ? undefined : await stateOf(by, record);
    if (replacement?.kind === 'refused') return keep();
    const rateLimit = slackRateLimit('delete', wanted.teamId, timing);
    await rateLimiter.awaitSlot(rateLimit, { id: record.key });
    try {
      await slack.remove({ channel, ts }).catch(holdWhenLimited(rateLimiter, rateLimit));
    } catch (error) {
      if (!isPermanent(error)) throw error;
      return keep();
    }
    reportShown(record);
    return save(record, { ...forgetEdits, deliveredHash: wanted.hash, failures: undefined });
  }

  /** Returns the key of the message that replaces another one, in the end; undefined if that is removed, too. */
  async function findReplacement({ replacedBy: key }: WantedMessage): Promise<string | undefined> {
    const next = key === undefined ? undefined : (await messages.load(key))?.wanted;
    return next?.retracted ? findReplacement(next) : key;
  }

  /** Posts the message. If an earlier post had no answer, searches for it first. */
  async function post(record: MessageRecord): Promise<void> {
    const { key, wanted } = record;
    const { teamId, kind, repost = kind !== 'progress' } = wanted;
    const isUnwanted = wanted.retracted && record.postedAtMs === undefined;
    if (isUnwanted || (record.deleted && !repost)) return save(record, { deliveredHash: wanted.hash });
    const target = await resolveTarget(record);
    const isRoot = target.threadTs === undefined;

    if (record.postedAtMs !== undefined) {
      const found = await findLostPost(record, target, record.postedAtMs);
      log.info({ message: key, found: found !== undefined }, 'looked for a post whose answer was lost');
      if (found !== undefined) {
        const { channel, ts, hash } = found;
        if (isRoot) await threads.markPosted(teamId, channel, key, ts);
        if (hash === wanted.hash) reportShown(record);
        return retryIn(0, record, { channel, ts, deliveredHash: hash, ...afterPost(record) });
      }
      if (wanted.retracted) return retryIn(0, record, forgetPost);
    }

    const rateLimit = slackRateLimit('post', `${teamId}:${target.channel}`, timing);
    await rateLimiter.awaitSlot(rateLimit, { id: key, priority: priorityOf(wanted) });
    if (isRoot) await threads.markPosting(teamId, target.channel, key);
    const mark = { postedAtMs: record.postedAtMs ?? now() };
    return callMarked(record, mark, rateLimit, async (content, isTooLate) => {
      const posted = await slack.post(target, content, { key, hash: wanted.hash }, isTooLate);
      if (isRoot) await threads.markPosted(teamId, posted.channel, key, posted.ts);
      return { ...posted, ...afterPost(record) };
    });
  }

  /** Reads one page in search of a lost post. Returns it; undefined if there is none. Throws `Later` for the next page. */
  async function findLostPost(record: MessageRecord, place: Place, sinceMs: number) {
    const { key, wanted, cursor } = record;
    const method = place.threadTs === undefined ? 'history' : 'replies';
    const rateLimit = slackRateLimit(method, wanted.teamId, timing);
    await rateLimiter.awaitSlot(rateLimit, { id: key });
    try {
      const { found, nextCursor } = await slack.findMessage(key, place, sinceMs, cursor);
      if (found === undefined && nextCursor !== undefined)
        return await retryIn(0, record, { cursor: nextCursor });
      return found;
    } catch (error) {
      if (error instanceof Later) throw error;
      const isCursorLost = error instanceof SlackApiError && error.code === 'invalid_cursor';
      // The message at which the next page begins was deleted.
      if (isCursorLost) return retryIn(0, record, { cursor: undefined });
      return holdWhenLimited(rateLimiter, rateLimit)(error);
    }
  }

  async function edit(record: MessageRecord): Promise<void> {
    const { key, wanted, channel, ts } = record;
    if (channel === undefined || ts === undefined)
      throw new Error('a message that is not posted cannot be edited');
    const gapMs = (record.editedAtMs ?? 0) + timing.editGapMs - now();
    if (gapMs > 0) throw new Later(Math.min(gapMs, timing.editGapMs));
    const rateLimit = slackRateLimit('edit', wanted.teamId, timing);
    await rateLimiter.awaitSlot(rateLimit, { id: key, priority: priorityOf(wanted) });
    return callMarked(record, {}, rateLimit, async (content, isTooLate) => {
      await slack.edit({ channel, ts }, content, isTooLate);
      return { editedAtMs: now() };
    });
  }

  /** Marks the record, makes the call, and saves the changes that it returns. */
  async function callMarked(
    record: MessageRecord,
    mark: DeliveryChanges,
    rateLimit: RateLimit,
    send: (content: Message, isTooLate: IsTooLate) => Promise<DeliveryChanges>,
  ): Promise<void> {
    const { postedAtMs, unclearUntilMs } = record;
    const undone = { postedAtMs, unclearUntilMs };
    const markedAtMs = now();
    const marked = await messages.save(record, {
      ...mark,
      cursor: undefined,
      unclearUntilMs: markedAtMs + effectMs,
    });
    if (marked === undefined) throw new Later(0);
    const content = await renderContent(record);
    // Redis was slow, or the process froze: the mark no longer covers the call's duration, so others may search too
    // early.
    const isTooLate = () => now() - markedAtMs > timing.callMarginMs;
    if (isTooLate()) return retryIn(0, marked, undone);
    let changes: DeliveryChanges;
    try {
      changes = await send(content, isTooLate).catch(holdWhenLimited(rateLimiter, rateLimit));
    } catch (error) {
      return handleFailure(marked, error, undone);
    }
    reportShown(record);
    const shown = { deliveredHash: record.wanted.hash, unclearUntilMs: undefined, failures: undefined };
    return save(marked, { ...changes, ...shown });
  }

  function reportShown({ wanted, behindSinceMs }: MessageRecord) {
    parts.onShown?.(urgencyOf(wanted), now() - behindSinceMs);
  }

  /** Saves the changes. Throws `Later` if another process has changed the record. */
  async function save(record: MessageRecord, changes: DeliveryChanges): Promise<void> {
    if (!(await messages.save(record, changes))) throw new Later(0);
  }

  /** Saves the changes, and throws `Later`. */
  async function retryIn(inMs: number, record: MessageRecord, changes: DeliveryChanges): Promise<never> {
    await save(record, changes);
    throw new Later(inMs);
  }

  /** Saves the retry of a failed call, or gives up. `undone` removes the mark of a call. */
  async function handleFailure(
    record: MessageRecord,
    error: unknown,
    undone?: DeliveryChanges,
  ): Promise<void> {
    // Without the mark, the next process does not wait for this call to take effect.
    if (error instanceof Stopping && undone) await messages.save(record, undone);
    if (!(error instanceof SlackApiError)) throw error;
    const { kind, code, method, pointers } = error;
    const retry = retryOf(error, record.failures ?? 0, { message: record.key }, parts);
    if (retry !== undefined) {
      const isUnclear = kind === 'unclear' && undone !== undefined;
      const changes = isUnclear ? { unclearUntilMs: now() + timing.callMarginMs } : undone;
      return retryIn(retry.inMs, record, { failures: retry.failures || undefined, ...changes });
    }
    // A person deleted it.
    if (kind === 'missing' && method === 'chat.update')
      return retryIn(0, record, { deleted: true, ...forgetEdits });
    if (kind !== 'blocks') return giveUp(record, code, undone);
    const form = formOf(record);
    const { fallback, hash } = record.wanted;
    const expected = form === 'own' && fallback !== undefined;
    const about = { message: record.key, code, pointers, form };
    log[expected ? 'info' : 'error'](about, 'Slack refused our blocks');
    if (form === 'text') return giveUp(record, code, undone);
    return retryIn(0, record, { refusedHash: hash, form: expected ? 'fallback' : 'text', ...undone });
  }

  /** After a permanent refusal: moves the message to a direct message, once, or else records the refusal. */
  async function giveUp(record: MessageRecord, code: string, undone?: DeliveryChanges): Promise<void> {
    const { key, wanted, ts, movedTo } = record;
    if (ts === undefined && wanted.fallbackRecipient !== undefined && movedTo === undefined)
      return retryIn(0, record, { movedTo: wanted.fallbackRecipient, refusal: code, ...forgetPost });
    // Nobody waits for a message of low priority.
    log[wanted.lowPriority ? 'warn' : 'error']({ message: key, code }, 'a message cannot be delivered');
    const known = { refusal: code, deliveredHash: wanted.hash, ...undone, unclearUntilMs: undefined };
    return save(record, known);
  }

  /** Returns where to post. Throws `Later` while the root of its thread is not posted yet. */
  async function resolveTarget(record: MessageRecord): Promise<Place> {
    const { teamId, place } = record.wanted;
    if (record.movedTo !== undefined) return { channel: await directMessage(teamId, record.movedTo) };
    if ('channel' in place) return place;
    if ('user' in place) return { channel: await directMessage(teamId, place.user) };
    const parent = await stateOf(place.under, record);
    if (parent.kind === 'refused') throw new SlackApiError('place', 'chat.postMessage', parent.code);
    return { channel: parent.channel, threadTs: parent.ts };
  }

  /** Returns the state of the message that `record` waits for. Throws `Later` while it is pending. */
  async function stateOf(key: string, record: MessageRecord) {
    const state = await messages.state(key);
    if (state.kind !== 'waiting') return state;
    // Both messages were published together. The record of the other has expired, so nothing will post it.
    const isForgotten = now() - record.behindSinceMs > timing.giveUpMs && !(await messages.load(key));
    if (isForgotten) return { kind: 'refused' as const, code: 'thread_not_found' };
    throw new Later(Math.max(timing.retryMinMs, state.dueInMs ?? 0));
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
  if (code === 'is_archived') return "I couldn't post this in the channel: it's archived.";
  if (code === 'not_in_channel' || code === 'channel_not_found')
    return "I couldn't post this in the channel: I'm not in it. Type /invite @Docket there before the next one.";
  return `I couldn't post this in the channel: Slack doesn't let me (${code}).`;
}

import type { Log } from '../runtime/log.ts';
import { Stopping } from '../runtime/stopping.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import type { LinkStore } from '../store/links.ts';
import type { DeliveryChanges, MessageRecord, MessageStore, WantedMessage } from '../store/messages.ts';
import type { OwnPostStore } from '../store/own-posts.ts';
import type { PeopleStore } from '../store/people.ts';
import type { RateLimitStore } from '../store/rate-limit.ts';
import { fillLinks, type Message, textOnly, withPreface } from './blocks.ts';
import type { SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';
import { DEFAULT_RETRY_AFTER_MS, editRateLimit, holdWhenLimited, postRateLimit } from './rate-limits.ts';
import { createLostPostSearch } from './search.ts';

/** What a delivery wants next: nothing, or to be called again after a while. */
export type DeliveryResult = { kind: 'settled' } | { kind: 'again'; inMs: number };

/** Brings Slack up to date with one message: posts it once, then edits it. */
export type Deliver = (key: string) => Promise<DeliveryResult>;

export interface DeliveryParts {
  slack: SlackApi;
  messages: MessageStore;
  links: LinkStore;
  people: PeopleStore;
  ownPosts: OwnPostStore;
  rateLimiter: RateLimitStore;
  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
}

/** Who goes first where many messages wait for their turn. */
function rankOf({ kind, clicked }: WantedMessage): number {
  if (kind === 'ending') return 0;
  if (clicked) return 1;
  return kind === 'state' ? 2 : 3;
}

/** Whether it is posted again where somebody deleted it. */
const isReposted = ({ kind, repost }: WantedMessage) => repost ?? kind !== 'progress';

const forgetPost = { postedAtMs: undefined, checkAtMs: undefined };
const forgetEdits = { ts: undefined, deliveredHash: undefined, editUnclearUntilMs: undefined };

const runAgainIn = (inMs: number): DeliveryResult => ({ kind: 'again', inMs });

/** A call that gave no result: the record as it was marked for it, and how that is read when it is certain or not. */
interface FailedCall {
  record: MessageRecord;
  error: unknown;
  /** It did not happen: what the record was before. */
  undone: DeliveryChanges;
  /** It may have happened. */
  unclear: DeliveryChanges;
}

/**
 * Two deliveries of one key may overlap when a process was taken for dead. What keeps them from posting twice is the
 * mark that is written before every call, only while the record is still as it was read: whoever comes second starts
 * again with what the first left.
 */
export function createDelivery(parts: DeliveryParts): Deliver {
  const { slack, messages, links, people, ownPosts, rateLimiter, now, random, timing, log } = parts;
  const search = createLostPostSearch(parts);
  /** For so long after a call was sent, or went without an answer, it may still take effect. */
  const effectMs = timing.slackCallMs + timing.unclearMs;

  return async (key) => {
    const record = await messages.load(key);
    if (record === undefined) {
      await messages.unlist(key);
      return { kind: 'settled' };
    }
    const isDelivered = record.deliveredHash === record.wanted.hash;
    if (isDelivered && record.editUnclearUntilMs === undefined) return finish(key, record);
    const waitForTokenMs = slack.refusedForMs();
    if (waitForTokenMs > 0) return runAgainIn(waitForTokenMs);
    try {
      return await (record.ts === undefined ? post(key, record) : edit(key, record, isDelivered));
    } catch (error) {
      return handleFailure(key, { record, error, undone: {}, unclear: {} });
    }
  };

  async function finish(key: string, { wanted }: MessageRecord): Promise<DeliveryResult> {
    return (await messages.markDelivered(key, wanted.hash)) ? { kind: 'settled' } : runAgainIn(0);
  }

  /** Posts the message, unless it turns out to be there. */
  async function post(key: string, record: MessageRecord): Promise<DeliveryResult> {
    const { wanted } = record;
    if (record.deleted && !isReposted(wanted)) {
      const left = await messages.updateIfUnchanged(key, record, { deliveredHash: wanted.hash });
      return left ? finish(key, record) : runAgainIn(0);
    }
    const target = await resolveTarget(record);
    if (target === undefined) return runAgainIn(timing.retryMinMs);
    const isRoot = target.threadTs === undefined;

    if (record.postedAtMs !== undefined) {
      const { checkAtMs = 0, postedAtMs: sinceMs } = record;
      const waitMs = checkAtMs - now();
      // Later than can be: by the clock of a process that is ahead.
      if (waitMs > effectMs) return saveAndRunAgain(key, record, { checkAtMs: now() + effectMs }, effectMs);
      if (waitMs > 0) return runAgainIn(waitMs);
      const { teamId } = wanted;
      const result = await search({ teamId, key, place: target, sinceMs, fromMs: checkAtMs });
      if (result.kind === 'wait') return runAgainIn(result.waitMs);
      const { found } = result;
      log.info({ message: key, found: found !== undefined }, 'looked for a post whose answer was lost');
      if (found !== undefined) {
        const { channel, ts, hash } = found;
        if (isRoot) await ownPosts.markPosted(teamId, channel, key, ts);
        const adopted = { channel, ts, deliveredHash: hash, failures: undefined, deleted: undefined };
        return saveAndRunAgain(key, record, { ...adopted, ...forgetPost });
      }
    }

    const rateLimit = postRateLimit(target.channel, timing);
    const slotRequest = { id: key, rank: rankOf(wanted), sinceMs: now(), group: wanted.by };
    const waitMs = await rateLimiter.takeSlot(rateLimit, slotRequest);
    if (waitMs > 0) return runAgainIn(waitMs);
    if (isRoot) await ownPosts.markPosting(wanted.teamId, target.channel, key);
    const postedAtMs = record.postedAtMs ?? (await slack.serverTimeMs());
    const markedAtMs = now();
    const mark = { postedAtMs, checkAtMs: markedAtMs + effectMs };
    if (!(await messages.updateIfUnchanged(key, record, mark))) return runAgainIn(0);
    const filled = await renderContent(record);
    // Redis took its time: the mark no longer covers the length of a call, and others may look too soon.
    if (now() - markedAtMs > timing.unclearMs) return runAgainIn(0);
    try {
      const metadata = { key, hash: wanted.hash };
      const posted = await slack
        .post(target, filled, metadata)
        .catch(holdWhenLimited(rateLimiter, rateLimit));
      const known = { ...posted, deliveredHash: wanted.hash, failures: undefined, deleted: undefined };
      await messages.update(key, { ...known, ...forgetPost });
      if (isRoot) await ownPosts.markPosted(wanted.teamId, posted.channel, key, posted.ts);
    } catch (error) {
      // A proof that this post did not happen says nothing of an earlier one.
      const undone = record.postedAtMs === undefined ? forgetPost : { checkAtMs: now() };
      const unclear = { checkAtMs: now() + timing.unclearMs };
      return handleFailure(key, { record: { ...record, ...mark }, error, undone, unclear });
    }
    return finish(key, record);
  }

  /** Edits the message; once more what it `isShown` to show, when an earlier edit may have taken its place. */
  async function edit(key: string, record: MessageRecord, isDelivered: boolean): Promise<DeliveryResult> {
    const { wanted, channel, ts, editUnclearUntilMs = 0 } = record;
    if (channel === undefined || ts === undefined) throw new Error('an edit of what is not posted');
    const unclearMs = Math.min(editUnclearUntilMs - now(), effectMs);
    if (isDelivered && unclearMs > 0) return runAgainIn(unclearMs);
    const gapMs = (record.editedAtMs ?? 0) + timing.editGapMs - now();
    if (gapMs > 0) return runAgainIn(Math.min(gapMs, timing.editGapMs));
    const rateLimit = editRateLimit(wanted.teamId, timing);
    // Whoever has shown the same for the longest time goes first.
    const sinceMs = record.editedAtMs ?? Number(ts) * 1000;
    const waitMs = await rateLimiter.takeSlot(rateLimit, {
      id: key,
      rank: rankOf(wanted),
      sinceMs,
      group: wanted.by,
    });
    if (waitMs > 0) return runAgainIn(waitMs);
    const markedAtMs = now();
    const mark = { editUnclearUntilMs: markedAtMs + effectMs };
    if (!(await messages.updateIfUnchanged(key, record, mark))) return runAgainIn(0);
    const filled = await renderContent(record);
    if (now() - markedAtMs > timing.unclearMs) return runAgainIn(0);
    // That of an earlier edit, which may still arrive.
    const undone = { editUnclearUntilMs: record.editUnclearUntilMs };
    const marked = { ...record, ...mark };
    try {
      await slack.edit({ channel, ts }, filled).catch(holdWhenLimited(rateLimiter, rateLimit));
    } catch (error) {
      return handleFailure(key, {
        record: marked,
        error,
        undone,
        unclear: { editUnclearUntilMs: now() + effectMs },
      });
    }
    const known = { deliveredHash: wanted.hash, editedAtMs: now(), failures: undefined };
    const isLast = editUnclearUntilMs <= now();
    if (!isLast) return saveAndRunAgain(key, marked, { ...known, ...undone }, editUnclearUntilMs - now());
    const left = await messages.updateIfUnchanged(key, marked, { ...known, editUnclearUntilMs: undefined });
    return left ? finish(key, record) : runAgainIn(0);
  }

  /** Comes again, at once where somebody else has changed the record. */
  async function saveAndRunAgain(
    key: string,
    record: MessageRecord,
    changes: DeliveryChanges,
    inMs = 0,
  ): Promise<DeliveryResult> {
    return runAgainIn((await messages.updateIfUnchanged(key, record, changes)) ? inMs : 0);
  }

  /** What to do about a call that gave no result. */
  async function handleFailure(
    key: string,
    { record, error, undone, unclear }: FailedCall,
  ): Promise<DeliveryResult> {
    // The mark is taken back, or the next process would wait for this call to take effect.
    if (error instanceof Stopping) await messages.updateIfUnchanged(key, record, undone);
    if (!(error instanceof SlackApiError)) throw error;
    const { kind, code, method, pointers } = error;
    // Another call finds out whether the token works again.
    if (kind === 'token' && error.retryAfterMs !== undefined)
      return saveAndRunAgain(key, record, undone, error.retryAfterMs);
    const failures = (record.failures ?? 0) + 1;
    log.warn({ message: key, kind, code, method, failures }, 'Slack call failed');

    switch (kind) {
      case 'limited':
        return saveAndRunAgain(key, record, undone, error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS);
      case 'unclear': {
        const pauseMs = Math.max(timing.unclearMs, backoffMs(timing, failures, random()));
        return saveAndRunAgain(key, record, { failures, ...unclear }, pauseMs);
      }
      case 'unreachable':
      case 'token':
        return saveAndRunAgain(key, record, { failures, ...undone }, backoffMs(timing, failures, random()));
      case 'missing':
        if (method !== 'chat.update') return giveUp(key, record, code);
        // Somebody deleted it.
        return saveAndRunAgain(key, record, { deleted: true, ...forgetEdits });
      case 'blocks':
        log.error({ message: key, code, pointers }, 'Slack refused our blocks');
        if (record.textOnly) return giveUp(key, record, code);
        return saveAndRunAgain(key, record, { textOnly: true, ...undone });
      case 'place':
      case 'refused':
        return giveUp(key, record, code);
    }
  }

  /** Slack refuses it for good: whom it concerns gets it by direct message, once; else it is recorded. */
  async function giveUp(key: string, record: MessageRecord, code: string): Promise<DeliveryResult> {
    const { wanted, ts, movedTo } = record;
    if (ts === undefined && wanted.otherwise !== undefined && movedTo === undefined) {
      return saveAndRunAgain(key, record, { movedTo: wanted.otherwise, refusal: code, ...forgetPost });
    }
    log.error({ message: key, code }, 'a message cannot be delivered');
    const known = { refusal: code, deliveredHash: wanted.hash, editUnclearUntilMs: undefined, ...forgetPost };
    return (await messages.updateIfUnchanged(key, record, known)) ? finish(key, record) : runAgainIn(0);
  }

  /** Where to post; nothing while the message above it is not there yet. */
  async function resolveTarget(
    record: MessageRecord,
  ): Promise<{ channel: string; threadTs?: string } | undefined> {
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

  async function renderContent({
    wanted,
    movedTo,
    refusal,
    ...record
  }: MessageRecord): Promise<Message | string> {
    const preface = movedPreface(refusal ?? '');
    const whole = movedTo === undefined ? wanted : withPreface(wanted, [preface]);
    const filled = await fillLinks(whole, links.get);
    return record.textOnly ? textOnly(filled) : filled;
  }
}

/** The first line of a message that its channel refused, for the person who gets it instead. */
function movedPreface(code: string): string {
  if (code === 'is_archived') return "I couldn't post this in the channel: it is archived.";
  if (code === 'not_in_channel' || code === 'channel_not_found') {
    return "I couldn't post this in the channel: I'm not in it. Type /invite @Docket there for the next time.";
  }
  return `I couldn't post this in the channel: Slack doesn't let me (${code}).`;
}

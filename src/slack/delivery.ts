import { Stopping } from '../runtime/stopping.ts';
import type { LinkStore } from '../store/links.ts';
import type { DeliveryChanges, MessageRecord, MessageStore, WantedMessage } from '../store/messages.ts';
import type { OwnPostStore } from '../store/own-posts.ts';
import type { PeopleStore } from '../store/people.ts';
import type { RateLimitStore } from '../store/rate-limit.ts';
import { fillLinks, type Message, textOnly, withPreface } from './blocks.ts';
import type { SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';
import { createLostPostSearch } from './lost-posts.ts';
import { editRateLimit, holdWhenLimited, postRateLimit } from './rate-limits.ts';
import { createReconciler, type Deliver, type RetryParts, retryOf } from './reconcile.ts';

export interface DeliveryParts extends RetryParts {
  slack: SlackApi;
  messages: MessageStore;
  links: LinkStore;
  people: PeopleStore;
  ownPosts: OwnPostStore;
  rateLimiter: RateLimitStore;
  now: () => number;
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
 * Brings Slack up to date with one message: posts it once, then edits it. Two deliveries of one key may overlap when a
 * process was taken for dead. What keeps them from posting twice is the mark that is written before every call, only
 * while the record is still as it was read: whoever comes second starts again with what the first left.
 */
export function createDelivery(parts: DeliveryParts): Deliver {
  const { slack, messages, links, people, ownPosts, rateLimiter, now, timing, log } = parts;
  const search = createLostPostSearch(parts);
  /** For so long after a call was sent, or went without an answer, it may still take effect. */
  const effectMs = timing.slackCallMs + timing.unclearMs;

  const isShown = ({ deliveredHash, wanted }: MessageRecord) => deliveredHash === wanted.hash;

  return createReconciler(
    {
      load: messages.load,
      isDelivered: (record) => isShown(record) && record.editUnclearUntilMs === undefined,
      deliver: (record, key) =>
        (record.ts === undefined ? post(key, record) : edit(key, record)).catch((error: unknown) =>
          handleFailure(key, { record, error, undone: {}, unclear: {} }),
        ),
      markDelivered: (key, record) => messages.markDelivered(key, record?.wanted.hash),
    },
    slack,
  );

  /** Posts the message, unless it turns out to be there. */
  async function post(key: string, record: MessageRecord): Promise<number | undefined> {
    const { wanted } = record;
    if (record.deleted && !isReposted(wanted)) {
      return save(key, record, { deliveredHash: wanted.hash }, undefined);
    }
    const target = await resolveTarget(record);
    if (target === undefined) return timing.retryMinMs;
    const isRoot = target.threadTs === undefined;

    if (record.postedAtMs !== undefined) {
      const { checkAtMs = 0, postedAtMs: sinceMs } = record;
      const waitMs = checkAtMs - now();
      // Later than can be: by the clock of a process that is ahead.
      if (waitMs > effectMs) return save(key, record, { checkAtMs: now() + effectMs }, effectMs);
      if (waitMs > 0) return waitMs;
      const { teamId } = wanted;
      const result = await search({ teamId, key, place: target, sinceMs, fromMs: checkAtMs });
      if (result.kind === 'wait') return result.waitMs;
      const { found } = result;
      log.info({ message: key, found: found !== undefined }, 'looked for a post whose answer was lost');
      if (found !== undefined) {
        const { channel, ts, hash } = found;
        if (isRoot) await ownPosts.markPosted(teamId, channel, key, ts);
        const adopted = { channel, ts, deliveredHash: hash, failures: undefined, deleted: undefined };
        return save(key, record, { ...adopted, ...forgetPost }, 0);
      }
    }

    const rateLimit = postRateLimit(target.channel, timing);
    const slotRequest = { id: key, rank: rankOf(wanted), sinceMs: now(), group: wanted.by };
    const waitMs = await rateLimiter.takeSlot(rateLimit, slotRequest);
    if (waitMs > 0) return waitMs;
    if (isRoot) await ownPosts.markPosting(wanted.teamId, target.channel, key);
    const postedAtMs = record.postedAtMs ?? (await slack.serverTimeMs());
    const markedAtMs = now();
    const mark = { postedAtMs, checkAtMs: markedAtMs + effectMs };
    if (!(await messages.updateIfUnchanged(key, record, mark))) return 0;
    const filled = await renderContent(record);
    // Redis took its time: the mark no longer covers the length of a call, and others may look too soon.
    if (now() - markedAtMs > timing.unclearMs) return 0;
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
    return undefined;
  }

  /** Edits the message; once more what it shows already, when an earlier edit may have taken its place. */
  async function edit(key: string, record: MessageRecord): Promise<number | undefined> {
    const { wanted, channel, ts, editUnclearUntilMs = 0 } = record;
    if (channel === undefined || ts === undefined) throw new Error('an edit of what is not posted');
    const unclearMs = Math.min(editUnclearUntilMs - now(), effectMs);
    if (isShown(record) && unclearMs > 0) return unclearMs;
    const gapMs = (record.editedAtMs ?? 0) + timing.editGapMs - now();
    if (gapMs > 0) return Math.min(gapMs, timing.editGapMs);
    const rateLimit = editRateLimit(wanted.teamId, timing);
    // Whoever has shown the same for the longest time goes first.
    const sinceMs = record.editedAtMs ?? Number(ts) * 1000;
    const waitMs = await rateLimiter.takeSlot(rateLimit, {
      id: key,
      rank: rankOf(wanted),
      sinceMs,
      group: wanted.by,
    });
    if (waitMs > 0) return waitMs;
    const markedAtMs = now();
    const mark = { editUnclearUntilMs: markedAtMs + effectMs };
    if (!(await messages.updateIfUnchanged(key, record, mark))) return 0;
    const filled = await renderContent(record);
    if (now() - markedAtMs > timing.unclearMs) return 0;
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
    if (!isLast) return save(key, marked, { ...known, ...undone }, editUnclearUntilMs - now());
    return save(key, marked, { ...known, editUnclearUntilMs: undefined }, undefined);
  }

  /** Saves what is known, and returns `inMs`; 0 where somebody else has changed the record. */
  async function save(
    key: string,
    record: MessageRecord,
    changes: DeliveryChanges,
    inMs: number | undefined,
  ): Promise<number | undefined> {
    return (await messages.updateIfUnchanged(key, record, changes)) ? inMs : 0;
  }

  /** What to do about a call that gave no result. */
  async function handleFailure(
    key: string,
    { record, error, undone, unclear }: FailedCall,
  ): Promise<number | undefined> {
    // The mark is taken back, or the next process would wait for this call to take effect.
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
        if (method !== 'chat.update') return giveUp(key, record, code);
        // Somebody deleted it.
        return save(key, record, { deleted: true, ...forgetEdits }, 0);
      case 'blocks':
        log.error({ message: key, code, pointers }, 'Slack refused our blocks');
        if (record.textOnly) return giveUp(key, record, code);
        return save(key, record, { textOnly: true, ...undone }, 0);
      default:
        return giveUp(key, record, code);
    }
  }

  /** Slack refuses it for good: whom it concerns gets it by direct message, once; else it is recorded. */
  async function giveUp(key: string, record: MessageRecord, code: string): Promise<number | undefined> {
    const { wanted, ts, movedTo } = record;
    if (ts === undefined && wanted.otherwise !== undefined && movedTo === undefined) {
      return save(key, record, { movedTo: wanted.otherwise, refusal: code, ...forgetPost }, 0);
    }
    log.error({ message: key, code }, 'a message cannot be delivered');
    const known = { refusal: code, deliveredHash: wanted.hash, editUnclearUntilMs: undefined, ...forgetPost };
    return save(key, record, known, undefined);
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

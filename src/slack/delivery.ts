import type { Log } from '../runtime/log.ts';
import { Stopping } from '../runtime/stopping.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import type { LinkStore } from '../store/links.ts';
import type { DeliveryChanges, MessageRecord, MessageStore, WantedMessage } from '../store/messages.ts';
import type { OwnPostStore } from '../store/own-posts.ts';
import type { PeopleStore } from '../store/people.ts';
import type { PaceStore } from '../store/rate-limit.ts';
import { fillLinks, type Message, textOnly, withPreface } from './blocks.ts';
import type { SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';
import { editPace, holdWhenLimited, LIMITED_MS, postPace } from './rate-limits.ts';
import { createSearch } from './search.ts';

/** What a delivery wants next: nothing, or to be called again after a while. */
export type Delivered = { kind: 'settled' } | { kind: 'again'; inMs: number };

/** Brings Slack up to date with one message: posts it once, then edits it. */
export type Deliver = (key: string) => Promise<Delivered>;

export interface DeliveryParts {
  slack: SlackApi;
  messages: MessageStore;
  links: LinkStore;
  people: PeopleStore;
  ownPosts: OwnPostStore;
  pace: PaceStore;
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

const again = (inMs: number): Delivered => ({ kind: 'again', inMs });

/** A call that gave no result: the record as it was marked for it, and how that is read when it is certain or not. */
interface Failed {
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
  const { slack, messages, links, people, ownPosts, pace, now, random, timing, log } = parts;
  const search = createSearch(parts);
  /** For so long after a call was sent, or went without an answer, it may still take effect. */
  const effectMs = timing.slackCallMs + timing.unclearMs;

  return async (key) => {
    const record = await messages.load(key);
    if (record === undefined) {
      await messages.forget(key);
      return { kind: 'settled' };
    }
    const isShown = record.deliveredHash === record.wanted.hash;
    if (isShown && record.editUnclearUntilMs === undefined) return settled(key, record);
    const refusedMs = slack.refusedForMs();
    if (refusedMs > 0) return again(refusedMs);
    try {
      return await (record.ts === undefined ? post(key, record) : edit(key, record, isShown));
    } catch (error) {
      return handle(key, { record, error, undone: {}, unclear: {} });
    }
  };

  async function settled(key: string, { wanted }: MessageRecord): Promise<Delivered> {
    return (await messages.settle(key, wanted.hash)) ? { kind: 'settled' } : again(0);
  }

  /** Posts the message, unless it turns out to be there. */
  async function post(key: string, record: MessageRecord): Promise<Delivered> {
    const { wanted } = record;
    if (record.deleted && !isReposted(wanted)) {
      const left = await messages.updateIf(key, record, { deliveredHash: wanted.hash });
      return left ? settled(key, record) : again(0);
    }
    const target = await resolve(record);
    if (target === undefined) return again(timing.retryMinMs);
    const isRoot = target.threadTs === undefined;

    if (record.postedAtMs !== undefined) {
      const { checkAtMs = 0, postedAtMs: sinceMs } = record;
      const waitMs = checkAtMs - now();
      // Later than can be: by the clock of a process that is ahead.
      if (waitMs > effectMs) return changed(key, record, { checkAtMs: now() + effectMs }, effectMs);
      if (waitMs > 0) return again(waitMs);
      const { teamId } = wanted;
      const searched = await search({ teamId, key, place: target, sinceMs, fromMs: checkAtMs });
      if (searched.kind === 'wait') return again(searched.waitMs);
      const { found } = searched;
      log.info({ message: key, found: found !== undefined }, 'looked for a post whose answer was lost');
      if (found !== undefined) {
        const { channel, ts, hash } = found;
        if (isRoot) await ownPosts.posted(teamId, channel, key, ts);
        const adopted = { channel, ts, deliveredHash: hash, failures: undefined, deleted: undefined };
        return changed(key, record, { ...adopted, ...forgetPost });
      }
    }

    const pacer = postPace(target.channel, timing);
    const turn = { of: key, rank: rankOf(wanted), sinceMs: now(), by: wanted.by };
    const waitMs = await pace.take(pacer, turn);
    if (waitMs > 0) return again(waitMs);
    if (isRoot) await ownPosts.posting(wanted.teamId, target.channel, key);
    const postedAtMs = record.postedAtMs ?? (await slack.timeMs());
    const markedAtMs = now();
    const mark = { postedAtMs, checkAtMs: markedAtMs + effectMs };
    if (!(await messages.updateIf(key, record, mark))) return again(0);
    const filled = await content(record);
    // Redis took its time: the mark no longer covers the length of a call, and others may look too soon.
    if (now() - markedAtMs > timing.unclearMs) return again(0);
    try {
      const mine = { key, hash: wanted.hash };
      const posted = await slack.post(target, filled, mine).catch(holdWhenLimited(pace, pacer));
      const known = { ...posted, deliveredHash: wanted.hash, failures: undefined, deleted: undefined };
      await messages.update(key, { ...known, ...forgetPost });
      if (isRoot) await ownPosts.posted(wanted.teamId, posted.channel, key, posted.ts);
    } catch (error) {
      // A proof that this post did not happen says nothing of an earlier one.
      const undone = record.postedAtMs === undefined ? forgetPost : { checkAtMs: now() };
      const unclear = { checkAtMs: now() + timing.unclearMs };
      return handle(key, { record: { ...record, ...mark }, error, undone, unclear });
    }
    return settled(key, record);
  }

  /** Edits the message; once more what it `isShown` to show, when an earlier edit may have taken its place. */
  async function edit(key: string, record: MessageRecord, isShown: boolean): Promise<Delivered> {
    const { wanted, channel, ts, editUnclearUntilMs = 0 } = record;
    if (channel === undefined || ts === undefined) throw new Error('an edit of what is not posted');
    const unclearMs = Math.min(editUnclearUntilMs - now(), effectMs);
    if (isShown && unclearMs > 0) return again(unclearMs);
    const gapMs = (record.editedAtMs ?? 0) + timing.editGapMs - now();
    if (gapMs > 0) return again(Math.min(gapMs, timing.editGapMs));
    const pacer = editPace(wanted.teamId, timing);
    // Whoever has shown the same for the longest time goes first.
    const sinceMs = record.editedAtMs ?? Number(ts) * 1000;
    const waitMs = await pace.take(pacer, { of: key, rank: rankOf(wanted), sinceMs, by: wanted.by });
    if (waitMs > 0) return again(waitMs);
    const markedAtMs = now();
    const mark = { editUnclearUntilMs: markedAtMs + effectMs };
    if (!(await messages.updateIf(key, record, mark))) return again(0);
    const filled = await content(record);
    if (now() - markedAtMs > timing.unclearMs) return again(0);
    // That of an earlier edit, which may still arrive.
    const undone = { editUnclearUntilMs: record.editUnclearUntilMs };
    const marked = { ...record, ...mark };
    try {
      await slack.edit({ channel, ts }, filled).catch(holdWhenLimited(pace, pacer));
    } catch (error) {
      return handle(key, {
        record: marked,
        error,
        undone,
        unclear: { editUnclearUntilMs: now() + effectMs },
      });
    }
    const known = { deliveredHash: wanted.hash, editedAtMs: now(), failures: undefined };
    const isLast = editUnclearUntilMs <= now();
    if (!isLast) return changed(key, marked, { ...known, ...undone }, editUnclearUntilMs - now());
    const left = await messages.updateIf(key, marked, { ...known, editUnclearUntilMs: undefined });
    return left ? settled(key, record) : again(0);
  }

  /** Comes again, at once where somebody else has changed the record. */
  async function changed(
    key: string,
    record: MessageRecord,
    changes: DeliveryChanges,
    inMs = 0,
  ): Promise<Delivered> {
    return again((await messages.updateIf(key, record, changes)) ? inMs : 0);
  }

  /** What to do about a call that gave no result. */
  async function handle(key: string, { record, error, undone, unclear }: Failed): Promise<Delivered> {
    // The mark is taken back, or the next process would wait for this call to take effect.
    if (error instanceof Stopping) await messages.updateIf(key, record, undone);
    if (!(error instanceof SlackApiError)) throw error;
    const { kind, code, method, pointers } = error;
    // Another call finds out whether the token works again.
    if (kind === 'token' && error.retryAfterMs !== undefined)
      return changed(key, record, undone, error.retryAfterMs);
    const failures = (record.failures ?? 0) + 1;
    log.warn({ message: key, kind, code, method, failures }, 'Slack call failed');

    switch (kind) {
      case 'limited':
        return changed(key, record, undone, error.retryAfterMs ?? LIMITED_MS);
      case 'unclear': {
        const pauseMs = Math.max(timing.unclearMs, backoffMs(timing, failures, random()));
        return changed(key, record, { failures, ...unclear }, pauseMs);
      }
      case 'unreachable':
      case 'token':
        return changed(key, record, { failures, ...undone }, backoffMs(timing, failures, random()));
      case 'missing':
        if (method !== 'chat.update') return refuse(key, record, code);
        // Somebody deleted it.
        return changed(key, record, { deleted: true, ...forgetEdits });
      case 'blocks':
        log.error({ message: key, code, pointers }, 'Slack refused our blocks');
        if (record.textOnly) return refuse(key, record, code);
        return changed(key, record, { textOnly: true, ...undone });
      case 'place':
      case 'refused':
        return refuse(key, record, code);
    }
  }

  /** Slack refuses it for good: whom it concerns gets it by direct message, once; else it is recorded. */
  async function refuse(key: string, record: MessageRecord, code: string): Promise<Delivered> {
    const { wanted, ts, movedTo } = record;
    if (ts === undefined && wanted.otherwise !== undefined && movedTo === undefined) {
      return changed(key, record, { movedTo: wanted.otherwise, refusal: code, ...forgetPost });
    }
    log.error({ message: key, code }, 'a message cannot be delivered');
    const known = { refusal: code, deliveredHash: wanted.hash, editUnclearUntilMs: undefined, ...forgetPost };
    return (await messages.updateIf(key, record, known)) ? settled(key, record) : again(0);
  }

  /** Where to post; nothing while the message above it is not there yet. */
  async function resolve(record: MessageRecord): Promise<{ channel: string; threadTs?: string } | undefined> {
    const { teamId, place } = record.wanted;
    if (record.movedTo !== undefined) return { channel: await directMessage(teamId, record.movedTo) };
    if ('channel' in place) return place;
    if ('user' in place) return { channel: await directMessage(teamId, place.user) };
    const above = await messages.state(place.under);
    if (above.kind === 'refused') throw new SlackApiError('place', 'chat.postMessage', above.code);
    return above.kind === 'shown' ? { channel: above.channel, threadTs: above.ts } : undefined;
  }

  async function directMessage(teamId: string, userId: string): Promise<string> {
    const known = await people.directMessage(teamId, userId);
    if (known !== undefined) return known;
    const channel = await slack.openDirectMessage(userId);
    await people.setDirectMessage(teamId, userId, channel);
    return channel;
  }

  async function content({ wanted, movedTo, refusal, ...record }: MessageRecord): Promise<Message | string> {
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

import type { Log } from '../log.ts';
import { Stopping } from '../stopping.ts';
import type { LinkStore } from '../store/links.ts';
import type { MessageRecord, MessageStore, WantedMessage } from '../store/messages.ts';
import type { Pace, PaceStore } from '../store/pace.ts';
import type { PeopleStore } from '../store/people.ts';
import { backoffMs, type Timing } from '../timing.ts';
import { fillLinks, type Message, textOnly, withPreface } from './blocks.ts';
import type { Posted, SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';
import { editPace, postPace } from './paces.ts';

/** What a delivery wants next: nothing, or to be called again after a while. */
export type Delivered = { kind: 'settled' } | { kind: 'again'; inMs: number };

/** Brings Slack up to date with one message: posts it once, then edits it. */
export type Deliver = (key: string) => Promise<Delivered>;

export interface DeliveryParts {
  slack: SlackApi;
  messages: MessageStore;
  links: LinkStore;
  people: PeopleStore;
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

/** How long Slack is left alone when it says "too many" without saying until when. */
const LIMITED_MS = 30_000;

const forgetPost = { postedAtMs: undefined, checkAtMs: undefined };

/**
 * Two deliveries of one key may overlap when a process was taken for dead. What keeps them from posting twice is the
 * mark (`postedAtMs`, `checkAtMs`), written before every post.
 */
export function createDelivery(parts: DeliveryParts): Deliver {
  const { slack, messages, links, people, pace, now, random, timing, log } = parts;

  return async (key) => {
    const record = await messages.load(key);
    if (record === undefined) {
      await messages.forget(key);
      return { kind: 'settled' };
    }
    if (record.deliveredHash === record.wanted.hash) return settled(key, record);
    try {
      const waitMs = await (record.ts === undefined ? post(key, record) : edit(key, record));
      return waitMs === undefined ? settled(key, record) : { kind: 'again', inMs: waitMs };
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      return handle(key, record, error);
    }
  };

  async function settled(key: string, { wanted }: MessageRecord): Promise<Delivered> {
    return (await messages.settle(key, wanted.hash)) ? { kind: 'settled' } : { kind: 'again', inMs: 0 };
  }

  /** Posts the message, unless it turns out to be there. Answers how long to wait when it cannot be done now. */
  async function post(key: string, record: MessageRecord): Promise<number | undefined> {
    const { wanted } = record;
    if (record.deleted && !isReposted(wanted)) {
      await messages.update(key, { deliveredHash: wanted.hash });
      return undefined;
    }
    const target = await resolve(record);
    if (target === undefined) return timing.retryMinMs;

    if (record.postedAtMs !== undefined) {
      const waitMs = (record.checkAtMs ?? 0) - now();
      if (waitMs > 0) return waitMs;
      const found = await slack.find(target, key, record.postedAtMs);
      log.info({ message: key, found: found !== undefined }, 'looked for a post whose answer was lost');
      if (found !== undefined) {
        const { channel, ts, hash } = found;
        const adopted = { channel, ts, deliveredHash: hash, failures: undefined, deleted: undefined };
        await messages.update(key, { ...adopted, ...forgetPost });
        return 0;
      }
    }

    const pacer = postPace(target.channel, timing);
    const waitMs = await pace.take(pacer, { of: key, rank: rankOf(wanted), sinceMs: now() });
    if (waitMs > 0) return waitMs;
    const markedAtMs = now();
    const checkAtMs = markedAtMs + timing.slackCallMs + timing.unclearMs;
    await messages.update(key, { postedAtMs: record.postedAtMs ?? markedAtMs, checkAtMs });
    const filled = await content(record);
    // Redis took its time: the mark no longer covers the length of a call, and others may look too soon.
    if (now() - markedAtMs > timing.unclearMs) return 0;
    let posted: Posted;
    try {
      posted = await slack.post(target, filled, { key, hash: wanted.hash });
    } catch (error) {
      // The mark is taken back, or the next process would wait for this post to turn up.
      if (error instanceof Stopping) await messages.update(key, notPostedNow(record));
      return holdWhenLimited(pacer)(error);
    }
    const known = { ...posted, deliveredHash: wanted.hash, failures: undefined, deleted: undefined };
    await messages.update(key, { ...known, ...forgetPost });
    return undefined;
  }

  async function edit(key: string, record: MessageRecord): Promise<number | undefined> {
    const { wanted, channel, ts } = record;
    if (channel === undefined || ts === undefined) throw new Error('an edit of what is not posted');
    const gapMs = (record.editedAtMs ?? 0) + timing.editGapMs - now();
    if (gapMs > 0) return gapMs;
    const pacer = editPace(wanted.teamId, timing);
    // Whoever has shown the same for the longest time goes first.
    const sinceMs = record.editedAtMs ?? Number(ts) * 1000;
    const waitMs = await pace.take(pacer, { of: key, rank: rankOf(wanted), sinceMs });
    if (waitMs > 0) return waitMs;
    await slack.edit({ channel, ts }, await content(record)).catch(holdWhenLimited(pacer));
    await messages.update(key, { deliveredHash: wanted.hash, editedAtMs: now(), failures: undefined });
    return undefined;
  }

  /** Keeps everybody from the bucket that Slack says is empty. */
  function holdWhenLimited(pacer: Pace) {
    return async (error: unknown): Promise<never> => {
      if (error instanceof SlackApiError && error.kind === 'limited') {
        await pace.hold(pacer, error.retryAfterMs ?? LIMITED_MS);
      }
      throw error;
    };
  }

  /** A proof that this post did not happen says nothing of an earlier one. */
  function notPostedNow({ postedAtMs }: MessageRecord) {
    return postedAtMs === undefined ? forgetPost : { checkAtMs: now() };
  }

  /** What to do about a call that gave no result. */
  async function handle(key: string, record: MessageRecord, error: SlackApiError): Promise<Delivered> {
    const { kind, code, method, pointers } = error;
    const failures = (record.failures ?? 0) + 1;
    log.warn({ message: key, kind, code, method, failures }, 'Slack call failed');
    const notPosted = notPostedNow(record);
    const posted = method === 'chat.postMessage';

    switch (kind) {
      case 'limited':
        if (posted) await messages.update(key, notPosted);
        return { kind: 'again', inMs: error.retryAfterMs ?? LIMITED_MS };
      case 'unclear':
        await messages.update(key, { failures, ...(posted && { checkAtMs: now() + timing.unclearMs }) });
        return { kind: 'again', inMs: Math.max(timing.unclearMs, backoffMs(timing, failures, random())) };
      case 'unreachable':
      case 'token':
        await messages.update(key, { failures, ...(posted && notPosted) });
        return { kind: 'again', inMs: backoffMs(timing, failures, random()) };
      case 'missing':
        if (method !== 'chat.update') return refuse(key, record, code);
        // Somebody deleted it.
        await messages.update(key, { deleted: true, ts: undefined, deliveredHash: undefined });
        return { kind: 'again', inMs: 0 };
      case 'blocks':
        log.error({ message: key, code, pointers }, 'Slack refused our blocks');
        if (record.textOnly) return refuse(key, record, code);
        await messages.update(key, { textOnly: true, ...notPosted });
        return { kind: 'again', inMs: 0 };
      case 'place':
      case 'refused':
        return refuse(key, record, code);
    }
  }

  /** Slack refuses it for good: whom it concerns gets it by direct message, once; else it is recorded. */
  async function refuse(key: string, record: MessageRecord, code: string): Promise<Delivered> {
    const { wanted, ts, movedTo } = record;
    if (ts === undefined && wanted.otherwise !== undefined && movedTo === undefined) {
      await messages.update(key, { movedTo: wanted.otherwise, refusal: code, ...forgetPost });
      return { kind: 'again', inMs: 0 };
    }
    log.error({ message: key, code }, 'a message cannot be delivered');
    await messages.update(key, { refusal: code, deliveredHash: wanted.hash, ...forgetPost });
    return settled(key, record);
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

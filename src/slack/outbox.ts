import { createHash } from 'node:crypto';
import type { Log } from '../log.ts';
import type { LinkStore } from '../store/links.ts';
import type { DeliveryState, MessageRecord, MessageStore, Place, WantedMessage } from '../store/messages.ts';
import type { Pace, PaceStore } from '../store/pace.ts';
import type { PeopleStore } from '../store/people.ts';
import { backoffMs, type Timing } from '../timing.ts';
import { fillLinks, type Message, textOnly, withPreface } from './blocks.ts';
import type { SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';

/** A message and where it belongs. `key` names it for good: showing the same key again edits the message. */
export interface Shown {
  key: string;
  place: Place;
  kind: WantedMessage['kind'];
  message: Message;
  /** Who is told by direct message when the place refuses it for good. */
  otherwise?: string;
}

/** What a delivery wants next: nothing, or to be called again after a while. */
export type Delivered = { kind: 'settled' } | { kind: 'again'; inMs: number };

/**
 * Messages as they should look now, and their delivery: posted once, then edited. Nobody else posts.
 */
export interface Outbox {
  /** Records how a message should look. `version` grows: a late call with an older one changes nothing. */
  show(teamId: string, shown: Shown, version: number): Promise<void>;
  state(key: string): Promise<DeliveryState>;
  /** Brings Slack up to date with one message. Never two at once for the same key. */
  deliver(key: string): Promise<Delivered>;
}

export interface OutboxParts {
  slack: SlackApi;
  messages: MessageStore;
  links: LinkStore;
  people: PeopleStore;
  pace: PaceStore;
  /** Sees to it that `deliver` is called for this key. */
  wake: (key: string) => Promise<void>;
  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
}

/** About one message a second and conversation, short bursts tolerated: Slack's rate limits page. */
const postPace = (channel: string): Pace => ({ bucket: `post:${channel}`, perMinute: 60, burst: 2 });

/** `chat.update` is tier 3, 50 a minute for the whole workspace: 40 steadily and 10 at once stay below it. */
const editPace = (teamId: string): Pace => ({ bucket: `edit:${teamId}`, perMinute: 40, burst: 10 });

/** Turns that an edit leaves for more urgent ones. */
const spareTurns = { ending: 0, state: 2, progress: 5 } as const;

/** How long Slack is left alone when it says "too many" without saying until when. */
const LIMITED_MS = 30_000;

export function createOutbox(parts: OutboxParts): Outbox {
  const { slack, messages, links, people, pace, wake, now, random, timing, log } = parts;

  async function show(teamId: string, { key, place, kind, message, otherwise }: Shown, version: number) {
    const hash = digest([place, message.text, message.blocks]);
    const wanted: WantedMessage = {
      v: 1,
      teamId,
      place,
      kind,
      text: message.text,
      blocks: message.blocks,
      hash,
      ...(otherwise !== undefined && { otherwise }),
    };
    if (await messages.want(key, wanted, version, now())) await wake(key);
  }

  async function state(key: string): Promise<DeliveryState> {
    const record = await messages.load(key);
    if (record?.channel !== undefined && record.ts !== undefined) {
      return { kind: 'shown', channel: record.channel, ts: record.ts };
    }
    return record?.refusal === undefined ? { kind: 'waiting' } : { kind: 'refused', code: record.refusal };
  }

  async function deliver(key: string): Promise<Delivered> {
    const record = await messages.load(key);
    if (record === undefined || record.deliveredHash === record.wanted.hash) return settled(key, record);
    try {
      const waitMs = await (record.ts === undefined ? deliverPost(key, record) : deliverEdit(key, record));
      return waitMs === undefined ? settled(key, record) : { kind: 'again', inMs: waitMs };
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      return handle(key, record, error);
    }
  }

  async function settled(key: string, record: MessageRecord | undefined): Promise<Delivered> {
    if (record === undefined || (await messages.settle(key, record.wanted.hash))) return { kind: 'settled' };
    return { kind: 'again', inMs: 0 };
  }

  /** Posts the message, unless it turns out to be there. Answers how long to wait when it cannot be done now. */
  async function deliverPost(key: string, record: MessageRecord): Promise<number | undefined> {
    const { wanted } = record;
    if (record.deleted && wanted.kind === 'progress') {
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
        await messages.update(key, {
          channel,
          ts,
          deliveredHash: hash,
          postedAtMs: undefined,
          checkAtMs: undefined,
        });
        return 0;
      }
    }

    const waitMs = await pace.take(postPace(target.channel), 0);
    if (waitMs > 0) return waitMs;
    await messages.update(key, {
      postedAtMs: record.postedAtMs ?? now(),
      checkAtMs: now() + timing.slackCallMs + timing.unclearMs,
    });
    const posted = await slack.post(target, await content(record), { key, hash: wanted.hash });
    await messages.update(key, {
      ...posted,
      deliveredHash: wanted.hash,
      postedAtMs: undefined,
      checkAtMs: undefined,
      failures: undefined,
      deleted: undefined,
    });
    return undefined;
  }

  async function deliverEdit(key: string, record: MessageRecord): Promise<number | undefined> {
    const { wanted, channel, ts } = record;
    if (channel === undefined || ts === undefined) throw new Error('an edit of what is not posted');
    const gapMs = (record.editedAtMs ?? 0) + timing.editGapMs - now();
    if (gapMs > 0) return gapMs;
    const waitMs = await pace.take(editPace(wanted.teamId), spareTurns[wanted.kind]);
    if (waitMs > 0) return waitMs;
    await slack.edit({ channel, ts }, await content(record));
    await messages.update(key, { deliveredHash: wanted.hash, editedAtMs: now(), failures: undefined });
    return undefined;
  }

  /** What to do about a call that gave no result. */
  async function handle(key: string, record: MessageRecord, error: SlackApiError): Promise<Delivered> {
    const { wanted } = record;
    const failures = (record.failures ?? 0) + 1;
    const posting = record.ts === undefined;
    const notPosted = { postedAtMs: undefined, checkAtMs: undefined };
    log.warn(
      { message: key, kind: error.kind, code: error.code, method: error.method, failures },
      'Slack call failed',
    );

    switch (error.kind) {
      case 'limited': {
        const waitMs = error.retryAfterMs ?? LIMITED_MS;
        if (error.method === 'chat.postMessage') await messages.update(key, notPosted);
        const target = posting ? await resolve(record) : undefined;
        await pace.hold(target ? postPace(target.channel) : editPace(wanted.teamId), waitMs);
        return { kind: 'again', inMs: waitMs };
      }
      case 'blocks':
        log.error({ message: key, code: error.code, pointers: error.pointers }, 'Slack refused our blocks');
        if (record.textOnly) return refuse(key, record, error.code);
        await messages.update(key, { textOnly: true, ...notPosted });
        return { kind: 'again', inMs: 0 };
      case 'missing':
        // Somebody deleted it. Progress is not worth a new post; what comes after it is.
        await messages.update(key, { deleted: true, ts: undefined, deliveredHash: undefined });
        return { kind: 'again', inMs: 0 };
      case 'place':
        if (wanted.otherwise !== undefined && record.movedTo === undefined) {
          await messages.update(key, {
            movedTo: wanted.otherwise,
            refusal: error.code,
            ts: undefined,
            ...notPosted,
          });
          return { kind: 'again', inMs: 0 };
        }
        return refuse(key, record, error.code);
      case 'refused':
        return refuse(key, record, error.code);
      case 'unclear':
        await messages.update(key, {
          failures,
          ...(posting && error.method === 'chat.postMessage' && { checkAtMs: now() + timing.unclearMs }),
        });
        return { kind: 'again', inMs: Math.max(timing.unclearMs, backoffMs(timing, failures, random())) };
      case 'unreachable':
      case 'token':
        await messages.update(key, { failures, ...(error.method === 'chat.postMessage' && notPosted) });
        return { kind: 'again', inMs: backoffMs(timing, failures, random()) };
    }
  }

  async function refuse(key: string, record: MessageRecord, code: string): Promise<Delivered> {
    log.error({ message: key, code }, 'a message cannot be delivered');
    await messages.update(key, {
      refusal: code,
      deliveredHash: record.wanted.hash,
      postedAtMs: undefined,
      checkAtMs: undefined,
    });
    return settled(key, record);
  }

  /** Where to post; nothing while the message above it is not there yet. */
  async function resolve(record: MessageRecord): Promise<{ channel: string; threadTs?: string } | undefined> {
    const { teamId, place } = record.wanted;
    if (record.movedTo !== undefined) return { channel: await directMessage(teamId, record.movedTo) };
    if ('channel' in place) return place;
    if ('user' in place) return { channel: await directMessage(teamId, place.user) };
    const above = await state(place.under);
    return above.kind === 'shown' ? { channel: above.channel, threadTs: above.ts } : undefined;
  }

  async function directMessage(teamId: string, userId: string): Promise<string> {
    const known = await people.directMessage(teamId, userId);
    if (known !== undefined) return known;
    const channel = await slack.openDirectMessage(userId);
    await people.setDirectMessage(teamId, userId, channel);
    return channel;
  }

  async function content(record: MessageRecord): Promise<Message | string> {
    const { text, blocks } = record.wanted;
    const stored = { text, blocks };
    const whole =
      record.movedTo === undefined ? stored : withPreface(stored, [movedPreface(record.refusal ?? '')]);
    const filled = await fillLinks(whole, links.get);
    return record.textOnly ? textOnly(filled) : filled;
  }

  return { show, state, deliver };
}

/** The first line of a message that its channel refused, for the person who gets it instead. */
function movedPreface(code: string): string {
  if (code === 'is_archived') return "I couldn't post this in the channel: it is archived.";
  if (code === 'not_in_channel' || code === 'channel_not_found') {
    return "I couldn't post this in the channel: I'm not in it. Type /invite @Docket there for the next time.";
  }
  return `I couldn't post this in the channel: Slack doesn't let me (${code}).`;
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
}

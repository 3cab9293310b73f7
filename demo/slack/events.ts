import { channelById, type Inside, scopeOf } from './inside.ts';
import { messageJson, repliesTo, tombstoneJson } from './message-json.ts';
import { eventEnvelope } from './payloads.ts';
import type { Requests, SlackRequest } from './requests.ts';
import type { Channel, Happening } from './workspace.ts';

/** Slack tries again at once, after a minute and after five (https://docs.slack.dev/apis/events-api#retries). */
export const RETRY_DELAYS_MS = [0, 60_000, 300_000];

/** One event on its way to the bot. */
export interface EventDelivery {
  eventId: string;
  event: Record<string, unknown>;
  /** The last attempt. */
  request?: SlackRequest;
  /** HTTP status of each attempt, 0 when nothing answered. */
  attempts: number[];
  accepted: boolean;
  /** No further attempt will be made. */
  ended: boolean;
}

export interface Events {
  deliveries: EventDelivery[];
  /** Sends any event, subscribed or not: for those that no person here can cause. */
  send(
    event: Record<string, unknown>,
    options?: { shared?: boolean; eventId?: string },
  ): Promise<EventDelivery>;
  /** Notifies the bot, where it is a member by now, that somebody joined a channel. */
  joined(channel: Channel, user: string, inviter: string): Promise<void>;
  /** Notifies the bot, where it subscribes to it, of a change of the workspace. */
  change(type: string, facts: Record<string, unknown>): Promise<void>;
  /** Nothing leaves before this has ended; a retry waits, too. */
  hold(until: Promise<void>): void;
  /** Resolves when every event so far has had its first attempt. */
  tried(): Promise<void>;
  stop(): void;
}

/** Sends events to the bot, as far as its manifest subscribes, its scopes allow and it is a member. */
export function createEvents(parts: {
  inside: Inside;
  requests: Requests;
  retryDelaysMs: readonly number[];
}): Events {
  const { inside, requests, retryDelaysMs } = parts;
  const { workspace, manifest } = inside;
  const deliveries: EventDelivery[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<unknown>>();
  let held: Promise<void> | undefined;

  const wants = (event: string, scope: string) =>
    manifest.events.includes(event) && manifest.scopes.includes(scope);

  async function attempt(delivery: EventDelivery, body: unknown, reason?: string): Promise<void> {
    if (held) await held;
    const n = delivery.attempts.length;
    const request = requests.json(`event ${String(delivery.event.type)}`, body);
    if (reason) {
      Object.assign(request.headers, { 'x-slack-retry-num': String(n), 'x-slack-retry-reason': reason });
      Object.assign(request.envelope ?? {}, { retryAttempt: n, retryReason: 'timeout' });
    }
    delivery.request = request;
    const { status, failed, noRetry } = await requests.deliver(request);
    delivery.attempts.push(status);
    delivery.accepted = !failed;
    const delayMs = retryDelaysMs[n];
    delivery.ended = !failed || delayMs === undefined || (noRetry && status !== 200);
    if (failed && status > 0) inside.violations.push(`${request.what}: answered ${status}`);
    if (failed === 'operation_timeout') inside.violations.push(`${request.what}: no answer in time`);
    workspace.changed();
    if (delivery.ended || delayMs === undefined) return;
    const why =
      failed === 'operation_timeout' ? 'http_timeout' : status > 0 ? 'http_error' : 'connection_failed';
    const timer = setTimeout(() => {
      timers.delete(timer);
      track(attempt(delivery, body, why));
    }, delayMs);
    timers.add(timer);
    timer.unref();
  }

  function track(work: Promise<unknown>): void {
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  async function send(event: Record<string, unknown>, options: { shared?: boolean; eventId?: string } = {}) {
    const body = eventEnvelope(inside, event, options);
    const outcome = { attempts: [], accepted: false, ended: false };
    const delivery: EventDelivery = { eventId: body.event_id, event, ...outcome };
    deliveries.push(delivery);
    const first = attempt(delivery, body);
    track(first);
    await first;
    return delivery;
  }

  function tell(channel: Channel, event: Record<string, unknown>): void {
    // Without an address there is no receiver; a bot that is down still has one.
    if (requests.reachable())
      void send({ ...event, event_ts: event.ts ?? workspace.newTs() }, { shared: channel.shared });
  }

  workspace.onHappening((happening) => {
    const channel = channelById(workspace, happening.message.channel);
    if (!channel?.members.has(workspace.bot.userId)) return;
    if (happening.kind === 'reacted' || happening.kind === 'unreacted') {
      const type = happening.kind === 'reacted' ? 'reaction_added' : 'reaction_removed';
      if (!wants(type, 'reactions:read')) return;
      const { message, name, user } = happening;
      const item = { type: 'message', channel: channel.id, ts: message.ts };
      tell(channel, { type, user, reaction: name, item_user: message.user, item });
      return;
    }
    const kinds = { public: 'channels', private: 'groups', im: 'im', mpim: 'mpim' };
    if (wants(`message.${kinds[channel.kind]}`, scopeOf(channel, 'history'))) {
      tell(channel, messageEvent(happening, channel));
    }
    if (happening.kind === 'posted' && mentionsBot(happening) && wants('app_mention', 'app_mentions:read')) {
      const { subtype: _, ...mention } = plainMessage(happening.message);
      tell(channel, { ...mention, type: 'app_mention', channel: channel.id });
    }
  });

  function mentionsBot({ message }: Happening): boolean {
    const { bot } = workspace;
    const channel = channelById(workspace, message.channel);
    // In direct messages Slack sends no app_mention.
    const open = channel?.kind !== 'im';
    return open && message.user !== bot.userId && message.text.includes(`<@${bot.userId}>`);
  }

  function plainMessage(message: Happening['message']): Record<string, unknown> {
    const user = workspace.users.find(({ id }) => id === message.user);
    const { reactions: _, reply_count: __, ...json } = messageJson(inside, message);
    const foreign = user?.isStranger ? { user_team: user.team, source_team: user.team } : {};
    return { ...json, ...foreign };
  }

  function messageEvent(happening: Happening, channel: Channel): Record<string, unknown> {
    const { message } = happening;
    const place = {
      channel: channel.id,
      channel_type: { public: 'channel', private: 'group', im: 'im', mpim: 'mpim' }[channel.kind],
    };
    if (happening.kind === 'posted') return { ...plainMessage(message), ...place };
    const change = { type: 'message', hidden: true, ts: workspace.newTs(), ...place };
    if (happening.kind === 'edited') {
      const { editedTs: _, ...unedited } = message;
      const before = messageJson(inside, unedited, { content: happening.before });
      return {
        ...change,
        subtype: 'message_changed',
        message: plainMessage(message),
        previous_message: before,
      };
    }
    // A message with replies stays as a line of Slack's (42wim/matterbridge#600).
    if (repliesTo(workspace.messages, message).length > 0) {
      return {
        ...change,
        subtype: 'message_changed',
        message: tombstoneJson(inside, message),
        previous_message: plainMessage(message),
      };
    }
    return {
      ...change,
      subtype: 'message_deleted',
      deleted_ts: message.ts,
      previous_message: plainMessage(message),
    };
  }

  return {
    deliveries,
    send,
    async joined(channel, user, inviter) {
      const isOpen = channel.kind === 'public' || channel.kind === 'private';
      if (!isOpen || !channel.members.has(workspace.bot.userId)) return;
      if (!wants('member_joined_channel', scopeOf(channel, 'read'))) return;
      const place = { channel: channel.id, channel_type: channel.kind === 'public' ? 'C' : 'G' };
      const { id: team } = workspace.team;
      tell(channel, { type: 'member_joined_channel', user, ...place, team, inviter });
      await Promise.all(running);
    },
    async change(type, facts) {
      if (manifest.events.includes(type) && requests.reachable())
        await send({ type, ...facts, event_ts: workspace.newTs() });
    },
    hold: (until) => {
      held = until.catch(() => {});
    },
    async tried() {
      await Promise.all(running);
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

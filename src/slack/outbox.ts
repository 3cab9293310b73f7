import { createHash } from 'node:crypto';
import type { DeliveryState, MessageStore, Place, WantedMessage } from '../store/messages.ts';
import type { Message } from './blocks.ts';

/** A message and where it belongs. `key` names it for good: showing the same key again edits the message. */
export interface OutboxMessage {
  key: string;
  place: Place;
  kind: WantedMessage['kind'];
  message: Message;
  /** Whom it is for: where many wait, people go in turn. */
  by?: string;
  /** Somebody has clicked and waits to see it. */
  clicked?: true;
  /** What it says is not worth a new post where somebody deleted it. */
  repost?: false;
  /** Who is told by direct message when the place refuses it for good. */
  otherwise?: string;
  /** Kept without a time to live, for messages that are still edited after a month. */
  lasting?: true;
}

/** How messages should look now. Nobody else has anything posted; `delivery.ts` brings Slack up to date. */
export interface Outbox {
  /** Records how a message should look. `version` grows: a late call with an older one changes nothing. */
  publish(teamId: string, shown: OutboxMessage, version: number): Promise<void>;
  deliveryState(key: string): Promise<DeliveryState>;
}

export interface OutboxParts {
  messages: MessageStore;
  /** Sees to it that the message is delivered. */
  wake: (key: string) => Promise<void>;
  now: () => number;
}

export function createOutbox({ messages, wake, now }: OutboxParts): Outbox {
  return {
    async publish(teamId, { key, place, kind, message, ...rest }, version) {
      const { text, blocks } = message;
      const hash = digest([place, text, blocks]);
      const wanted: WantedMessage = { v: 1, teamId, place, kind, text, blocks, hash, ...rest };
      if (await messages.setWanted(key, wanted, version, now())) await wake(key);
    },
    deliveryState: messages.state,
  };
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
}

import { hash as digest } from 'node:crypto';
import type { MessageStore, WantedMessage } from '../store/messages.ts';
import type { RunRef } from '../store/run-scripts.ts';
import type { Message } from './blocks.ts';

/**
 * A message and its place. `key` names it for good: publishing the same key again edits the message. `fallback` is
 * shown if Slack refuses the blocks of `message`; if Slack refuses those as well, only its text is. The next published
 * form is tried with its own blocks again.
 */
export interface OutboxMessage
  extends Omit<WantedMessage, 'teamId' | 'text' | 'blocks' | 'hash' | 'fallback'> {
  key: string;
  message: Message;
  fallback?: Message;
  /** Counts from 1: the next number retries what Slack refused, even if the form is the same. */
  attempt?: number;
}

/** Records messages for `delivery.ts`; the only way to post. A late call with an older `version` has no effect. */
export type Outbox = ReturnType<typeof createOutbox>;

/** `wake` queues the delivery of a message, at once. */
export function createOutbox(parts: { messages: MessageStore; wake: (delivery: RunRef) => unknown }) {
  const { messages, wake } = parts;
  return {
    /** Records the wanted form of a message. */
    async publish(
      teamId: string,
      { key, place, kind, message, attempt = 1, ...rest }: OutboxMessage,
      version: number,
    ) {
      const { text, blocks } = message;
      const retraction = rest.replacedBy ?? rest.retracted;
      const form = JSON.stringify([place, text, blocks, rest.fallback, attempt, retraction]);
      const hash = digest('sha256', form, 'base64url').slice(0, 16);
      const wanted: WantedMessage = { teamId, place, kind, text, blocks, hash, ...rest };
      if (await messages.publish(key, wanted, version)) await wake({ job: 'outbox', id: key });
    },
    deliveryState: messages.state,
  };
}

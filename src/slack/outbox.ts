import { hash } from 'node:crypto';
import type { Timing } from '../runtime/timing.ts';
import type { MessageStore, WantedMessage } from '../store/messages.ts';
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

export interface OutboxParts {
  messages: MessageStore;
  /** Enqueues the delivery of a message, in place of one that is planned for later. */
  enqueueMessage: (key: string, inMs: number) => Promise<void>;
  timing: Pick<Timing, 'editGapMs'>;
  now: () => number;
}

export function createOutbox(parts: OutboxParts) {
  const { messages, enqueueMessage, timing, now } = parts;
  return {
    /** Records the wanted form of a message. */
    async publish(
      teamId: string,
      { key, place, kind, message, attempt = 1, ...rest }: OutboxMessage,
      version: number,
    ) {
      const { text, blocks } = message;
      const hash = digest([place, text, blocks, rest.fallback, attempt, rest.retracted]);
      const wanted: WantedMessage = { teamId, place, kind, text, blocks, hash, ...rest };
      const inMs = await messages.setWanted(key, wanted, version, now(), timing.editGapMs);
      if (inMs !== undefined) await enqueueMessage(key, inMs);
    },
    deliveryState: messages.state,
  };
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url').slice(0, 16);
}

import { hash } from 'node:crypto';
import type { Timing } from '../runtime/timing.ts';
import type { MessageStore, WantedMessage } from '../store/messages.ts';
import type { Message } from './blocks.ts';

/**
 * A message and where it belongs. `key` names it for good: publishing the same key again edits the message.
 * `fallback` is shown where Slack refuses the blocks of `message`, whose text is shown alone where it refuses those,
 * too. What is published next is tried with its own blocks again.
 */
export interface OutboxMessage
  extends Pick<
    WantedMessage,
    | 'place'
    | 'kind'
    | 'by'
    | 'interactive'
    | 'lowPriority'
    | 'repost'
    | 'fallbackRecipient'
    | 'lasting'
    | 'retracted'
  > {
  key: string;
  message: Message;
  fallback?: Message;
  /** Counts from 1: with the next one, what Slack refused is tried again, though it is to look the same. */
  attempt?: number;
}

/**
 * Records what Slack is to show; the only way to post anything. `delivery.ts` brings Slack up to date. `version` grows: a late call with an older one changes nothing.
 */
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
    /** Records how a message is to look. */
    async publish(
      teamId: string,
      { key, place, kind, message, attempt = 1, ...rest }: OutboxMessage,
      version: number,
    ) {
      const { text, blocks } = message;
      const more = rest.fallback === undefined ? [] : [rest.fallback];
      const counted = attempt === 1 ? [] : [attempt];
      const hash = digest([
        place,
        text,
        blocks,
        ...more,
        ...counted,
        ...(rest.retracted ? ['retracted'] : []),
      ]);
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

import type { Redis } from 'ioredis';
import { createOutbox, type Outbox, type OutboxParts } from '../../../src/slack/outbox.ts';
import { createMessageStore } from '../../../src/store/messages.ts';
import { createReactionStore } from '../../../src/store/reactions.ts';

/** An outbox with real stores; what is published is delivered by nobody. */
export const anOutbox = (redis: Redis, parts: Partial<OutboxParts> & Pick<OutboxParts, 'now'>): Outbox =>
  createOutbox({
    messages: createMessageStore(redis),
    reactions: createReactionStore(redis),
    enqueueMessage: async () => {},
    enqueueReactions: async () => {},
    ...parts,
  });

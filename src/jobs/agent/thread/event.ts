import { z } from 'zod';
import type { InboxEntry } from '../../../store/runs.ts';
import { polled } from '../watch/record.ts';
import { clickActions } from './buttons.ts';
import { digestOrigin, person } from './record.ts';

const content = z.object({
  text: z.unknown().optional(),
  blocks: z.unknown().optional(),
  attachments: z.unknown().optional(),
});

/** A person's message, as `readReply` returns it. */
const written = z.object({
  channel: z.string(),
  ts: z.string(),
  user: z.string(),
  external: z.boolean(),
  mentionsBot: z.boolean(),
  mentionsOthers: z.boolean(),
  content,
  files: z.boolean(),
});

export const newReply = written.extend({ kind: z.literal('reply') });

export const threadClicks = Object.keys(clickActions) as (keyof typeof clickActions)[];

/** An entry in the inbox of a followed thread. Times are epoch milliseconds. */
export const threadEvent = z.discriminatedUnion('kind', [
  newReply,
  written.extend({ kind: z.literal('edited') }),
  z.object({ kind: z.literal('deleted'), channel: z.string(), ts: z.string() }),
  /** An instruction from a modal; `id` is the request's. */
  z.object({
    kind: z.literal('instruct'),
    id: z.string(),
    by: person,
    text: z.string(),
    atMs: z.number(),
    origin: digestOrigin.optional(),
  }),
  /**
   * A click by a person with the permission. `about` has ids of instructions, or `round` its number. `attempt` is the
   * instruction's attempt when the button was made, so that a click on an old message has no effect.
   */
  z.object({
    kind: z.literal('clicked'),
    action: z.enum(threadClicks),
    by: person,
    about: z.array(z.string()),
    attempt: z.number().int(),
    atMs: z.number(),
  }),
  polled,
]);
export type ThreadEvent = z.infer<typeof threadEvent>;
type Instruct = Extract<ThreadEvent, { kind: 'instruct' }>;

export type ReplyEvent = Extract<ThreadEvent, { kind: 'reply' | 'edited' }>;
export type ThreadClick = Extract<ThreadEvent, { kind: 'clicked' }>;

/** Returns an inbox entry for an instruction from a modal. Entries with the same `id` are taken once. */
export const instructEntry = (one: Omit<Instruct, 'kind'>): InboxEntry => ({
  event: { kind: 'instruct', ...one } satisfies Instruct,
  dedupeKey: `instruct ${one.id}`,
});

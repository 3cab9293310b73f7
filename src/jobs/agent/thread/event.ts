import { z } from 'zod';

/** Somebody as messages call them. */
const person = z.object({ id: z.string(), name: z.string() });

const content = z.object({
  text: z.unknown().optional(),
  blocks: z.unknown().optional(),
  attachments: z.unknown().optional(),
});

/** What a person wrote in a followed thread, as `readReply` gives it. */
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

/** A new message of a person's. */
export const newReply = written.extend({ kind: z.literal('reply') });

/** What can be clicked in a thread that follows a job. */
export const threadClicks = [
  'send',
  'notForAgent',
  'always',
  'discard',
  'sendAgain',
  'leave',
  'checkJob',
  'checkNow',
  'onlyMentioned',
  'allReplies',
  'stop',
] as const;

/** What happened to a thread and waits for its look, oldest first. Times are epoch milliseconds. */
export const threadEvent = z.discriminatedUnion('kind', [
  newReply,
  written.extend({ kind: z.literal('edited') }),
  z.object({ kind: z.literal('deleted'), channel: z.string(), ts: z.string() }),
  /** An instruction that did not come as a reply: from a command or a dialog. `id` is that of the request. */
  z.object({ kind: z.literal('instruct'), id: z.string(), by: person, text: z.string(), atMs: z.number() }),
  /**
   * A click whose permission was checked. `about` names what was clicked: the ids of instructions, or the number of
   * a round. `attempt` is that of the instruction, so that a click on an old message finds it over.
   */
  z.object({
    kind: z.literal('clicked'),
    action: z.enum(threadClicks),
    by: person,
    about: z.array(z.string()),
    attempt: z.number().int(),
  }),
]);
export type ThreadEvent = z.infer<typeof threadEvent>;
export type ReplyEvent = Extract<ThreadEvent, { kind: 'reply' | 'edited' }>;
export type ThreadClick = Extract<ThreadEvent, { kind: 'clicked' }>;

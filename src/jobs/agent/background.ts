import { z } from 'zod';

/** A Slack thread whose messages may go along with an instruction. */
export const conversation = z.object({
  channel: z.string(),
  rootTs: z.string(),
  /** Only messages before this `ts` go along: the author could see those. */
  before: z.string(),
  /** The `ts` of the instruction's own message, if messages below it go along, too. */
  without: z.string().optional(),
});
export type Conversation = z.infer<typeof conversation>;

/** Quoted messages that go along with an instruction, if its author agrees. */
export const background = z.object({
  /** The Markdown for the agent: what is shown to the author is what is sent. */
  text: z.string(),
  /** Number of messages in it. */
  count: z.number().int(),
  /** Older messages are left out. */
  isCut: z.boolean(),
  /** They are from the whole thread, not only from above the instruction. */
  isWholeThread: z.boolean(),
});
export type Background = z.infer<typeof background>;

/** Returns the text for the agent: the instruction, then its background. */
export const promptOf = ({ text, background }: { text: string; background?: Background | undefined }) =>
  background === undefined ? text : `${text}\n\n${background.text}`;

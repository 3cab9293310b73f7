import { z } from 'zod';

/** A Slack thread whose messages may be sent with an instruction. */
export const backgroundSource = z.object({
  channel: z.string(),
  rootTs: z.string(),
  /** Only messages before this `ts` are sent: the author could see those. */
  before: z.string(),
  /** The `ts` of the instruction's own message, if messages below it are sent, too. */
  ownTs: z.string().optional(),
});
export type BackgroundSource = z.infer<typeof backgroundSource>;

/** Quoted messages that are sent with an instruction, if its author agrees. */
export const background = z.object({
  /** The Markdown for the agent: [Read all] shows the author what is sent. */
  text: z.string(),
  /** The authors and the first words of the newest two, oldest first. */
  newest: z.array(z.object({ name: z.string(), start: z.string() })),
  /** Number of messages in it; 0 if there are none, which `leftOut` then explains. */
  count: z.number().int(),
  /** Older messages are left out. */
  isCut: z.boolean(),
  /** Earlier messages that are not sent: all of them, which Slack does not show, or those of apps. */
  leftOut: z.enum(['unread', 'apps']).optional(),
  /** They are from the whole thread, not only from above the instruction. */
  isWholeThread: z.boolean(),
});
export type Background = z.infer<typeof background>;

/** Returns the text for the agent: the instruction, then its background. */
export const promptOf = ({ text, background }: { text: string; background?: Background | undefined }) =>
  !background?.text ? text : `${text}\n\n${background.text}`;

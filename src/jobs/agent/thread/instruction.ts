import { z } from 'zod';
import { excerptOf } from '../thread-text.ts';

/** A person by Slack's id, and the name that messages show. */
export const person = z.object({ id: z.string(), name: z.string() });
export type Person = z.infer<typeof person>;

/**
 * One instruction to the agent, or a reply that may become one.
 *
 * `held` its author is asked whether it is one · `waiting` to be sent · `sending` the intent is saved and the call under
 * way · `unknown` nobody knows whether it arrived, a person decides · `working` the platform took it · `failed` it
 * certainly did not arrive · `over` finished, see `outcome`
 */
export const instruction = z.object({
  /** The `ts` of the reply, else derived from the request's id; the same for a repeat. */
  id: z.string(),
  by: person,
  /** When it was written: instructions are sent in this order. */
  atMs: z.number(),
  /** It is a reply in the thread: `id` is its `ts`. */
  isReply: z.boolean(),
  /** What the agent gets, in Markdown. Empty once it is not needed any more. */
  text: z.string(),
  /** The beginning of `text`, for messages. */
  excerpt: z.string(),
  /** The reply had files, or shared what is not quoted: the agent does not get that. */
  files: z.boolean().default(false),
  /** It makes the job instead of following up on one. */
  creates: z.boolean().default(false),
  state: z.enum(['held', 'waiting', 'sending', 'unknown', 'working', 'failed', 'over']),
  /** Counts the sends that a person asked for. */
  attempt: z.number().int().default(1),
  /** When the call of this attempt was made. */
  sentAtMs: z.number().optional(),
  /** Unique to that call: a process finds its own intent by it. */
  sendToken: z.string().optional(),
  /** The bot's reaction that the reply has, or that Slack refused. */
  reaction: z.enum(['eyes', 'double_vertical_bar']).optional(),
  /** The round that it belongs to; missing until the watch has recorded the send. */
  round: z.number().int().optional(),
  /**
   * `sent` the platform took it · `notForAgent` its author said so · `discarded` · `withdrawn` its message was deleted or
   * emptied before it was sent · `left` unknown, and a person left it at that · `notSent` it did not arrive
   */
  outcome: z.enum(['sent', 'notForAgent', 'discarded', 'withdrawn', 'left', 'notSent']).optional(),
});
export type Instruction = z.infer<typeof instruction>;

/** Returns an instruction that waits to be sent, unless `state` says otherwise. */
export const newInstruction = (
  one: Pick<Instruction, 'id' | 'by' | 'atMs' | 'text'> & Partial<Instruction>,
): Instruction =>
  instruction.parse({ isReply: false, state: 'waiting', excerpt: excerptOf(one.text), ...one });

/** It has not been sent and can still be changed or taken back. */
export const isPending = ({ state }: Pick<Instruction, 'state'>) => state === 'held' || state === 'waiting';

/** The platform certainly does not have it, and may still get it. */
export const isResendable = (one: Pick<Instruction, 'state'>) => isPending(one) || one.state === 'failed';

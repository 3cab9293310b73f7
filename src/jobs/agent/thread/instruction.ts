import { z } from 'zod';
import { excerptOf } from '../thread-text.ts';

/** A person by Slack's id, and the name that messages show. */
export const person = z.object({ id: z.string(), name: z.string() });
export type Person = z.infer<typeof person>;

/**
 * One instruction to the agent, or a reply that may become one.
 *
 * `held` its author is asked whether it is one · `waiting` to be sent · `sending` the intent is saved and the call
 * under way · `unknown` the result is unknown, a person decides · `working` the platform took it · `failed` it
 * certainly did not arrive · `over` finished, see `outcome`
 */
export const instruction = z.object({
  /** The `ts` of the reply, or derived from the request's id. A repeat has the same id. */
  id: z.string(),
  by: person,
  /** Time of writing: instructions are sent in this order. */
  atMs: z.number(),
  /** It is a reply in the thread: `id` is its `ts`. */
  isReply: z.boolean(),
  /** The Markdown for the agent. Empty once it is no longer needed. */
  text: z.string(),
  /** The beginning of `text`, for messages. */
  excerpt: z.string(),
  /** The reply had files or shared unquoted messages, which the agent does not get. */
  files: z.boolean().default(false),
  /** It starts a new job instead of following up on one. */
  creates: z.boolean().default(false),
  state: z.enum(['held', 'waiting', 'sending', 'unknown', 'working', 'failed', 'over']),
  /** Counts the sends that a person requested. */
  attempt: z.number().int().default(1),
  /** Time of this attempt's call. */
  sentAtMs: z.number().optional(),
  /** Unique to that call, so that a process recognizes its own intent. */
  sendToken: z.string().optional(),
  /** The bot's reaction on the reply, or one that Slack refused. */
  reaction: z.enum(['eyes', 'double_vertical_bar']).optional(),
  /** Its round, once it was sent. */
  round: z.number().int().optional(),
  /**
   * `sent` the platform took it · `notForAgent` its author said so · `discarded` · `withdrawn` its message was deleted
   * or emptied before the send · `left` unknown, and a person left it so · `notSent` it did not arrive
   */
  outcome: z.enum(['sent', 'notForAgent', 'discarded', 'withdrawn', 'left', 'notSent']).optional(),
});
export type Instruction = z.infer<typeof instruction>;

/** Returns an instruction that waits to be sent, unless `state` says otherwise. */
export const newInstruction = (
  one: Pick<Instruction, 'id' | 'by' | 'atMs' | 'text'> & Partial<Instruction>,
): Instruction =>
  instruction.parse({ isReply: false, state: 'waiting', excerpt: excerptOf(one.text), ...one });

/** It has not been sent and can still be changed or withdrawn. */
export const isPending = ({ state }: Pick<Instruction, 'state'>) => state === 'held' || state === 'waiting';

/** The platform certainly does not have it, but it can still be sent. */
export const isResendable = (one: Pick<Instruction, 'state'>) => isPending(one) || one.state === 'failed';

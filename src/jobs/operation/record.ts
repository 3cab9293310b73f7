import { z } from 'zod';
import { pollFailure } from '../engine/polling.ts';
import { person } from '../shared/origin.ts';

/**
 * The answer to the question whether an attempt started: of a person, or `late` of the other side. `newer`: it does not
 * matter any more.
 */
export const startAnswer = z.object({
  attempt: z.number().int(),
  by: person,
  action: z.enum(['startAgain', 'leave', 'watchIt', 'late', 'newer']),
});
export type StartAnswer = z.infer<typeof startAnswer>;

/**
 * The fields of a run that starts something outside once, and polls it to its end: an operation. Its states: `starting` ·
 * `unknown` a person has to decide · `watching`. Times are epoch milliseconds.
 */
export const operation = z.object({
  /** Counts the starts. */
  attempt: z.number().int(),
  /** Start of the present state. */
  sinceMs: z.number(),
  startedAtMs: z.number().optional(),
  /** When the next call is due. */
  nextPollAtMs: z.number(),
  /** Why the present call fails. */
  pollFailure: pollFailure.optional(),
  answer: startAnswer.optional(),
});

/** Returns the name of the call that starts an attempt, for `callOnce`. */
export const startStep = ({ attempt }: { attempt: number }) => `start.${attempt}`;

/** Returns the answer of a person to the question about the present attempt. */
export const answerOf = <Action extends StartAnswer['action']>(
  { attempt }: { attempt: number },
  { id, name }: { id: string; name: string },
  action: Action,
) => ({ attempt, by: { id, name }, action });

import { z } from 'zod';
import { idOf } from '../../../store/keys.ts';
import { type Quota, runBase } from '../../../store/runs.ts';
import { roundEnding } from '../../agent/watch/record.ts';
import { person } from '../model.ts';

/** A page, a search term, or questions without an answer; `value` is its number at the time of the request. */
export const askSubject = z.object({
  kind: z.enum(['page', 'thumbs', 'search', 'questions']),
  /** The path or the search term, as the platform gives it. */
  name: z.string(),
  value: z.number().optional(),
});
export type AskSubject = z.infer<typeof askSubject>;

/**
 * The ending of a round, or another. `notSent`: the platform does not have it · `unknown`: the result is unknown ·
 * `stopped`: its thread no longer follows the job · `unwatched`: it took longer than the watch lasts.
 */
const askEnding = roundEnding.or(
  z.object({ kind: z.enum(['notSent', 'unknown', 'stopped', 'unwatched']), atMs: z.number() }),
);
export type AskEnding = z.infer<typeof askEnding>;

/**
 * Work for the docs agent that a person requested under a digest: passes it on, and reports the result there. Times are
 * epoch milliseconds.
 */
export const askRun = runBase.extend({
  job: z.literal('digest-ask'),
  project: z.string(),
  /** The digest that has its line, and the channel. */
  edition: z.string(),
  channel: z.string(),
  by: person,
  subject: askSubject,
  /** The run of the thread with the instruction, and the instruction's id. */
  thread: z.string(),
  instruction: z.string(),
  /** The instruction to pass on; without `newThread`, to a thread that follows a job. Missing afterwards. */
  handover: z
    .object({
      text: z.string(),
      newThread: z
        .object({
          asked: z.object({ channel: z.string(), joinable: z.boolean(), isPublic: z.boolean() }),
          mode: z.enum(['auto', 'all', 'mention']),
        })
        .optional(),
    })
    .optional(),
  /** `accepted` not stepped yet · `handed` passed on, waits for the card · `open` its line is posted · `ended` */
  state: z.enum(['accepted', 'handed', 'open', 'ended']),
  sinceMs: z.number(),
  /** The address of the thread's card, for readers of the digest. */
  threadUrl: z.string().optional(),
  /** The job's round of the instruction, once known. */
  round: z.number().int().optional(),
  /** Final once the run has ended: an unsent instruction may be sent again. */
  ending: askEnding.optional(),
});
export type AskRun = z.infer<typeof askRun>;

/** Maximum active requests per person, since a new job takes no slot of the hourly limit. */
const MAX_OF_PERSON = 10;

/** The quota of a request until it has ended: its author's. */
export const askQuotas = ({ teamId, by }: Pick<AskRun, 'teamId' | 'by'>): [Quota] => [
  { name: ['asks', teamId, by.id].join(':'), max: MAX_OF_PERSON },
];

type NewAsk = Pick<AskRun, 'id' | 'teamId' | 'project' | 'edition' | 'channel' | 'by' | 'subject'> & {
  text: string;
  /** The thread that gets the instruction, or the place of a new one. */
  to: { thread: string } | NonNullable<NonNullable<AskRun['handover']>['newThread']>;
};

/** Returns the run that passes an instruction on. Ids of its results follow from its own. */
export function newAsk({ text, to, ...ask }: NewAsk, nowMs: number): AskRun {
  return {
    ...{ job: 'digest-ask', rev: 1, people: [] },
    ...ask,
    thread: 'thread' in to ? to.thread : idOf('agent-thread', ask.id),
    instruction: idOf('instruction', ask.id),
    handover: { text, ...(!('thread' in to) && { newThread: to }) },
    state: 'accepted',
    sinceMs: nowMs,
  };
}

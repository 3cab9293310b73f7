import { z } from 'zod';
import { idOf } from '../../../store/ids.ts';
import { type Quota, runBase } from '../../../store/runs.ts';
import { roundEnding } from '../../agent/watch/record.ts';
import { person } from '../edition/record.ts';

/** What the agent was asked about: a page, a search term, or what the assistant could not answer; `value` is its number when it was asked. */
export const askSubject = z.object({
  kind: z.enum(['page', 'thumbs', 'search', 'questions']),
  /** The path or the search term, as the platform tells it. */
  name: z.string(),
  value: z.number().optional(),
});
export type AskSubject = z.infer<typeof askSubject>;

/**
 * How it ended, beside the endings of a round. `notSent`: the platform does not have it · `unknown`: nobody knows whether
 * it arrived · `stopped`: its thread follows the job no more · `unwatched`: it took longer than anything is watched.
 */
const otherEnding = z.object({
  kind: z.enum(['notSent', 'unknown', 'stopped', 'unwatched']),
  atMs: z.number(),
});

export const askEnding = roundEnding.or(otherEnding);
export type AskEnding = z.infer<typeof askEnding>;

/**
 * Work for the docs agent that somebody asked for under a digest: hands it over, and tells there what came of it. Times
 * are epoch milliseconds.
 */
export const askRun = runBase.extend({
  job: z.literal('digest-ask'),
  project: z.string(),
  /** The digest, where its line is, and the channel. */
  edition: z.string(),
  channel: z.string(),
  by: person,
  subject: askSubject,
  /** The run of the thread that has the instruction, and the instruction's id. */
  thread: z.string(),
  instruction: z.string(),
  /** What is handed over; without `newThread`, to a thread that follows a job. Missing once that is done. */
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
  /** `accepted` nothing is done yet · `handed` over, and the card awaited · `open` its line is there · `ended` */
  state: z.enum(['accepted', 'handed', 'open', 'ended']),
  sinceMs: z.number(),
  /** The address of the thread's card, for those who read the digest. */
  threadUrl: z.string().optional(),
  /** The round of the job that the instruction belongs to, once known. */
  round: z.number().int().optional(),
  /** Final once the run has ended: somebody may send again what was not sent. */
  ending: askEnding.optional(),
});
export type AskRun = z.infer<typeof askRun>;

/** Asks of one person that may be at work at once: what makes a job takes no slot of the hour's instructions. */
const MAX_OF_PERSON = 10;

/** What an ask counts toward until it has ended: whoever asked. */
export const askQuotas = ({ teamId, by }: Pick<AskRun, 'teamId' | 'by'>): [Quota] => [
  { name: ['asks', teamId, by.id].join(':'), max: MAX_OF_PERSON },
];

type NewAsk = Pick<AskRun, 'id' | 'teamId' | 'project' | 'edition' | 'channel' | 'by' | 'subject'> & {
  text: string;
  /** The thread that gets the instruction, or where a new one is to be. */
  to: { thread: string } | NonNullable<NonNullable<AskRun['handover']>['newThread']>;
};

/** Returns the run that hands an instruction over. What it makes has ids that follow from its own. */
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

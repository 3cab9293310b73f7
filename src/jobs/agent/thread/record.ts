import { z } from 'zod';
import { idOf } from '../../../store/ids.ts';
import { runBase } from '../../../store/runs.ts';
import { version } from '../../../store/version.ts';

const person = z.object({ id: z.string(), name: z.string() });
export type Person = z.infer<typeof person>;

/** What the platform last said of an agent job. Times are epoch milliseconds. */
export const jobSnapshot = z.object({
  status: z.enum(['active', 'completed', 'archived', 'failed', 'unknown']),
  /** The platform's own word. */
  rawStatus: z.string(),
  repository: z.string().optional(),
  ref: z.string().optional(),
  model: z.string().optional(),
  prLink: z.string().optional(),
  prText: z.string().optional(),
  archivedAtMs: z.number().optional(),
  atMs: z.number(),
});
export type JobSnapshot = z.infer<typeof jobSnapshot>;

/**
 * How the work on one or more instructions came out. `prLink` is an http(s) address; `prText` what the platform gave
 * instead of one. `samePr`: the job had this pull request before.
 */
export const roundEnding = z.object({
  kind: z.enum(['newPr', 'samePr', 'noPr', 'failed', 'archived', 'gone', 'gaveUp']),
  prLink: z.string().optional(),
  prText: z.string().optional(),
  archivedAtMs: z.number().optional(),
  /** How long it was watched, of one that was given up. */
  afterMs: z.number().optional(),
  atMs: z.number(),
});
export type RoundEnding = z.infer<typeof roundEnding>;

/**
 * One instruction to the agent, or what may become one.
 *
 * `held` its author is asked first · `waiting` for its turn · `sending` the intent is kept, the call is on its way ·
 * `unknown` nobody knows whether it arrived, a person has to decide · `working` the platform took it · `failed` it
 * certainly did not arrive, and people are told · `over`
 */
export const instruction = z.object({
  /** The `ts` of the reply, else the id of the request; the same for a repeat. */
  id: z.string(),
  by: person,
  /** When it was written: instructions go out in this order. */
  atMs: z.number(),
  /** It is a reply in the thread, whose `ts` is the id, and shows a reaction. */
  isReply: z.boolean(),
  /** What goes to the agent: Markdown. Empty once nobody needs it any more. */
  text: z.string(),
  /** The same in a few words, for messages. */
  excerpt: z.string(),
  /** Files came along, which the agent does not get. */
  files: z.boolean().default(false),
  /** Makes the job instead of following up on one. */
  creates: z.boolean().default(false),
  state: z.enum(['held', 'waiting', 'sending', 'unknown', 'working', 'failed', 'over']),
  /** Counts the sends that a person wanted. */
  attempt: z.number().int().default(1),
  /** When the call of the present attempt was made. */
  sentAtMs: z.number().optional(),
  /** Names that call, so that a look knows its own intent again. */
  sendToken: z.string().optional(),
  /** The round that it is worked on in; missing until the watch has told it. */
  round: z.number().int().optional(),
  /**
   * What it came to. `sent` the platform took it · `notForAgent` its author said so · `discarded` · `withdrawn` its
   * message was deleted before it was sent · `left` nobody knows, and a person left it at that · `notSent`
   */
  outcome: z.enum(['sent', 'notForAgent', 'discarded', 'withdrawn', 'left', 'notSent']).optional(),
});
export type Instruction = z.infer<typeof instruction>;

/** From the first send while the job was idle to its end: what this thread tells of it. */
export const threadRound = z.object({
  n: z.number().int(),
  sinceMs: z.number(),
  /** Instructions of this thread in it, and the latest of them. None where another thread instructs. */
  count: z.number().int(),
  last: z.object({ id: z.string(), by: person, excerpt: z.string() }).optional(),
  /** Who is mentioned in its ending. */
  authors: z.array(person),
  /** Nobody sent anything: the job was found at work, or is watched again. */
  found: z.boolean().optional(),
  ending: roundEnding.optional(),
  /** Its messages are as they will stay. */
  told: z.boolean().optional(),
});
export type ThreadRound = z.infer<typeof threadRound>;

/** A question or a failure about one send, posted in the thread. */
export const sendTrouble = z.object({
  id: z.string(),
  attempt: z.number().int(),
  by: person,
  excerpt: z.string(),
  sinceMs: z.number(),
  /** `unknown` is a question, all others say why it was not sent. `creates`: it was to make the job. */
  why: z.enum([
    'unknown',
    'refused',
    'key',
    'forbidden',
    'down',
    'project',
    'archived',
    'gone',
    'unsupported',
    'broken',
  ]),
  creates: z.boolean().default(false),
  /** The platform's own words. */
  reason: z.string().optional(),
  /** The admins were told of the rejected key. */
  adminsTold: z.boolean().optional(),
  ref: z.string().optional(),
  archivedAtMs: z.number().optional(),
  /** Its message stands, and changes only with the answer. */
  told: z.boolean().optional(),
  /** Who settled it how; `late` is the platform's own answer, `lateNot` its word that it did not arrive. */
  answer: z
    .object({ by: person, action: z.enum(['sendAgain', 'leave', 'late', 'lateNot']), atMs: z.number() })
    .optional(),
});
export type SendTrouble = z.infer<typeof sendTrouble>;

/** Said to one person alone; it may get lost, so it never holds the only copy of anything. */
export const note = z.object({
  /** The same for the same occasion. */
  id: z.string(),
  to: z.string(),
  kind: z.enum([
    'question',
    'files',
    'edited',
    'notPermitted',
    'noLongerAllowed',
    'tooEmpty',
    'tooLong',
    'tooMany',
    'help',
    'mode',
    'followsAlready',
    'badFollow',
    'lateMention',
    'stopped',
    'over',
  ]),
  /** What it is about: an instruction's id and words, a job's id, a mode, or whom to ask. */
  about: z.string().optional(),
  excerpt: z.string().optional(),
  /** How many more it is about than `excerpt` has, a line for each. */
  more: z.number().optional(),
  /** How many characters it had, and how many there may be, or how many instructions may wait. */
  characters: z.number().optional(),
  most: z.number().optional(),
  /** Slack did not take it: it is not tried before. */
  notBeforeMs: z.number().optional(),
});
export type Note = z.infer<typeof note>;

/** Nothing goes out before `untilMs`. `ours`: our own count; else the platform said so. */
const sendLimit = z.object({
  /** Names it, so that each has a message of its own. */
  n: z.number().int(),
  kind: z.enum(['ours', 'platform']),
  /** What the limit is, for people to read. */
  perHour: z.number().int(),
  sinceMs: z.number(),
  untilMs: z.number(),
  /** When our own count is asked again: others may have left the line. */
  askAtMs: z.number().optional(),
  /** How often the platform said so in a row. */
  refusals: z.number().int(),
  /** It went out, or nothing waits any more. */
  over: z.boolean().optional(),
  /** Who took back all that waited, how many, and the first of them. */
  discarded: z
    .object({ by: person, count: z.number().int(), first: z.object({ by: person, excerpt: z.string() }) })
    .optional(),
});

/** A Slack thread that follows an agent job. Every message about it is a function of this record, see `view.ts`. */
export const threadRun = runBase.extend({
  v: version(2),
  job: z.literal('agent-thread'),
  project: z.string(),
  /** The platform's id of the agent job; missing until a new one is made. */
  agentJobId: z.string().optional(),
  /** Who followed the job. */
  owner: person,
  /** The permission of the owner was checked where the request came in. */
  checked: z.boolean(),
  /** Where it was asked for, and the message whose thread it is; nothing while the card is to become that. */
  asked: z.object({
    channel: z.string(),
    joinable: z.boolean(),
    isPublic: z.boolean(),
    rootTs: z.string().optional(),
    /** Whoever asked is not known to be from this workspace. */
    external: z.boolean().optional(),
    /** The message that asked for it: what was written before was not for the agent. */
    ts: z.string().optional(),
  }),
  /** Its messages are in the owner's direct messages, since the app cannot be where it was asked. */
  inDirectMessage: z.boolean(),
  /** Where its replies are; known once the card is there. */
  place: z.object({ channel: z.string(), rootTs: z.string() }).optional(),
  /**
   * `accepted` nobody has looked yet · `carding` the card is on its way · `following` · `ended` it follows no more, or
   * never did.
   */
  state: z.enum(['accepted', 'carding', 'following', 'ended']),
  sinceMs: z.number(),
  /** Why it ended. `taken`: the thread follows another job. `noPlace`: the card could not be posted. */
  ended: z
    .object({
      why: z.enum(['stopped', 'refused', 'noPlace', 'taken', 'notMade', 'broken']),
      by: person.optional(),
      code: z.string().optional(),
      ref: z.string().optional(),
      /** Instructions that were not sent. */
      unsent: z.number().int().default(0),
    })
    .optional(),
  /** Which replies are instructions. */
  mode: z.enum(['auto', 'all', 'mention']),
  /** Somebody else than the owner has written here. */
  crowd: z.boolean().default(false),
  /** What people answered to the question whether their replies are for the agent, by user id. */
  answers: z.record(z.string(), z.enum(['always', 'mention'])).default({}),
  /** When people were last asked, by user id; epoch milliseconds. */
  askedAtMs: z.record(z.string(), z.number()).default({}),
  /** Who was told that they may not instruct the agent. */
  refused: z.array(z.string()).default([]),
  /** Oldest first: those that are open, and the latest that are not. */
  instructions: z.array(instruction).default([]),
  /** Edits and deletions that came before their message, by its `ts`; oldest first. */
  early: z.array(z.object({ ts: z.string(), deleted: z.boolean(), json: z.string().optional() })).default([]),
  rounds: z.array(threadRound).default([]),
  /** The last round of the job whose ending this thread knows. */
  knownRound: z.number().int().default(0),
  troubles: z.array(sendTrouble).default([]),
  notes: z.array(note).default([]),
  /** The watch of the job tells this thread. */
  watched: z.boolean().default(false),
  seen: jobSnapshot.optional(),
  /** The platform does not know the job. */
  gone: z.boolean().optional(),
  /** Looks at the job give nothing just now. */
  lookTrouble: z.enum(['down', 'limit', 'key', 'forbidden', 'project']).optional(),
  limit: sendLimit.optional(),
  /** The head instruction certainly did not arrive, and is tried again; `over`: it is not any more, or went out. */
  retry: z
    .object({
      sinceMs: z.number(),
      inARow: z.number().int(),
      nextMs: z.number(),
      over: z.boolean().optional(),
    })
    .optional(),
});
export type ThreadRun = z.infer<typeof threadRun>;

/** What is listed of a thread without its record, see `store/followed-index.ts`. */
export const listedThread = threadRun.pick({
  id: true,
  job: true,
  project: true,
  agentJobId: true,
  owner: true,
  asked: true,
  inDirectMessage: true,
  place: true,
  state: true,
});
export type ListedThread = z.infer<typeof listedThread>;

/** Instructions that are over and still known: for edits and deletions that come late. */
export const MAX_FINISHED = 30;

/** Errors in a row before people are told that the platform does not answer. */
export const TROUBLE_SHOWN_AFTER = 3;

/** What the run of the watch of a job is called, the same for all threads. */
export const watchId = (teamId: string, project: string, agentJobId: string) =>
  idOf('agent-watch', teamId, project, agentJobId);

/** The instruction that is to go out next, whatever keeps it. Held ones hold up nobody. */
export const headOf = ({ instructions }: Pick<ThreadRun, 'instructions'>) =>
  instructions.find(({ state }) => state === 'waiting');

/** The one that is between two states: while there is one, nothing else goes out. */
export const inFlightOf = ({ instructions }: Pick<ThreadRun, 'instructions'>) =>
  instructions.find(({ state }) => state === 'sending' || state === 'unknown');

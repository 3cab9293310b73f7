import { z } from 'zod';
import { type Quota, runBase } from '../../../store/runs.ts';
import { threadClaim } from '../../../store/threads.ts';
import type { Limits } from '../../limits.ts';
import { openQuestionIds } from '../../needs.ts';
import type { Visible, VisibleKind } from '../../visibility.ts';
import { jobSnapshot, roundEnding } from '../watch/record.ts';
import { type Instruction, instruction, newInstruction, person } from './instruction.ts';

/** What this thread shows of one round of the job: from the first send while it was idle to its end. */
export const threadRound = z.object({
  n: z.number().int(),
  sinceMs: z.number(),
  /** How many instructions of this thread are in it, and the latest one. 0 when only other threads sent some. */
  count: z.number().int(),
  last: z.object({ id: z.string(), by: person, excerpt: z.string() }).optional(),
  /** Who is mentioned in the message about its ending. */
  authors: z.array(person),
  /** Nobody sent anything: the job was found at work, or is polled again. */
  found: z.boolean().optional(),
  ending: roundEnding.optional(),
  /** Its messages are final. */
  final: z.boolean().optional(),
});
export type ThreadRound = z.infer<typeof threadRound>;

/** The message in the thread about one send that failed, or whose result is unknown. */
export const sendProblem = z.object({
  /** Id and attempt of the instruction, whose author and excerpt follow. */
  id: z.string(),
  attempt: z.number().int(),
  by: person,
  excerpt: z.string(),
  sinceMs: z.number(),
  /** `unknown` asks what to do; all others say why it was not sent. */
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
  /** The instruction was to make the job. */
  creates: z.boolean().default(false),
  /** The platform's own words. */
  reason: z.string().optional(),
  /** The admins know of the rejected key. */
  adminsTold: z.boolean().optional(),
  ref: z.string().optional(),
  archivedAtMs: z.number().optional(),
  /** Its message is final, unless an `answer` changes it. */
  final: z.boolean().optional(),
  /** Who decided what. `late`: the platform answered late that it arrived; `lateNot`: that it did not. */
  answer: z
    .object({ by: person, action: z.enum(['sendAgain', 'leave', 'late', 'lateNot']), atMs: z.number() })
    .optional(),
});
export type SendProblem = z.infer<typeof sendProblem>;

/** An ephemeral to one person. It may get lost, so it never holds the only copy of anything. */
export const ephemeral = z.object({
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
    'status',
  ]),
  /** The id of an instruction or a job, a mode, or whom to ask. */
  about: z.string().optional(),
  excerpt: z.string().optional(),
  /** How many more instructions it is about than `excerpt` lists, one a line. */
  more: z.number().optional(),
  /** How many characters the reply had. */
  characters: z.number().optional(),
  /** How many characters an instruction may have, or how many instructions may wait. */
  most: z.number().optional(),
  /** Slack refused it, and it is retried from then on. */
  notBeforeMs: z.number().optional(),
});
export type Ephemeral = z.infer<typeof ephemeral>;

/** No instruction is sent before `untilMs`. `ours`: by our own hourly limit; `platform`: the platform said so. */
const sendLimit = z.object({
  /** Unique to it, for the key of its message. */
  n: z.number().int(),
  kind: z.enum(['ours', 'platform']),
  /** Our hourly limit. */
  perHour: z.number().int(),
  sinceMs: z.number(),
  untilMs: z.number(),
  /** When our own limit is asked again: others may have left the queue. */
  askAtMs: z.number().optional(),
  /** How often the platform refused in a row. */
  refusals: z.number().int(),
  /** No instruction waits for it any more. */
  expired: z.boolean().optional(),
  /** Who discarded all that waited, how many, and the first of them. */
  discarded: z
    .object({ by: person, count: z.number().int(), first: z.object({ by: person, excerpt: z.string() }) })
    .optional(),
});

/** A Slack thread that follows an agent job. All its messages are a function of this record, see `view.ts`. */
export const threadRun = runBase.extend({
  job: z.literal('agent-thread'),
  needs: openQuestionIds,
  project: z.string(),
  /** The platform's id of the agent job; missing until a new one is made. */
  agentJobId: z.string().optional(),
  /** The job's first instruction in a few words, where it is known: the job was made here. */
  title: z.string().optional(),
  /** The message with the whole of it is final. */
  titleShown: z.boolean().optional(),
  /** Who followed the job. */
  owner: person,
  /** The owner's permission was checked when the request came in. */
  checked: z.boolean(),
  /** Where it was asked for. Without `rootTs` the card becomes the thread. */
  asked: z.object({
    channel: z.string(),
    joinable: z.boolean(),
    isPublic: z.boolean(),
    rootTs: z.string().optional(),
    /** The owner is not known to be from this workspace. */
    external: z.boolean().optional(),
    /** The message that asked for it, if one did: earlier replies are no instructions. */
    ts: z.string().optional(),
  }),
  /** Its messages are in the owner's direct messages, since the app cannot post where it was asked for. */
  inDirectMessage: z.boolean(),
  /** Where its replies are; known once the card is posted. */
  place: z.object({ channel: z.string(), rootTs: z.string() }).optional(),
  /** `accepted` nothing is done yet · `postingCard` the card is being posted · `following` · `ended`, see there */
  state: z.enum(['accepted', 'postingCard', 'following', 'ended']),
  sinceMs: z.number(),
  /** Why it ended. `taken`: the Slack thread follows another job. `noPlace`: the card could not be posted. */
  ended: z
    .object({
      why: z.enum(['stopped', 'refused', 'noPlace', 'taken', 'notMade', 'broken']),
      by: person.optional(),
      code: z.string().optional(),
      ref: z.string().optional(),
      /** How many instructions were not sent. */
      unsent: z.number().int().default(0),
    })
    .optional(),
  /** Which replies are instructions. */
  mode: z.enum(['auto', 'all', 'mention']),
  /** Somebody other than the owner has written here. */
  hasOtherAuthors: z.boolean().default(false),
  /** Whether a person's replies are instructions, as that person answered; by user id. */
  answers: z.record(z.string(), z.enum(['always', 'mention'])).default({}),
  /** When people were last asked, by user id; epoch milliseconds. */
  askedAtMs: z.record(z.string(), z.number()).default({}),
  /** Who was shown that they may not instruct the agent. */
  refused: z.array(z.string()).default([]),
  /** See `compact.ts` for their order, and for which are kept. */
  instructions: z.array(instruction).default([]),
  /** Edits and deletions that came before their message, by its `ts`; oldest first. */
  editsBeforeMessage: z
    .array(z.object({ ts: z.string(), deleted: z.boolean(), json: z.string().optional() }))
    .default([]),
  rounds: z.array(threadRound).default([]),
  /** The last round of the job whose ending is known here. */
  knownRound: z.number().int().default(0),
  sendProblems: z.array(sendProblem).default([]),
  /** Ephemerals that are to be posted. */
  ephemerals: z.array(ephemeral).default([]),
  /** The thread has joined the watch of its job. */
  watched: z.boolean().default(false),
  seen: jobSnapshot.optional(),
  /** The platform does not know the job. */
  notFound: z.boolean().optional(),
  /** Why the job cannot be polled at present. */
  pollFailure: z.enum(['down', 'limit', 'key', 'forbidden', 'project']).optional(),
  limit: sendLimit.optional(),
  /** The next instruction certainly did not arrive, and is retried. `over`: no more. */
  retry: z
    .object({
      sinceMs: z.number(),
      inARow: z.number().int(),
      nextMs: z.number(),
      expired: z.boolean().optional(),
    })
    .optional(),
});
export type ThreadRun = z.infer<typeof threadRun>;

/** Whether the platform refused to make the job: nobody but the author has to know. */
export const isJobRefused = ({ why, creates }: Pick<SendProblem, 'why' | 'creates'>) =>
  creates && ['unsupported', 'refused', 'forbidden'].includes(why);

/** The `code` of a thread that ended since the platform refused to make its job. */
export const JOB_REFUSED = 'job_refused';

/** Whether nothing stays of a thread but a private answer to its owner. */
export const isRetracted = ({ ended }: Pick<ThreadRun, 'ended'>) => ended?.code === JOB_REFUSED;

/** A message lists so many instructions one by one. */
export const MAX_LISTED_INSTRUCTIONS = 3;

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
  needs: true,
});
export type ListedThread = z.infer<typeof listedThread>;

/** What a new thread is made from. Without `agentJobId` its instruction makes the job. */
type NewThread = Pick<
  ThreadRun,
  'id' | 'teamId' | 'project' | 'agentJobId' | 'owner' | 'checked' | 'asked' | 'mode'
> & { instruction: Instruction | undefined };

/** What a thread counts toward while it follows a job: its owner. */
export const threadQuotas = (
  { teamId, owner }: Pick<ThreadRun, 'teamId' | 'owner'>,
  { threadsPerPerson }: Pick<Limits, 'threadsPerPerson'>,
): [Quota] => [{ name: ['threads', teamId, owner.id].join(':'), max: threadsPerPerson, lasting: true }];

/** Returns the record of a thread that is to follow a job. In an existing Slack thread it claims that place. */
export function newThread({ instruction: first, ...thread }: NewThread, nowMs: number): ThreadRun {
  const { teamId, owner, asked } = thread;
  const { channel, rootTs } = asked;
  return threadRun.parse({
    ...{ job: 'agent-thread', rev: 1, people: [owner.id], lasting: true },
    ...(rootTs !== undefined && { claim: threadClaim({ teamId, channel, rootTs }) }),
    ...thread,
    inDirectMessage: channel === '',
    state: 'accepted',
    sinceMs: nowMs,
    instructions: first === undefined ? [] : [first],
    ...(first?.creates && { title: first.excerpt }),
  });
}

/**
 * Returns the record of a thread of its own, for somebody whose permission was checked. `text` goes to the agent; without
 * `agentJobId` it makes the job.
 */
export function newOwnThread(
  {
    instructionId,
    text,
    ...thread
  }: Omit<NewThread, 'checked' | 'instruction'> & { instructionId: string; text: string },
  nowMs: number,
): ThreadRun {
  const creates = thread.agentJobId === undefined;
  const one = { id: instructionId, by: thread.owner, atMs: nowMs, text, creates };
  const first = text === '' ? undefined : newInstruction(one);
  return newThread({ ...thread, checked: true, instruction: first }, nowMs);
}

export const findInstruction = ({ instructions }: ThreadRun, id: string | undefined) =>
  instructions.find((one) => one.id === id);

/** The instructions that wait to be sent, in their order. */
export const waitingOf = ({ instructions }: ThreadRun) =>
  instructions.filter(({ state }) => state === 'waiting');

/** The replies of one person that are held. */
export const heldOf = ({ instructions }: ThreadRun, userId: string) =>
  instructions.filter(({ state, by }) => state === 'held' && by.id === userId);

/** The instruction that is sent next. */
export const nextWaitingOf = (thread: ThreadRun) => waitingOf(thread)[0];

/** The instruction whose send has no result yet: no other one is sent meanwhile. */
export const unresolvedSendOf = ({ instructions }: ThreadRun) =>
  instructions.find(({ state }) => state === 'sending' || state === 'unknown');

/** Whether the job takes instructions, as far as it is known. */
export const acceptsInstructions = ({ notFound: gone, seen }: ThreadRun) =>
  !gone && seen?.status !== 'archived';

/**
 * Whether this is an owner whose replies are instructions because nobody else has written here. Such a person is asked
 * about each reply by itself, and the answer is about that reply alone.
 */
export const isSoleAuthor = ({ mode, owner, hasOtherAuthors: crowd }: ThreadRun, userId: string) =>
  mode === 'auto' && owner.id === userId && !crowd;

/** Returns what decides who may see a thread: its owner asked for it. */
export const visibleThread = ({ owner, ...thread }: ListedThread): Visible => ({
  ...thread,
  requester: owner,
});

export const threadKind: VisibleKind<ThreadRun> = { record: threadRun, visible: visibleThread };

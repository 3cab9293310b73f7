import { z } from 'zod';
import { userMessage } from '../../../slack/reply.ts';
import type { Quota } from '../../../store/runs.ts';
import { INDEXED, type RunStore, runBase } from '../../../store/runs.ts';
import { threadClaim } from '../../../store/threads.ts';
import { pollFailure } from '../../engine/polling.ts';
import type { EventsOf } from '../../engine/send-event.ts';
import { pullRequestState } from '../../pull-request/state.ts';
import type { Limits } from '../../shared/limits.ts';
import { origin, person, type Visible, type VisibleKind } from '../../shared/origin.ts';
import { background, backgroundSource } from '../background.ts';
import { excerptOf } from '../thread-text.ts';
import { threadClicks } from './buttons.ts';

/** Where somebody gave an instruction under a digest; a line there shows what becomes of it. */
export const digestOrigin = z.object({
  /** The run of the digest, the key of the message that has the line in its thread, and the channel. */
  digest: z.string(),
  under: z.string(),
  channel: z.string(),
  /** A page, a search term, or questions without an answer; `value` is its number at the time of the request. */
  subject: z.object({
    kind: z.enum(['page', 'thumbs', 'search', 'questions']),
    /** The path or the search term, as the platform gives it. */
    name: z.string(),
    value: z.number().optional(),
  }),
  /** The subject as text. */
  about: z.string(),
  /** Its line is final. */
  final: z.boolean().optional(),
});
export type DigestOrigin = z.infer<typeof digestOrigin>;

/** An agent job as the platform last described it. Times are epoch milliseconds. */
const jobSnapshot = z.object({
  status: z.enum(['active', 'completed', 'archived', 'failed', 'unknown']),
  /** The platform's own word for its status. */
  rawStatus: z.string(),
  repository: z.string().optional(),
  ref: z.string().optional(),
  model: z.string().optional(),
  prLink: z.string().optional(),
  createdAtMs: z.number().optional(),
  archivedAtMs: z.number().optional(),
  atMs: z.number(),
});

/** How a round ended. `prLink` is an address, or other text. `samePr`: the job had this pull request before. */
const roundEnding = z.object({
  kind: z.enum(['newPr', 'samePr', 'noPr', 'failed', 'archived', 'gone', 'gaveUp']),
  prLink: z.string().optional(),
  /** With `gaveUp`: how long the job was polled. */
  afterMs: z.number().optional(),
  atMs: z.number(),
});
export type RoundEnding = z.infer<typeof roundEnding>;

/** Why a send failed, or that its result is unknown. */
const sendProblem = z.object({
  attempt: z.number().int(),
  /** `unknown` asks for a decision; all others are reasons why it was not sent. */
  why: z.enum([
    ...(['unknown', 'refused', 'key', 'forbidden', 'down', 'project'] as const),
    ...(['archived', 'gone', 'unsupported'] as const),
  ]),
  /** The platform's own words. */
  reason: z.string().optional(),
  /** The admins were alerted of the rejected key. */
  adminsAlerted: z.boolean().optional(),
  /** Its message is final, unless an `answer` changes it. */
  final: z.boolean().optional(),
  /** The decision and its author. `late`: the platform has answered, so the instruction did arrive. */
  answer: z.object({ by: person, action: z.enum(['sendAgain', 'leave', 'late']) }).optional(),
});

/** States of an instruction that nothing changes any more. */
const FINISHED = ['sent', 'notForAgent', 'discarded', 'withdrawn', 'left', 'notSent'] as const;

/**
 * One instruction to the agent, or a reply that may become one.
 *
 * `held` its author is asked whether it is one, or whether its background goes along · `waiting` to be sent ·
 * `sending` the intent is saved and the call under way · `unknown` the result is unknown, a person decides · `working`
 * the platform took it · `failed` it certainly did not arrive, and may be sent again. Finished: `sent` its round has
 * ended · `notForAgent` its author said so · `discarded` · `withdrawn` its message was deleted or emptied before the
 * send · `left` unknown, and a person left it so · `notSent` it did not arrive
 */
const instruction = z.object({
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
  origin: digestOrigin.optional(),
  /** Before it is sent, its author is asked whether the messages there go along. */
  backgroundSource: backgroundSource.optional(),
  /** The messages that go along. While the instruction is held, its author is asked about them. */
  background: background.optional(),
  /** The question about them. `isHere`: they are messages of this thread. `isOpenToAll`: its author let a day pass. */
  question: z.object({ askedAtMs: z.number(), isHere: z.boolean(), isOpenToAll: z.boolean() }).optional(),
  state: z.enum(['held', 'waiting', 'sending', 'unknown', 'working', 'failed', ...FINISHED]),
  /** The number of its latest call, as the thread's `sends` counts them. */
  send: z.number().int().optional(),
  /** The person who had it sent although the agent works. */
  sentNowBy: person.optional(),
  /** Counts the sends that a person requested. */
  attempt: z.number().int().default(1),
  /** Why the send of an attempt failed, or that its result is unknown. */
  problem: sendProblem.optional(),
  /** The bot's reaction on the reply, or one that Slack refused. */
  reaction: z.enum(['eyes', 'double_vertical_bar']).optional(),
  /** Its round, once it was sent. */
  round: z.number().int().optional(),
  /** With an `origin`: how its round ended. */
  ending: roundEnding.optional(),
});
export type Instruction = z.infer<typeof instruction>;

/** Returns an instruction that waits to be sent, unless `state` says otherwise. */
export const newInstruction = (
  one: Pick<Instruction, 'id' | 'by' | 'atMs' | 'text'> & Partial<Instruction>,
): Instruction =>
  instruction.parse({ isReply: false, state: 'waiting', excerpt: excerptOf(one.text), ...one });

export const isFinished = ({ state }: Pick<Instruction, 'state'>) => FINISHED.some((one) => one === state);

/** It has not been sent and can still be changed or withdrawn. */
export const isPending = ({ state }: Pick<Instruction, 'state'>) => state === 'held' || state === 'waiting';

/** One round of the job, as this thread shows it: from the first send to the idle job until its end. */
const threadRound = z.object({
  n: z.number().int(),
  sinceMs: z.number(),
  /** Time of its last send, or of the poll that found the job active. */
  sentAtMs: z.number(),
  /** The job's pull request before the round. */
  prBefore: z.string().optional(),
  /** Number of this thread's instructions in it, and the latest one. 0 if only other threads sent any. */
  count: z.number().int(),
  last: instruction.pick({ id: true, by: true, excerpt: true }).optional(),
  /** People whom the message about its ending mentions. */
  authors: z.array(person),
  /** No thread sent anything: the job was found active, or is polled again. */
  found: z.boolean().optional(),
  ending: roundEnding.optional(),
  /** Its pull request, if it is followed and no later round has it. */
  pullRequest: pullRequestState.optional(),
  /** Its messages are final. */
  final: z.boolean().optional(),
});
export type ThreadRound = z.infer<typeof threadRound>;

/** An ephemeral to one person. It may get lost, so it never holds the only copy of anything. */
const ephemeral = z.object({
  /** The same id for the same occasion. */
  id: z.string(),
  to: z.string(),
  kind: z.enum([
    ...(['question', 'files', 'edited', 'notPermitted', 'noLongerAllowed', 'tooEmpty', 'tooLong'] as const),
    ...(['tooMany', 'help', 'mode', 'followsAlready', 'badFollow', 'lateMention', 'stopped'] as const),
    ...(['over', 'status', 'leftOut'] as const),
  ]),
  /** The id of an instruction or a job, a mode, a contact, or what was left out of a background. */
  about: z.string().optional(),
  excerpt: z.string().optional(),
  /** Where it is posted, if not in the followed thread. */
  place: z.object({ channel: z.string(), rootTs: z.string() }).optional(),
  /** Number of characters in the reply. */
  characters: z.number().optional(),
  /** Maximum characters of an instruction, or maximum number of waiting instructions. */
  most: z.number().optional(),
});
export type Ephemeral = z.infer<typeof ephemeral>;

/** No instruction is sent before `untilMs`. */
const sendLimit = z.object({
  /** Unique to this limit, for the key of its message. */
  n: z.number().int(),
  /** Our own hourly limit; missing if it is the platform's. */
  perHour: z.number().int().optional(),
  untilMs: z.number(),
  /** The person who discarded the waiting instructions. */
  discardedBy: person.optional(),
  /** Nothing waits any more: the next wait gets a message of its own. */
  isOver: z.boolean().optional(),
});

/** Instructions wait until the agent is done. Takes the place of a limit, and the other way round: one message shows both. */
const turn = z.object({
  n: sendLimit.shape.n,
  /** The message that this one replaces, because a question is a new message, and so is what follows its answer. */
  before: z.number().int().optional(),
  /** How long the agent has worked when people are asked what to do; missing until then. */
  workedMs: z.number().optional(),
  /** When a person chose to keep waiting. */
  keptAtMs: z.number().optional(),
  discardedBy: sendLimit.shape.discardedBy,
  isOver: sendLimit.shape.isOver,
});

/** A preview of the job's branch, by its run, and who asked for it. It has a `url` if it shows the agent's latest work. */
const preview = z.object({
  run: z.string(),
  by: person,
  isBuilding: z.boolean(),
  url: z.string().optional(),
});

/** A Slack thread that follows an agent job. Its messages are functions of this record, see `view.ts`. */
export const threadRun = runBase.extend({
  job: z.literal('agent-thread'),
  project: z.string(),
  /** The platform's id of the agent job; missing until a new job exists. */
  agentJobId: z.string().optional(),
  /** A short form of the job's first instruction, if the job was made here. */
  title: z.string().optional(),
  /** The person who followed the job. */
  owner: person,
  /** Without `rootTs` the card becomes the thread. */
  asked: origin.shape.asked.extend({
    rootTs: z.string().optional(),
    /** Set if a message requested it: the owner may be from outside this workspace, and was not checked yet. */
    external: z.boolean().optional(),
    /** The message that requested it, if any: earlier replies are no instructions. */
    ts: z.string().optional(),
  }),
  inDirectMessage: origin.shape.inDirectMessage,
  /** The place of its replies; known once the card is posted. */
  place: z.object({ channel: z.string(), rootTs: z.string() }).optional(),
  /** `accepted` not stepped yet · `postingCard` the card is being posted · `following` · `ended`, see there */
  state: z.enum(['accepted', 'postingCard', 'following', 'ended']),
  sinceMs: z.number(),
  /**
   * Why it ended. `refused` the owner may not follow jobs · `unknownJob` the platform does not know the job · `noPlace`
   * the card could not be posted · `taken` the Slack thread follows another job · `notMade` the job was not created ·
   * `jobRefused` the platform refused to create it
   */
  ended: z
    .object({
      why: z.enum([
        ...(['stopped', 'refused', 'tooManyThreads', 'unknownJob', 'noPlace'] as const),
        ...(['taken', 'notMade', 'jobRefused', 'broken'] as const),
      ]),
      by: person.optional(),
      code: z.string().optional(),
      ref: z.string().optional(),
      /** Number of instructions that were not sent. */
      unsent: z.number().int(),
    })
    .optional(),
  /** Which replies are instructions. */
  mode: z.enum(['auto', 'all', 'mention']),
  /** When a person other than the owner last wrote here. After a quiet day, it lapses with the owner's next reply. */
  othersAtMs: z.number().optional(),
  /** Each person's answer whether their replies are instructions, by user id. */
  answers: z.record(z.string(), z.enum(['always', 'mention'])).default({}),
  /** The latest messages that were deleted before they were known. */
  deleted: z.array(z.string()).optional(),
  /** In the order of their arrival; `compact` decides which are kept. */
  instructions: z.array(instruction),
  /** Counts the calls that may have been made. */
  sends: z.number().int().default(0),
  rounds: z.array(threadRound).default([]),
  /** Ephemerals that are not posted yet. */
  ephemerals: z.array(ephemeral).default([]),
  /** Slack delays them until then. */
  ephemeralsAtMs: z.number().default(0),
  seen: jobSnapshot.optional(),
  /** Whether the platform makes previews, as far as Docket knows. */
  previews: z.boolean().optional(),
  preview: preview.optional(),
  /** The platform does not know the job. */
  notFound: z.boolean().optional(),
  /** The job is polled while a round is open, or a person waits. */
  nextPollAtMs: z.number(),
  pollRequested: z.boolean(),
  pollFailure: pollFailure.optional(),
  limit: sendLimit.optional(),
  turn: turn.optional(),
  /** The next instruction certainly did not arrive and is retried. `expired`: not any more. */
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

export const newReply = userMessage.extend({ kind: z.literal('reply') });

/** An entry in the inbox of a followed thread. Times are epoch milliseconds. */
export const threadEvent = z.discriminatedUnion('kind', [
  newReply,
  userMessage.extend({ kind: z.literal('edited') }),
  z.object({ kind: z.literal('deleted'), ts: z.string() }),
  /** An instruction from a modal; `id` is the request's. */
  instruction
    .pick({ id: true, by: true, text: true, atMs: true, origin: true, backgroundSource: true })
    .extend({ kind: z.literal('instruct') }),
  /**
   * A click by a person with the permission. `about` has ids of instructions, or `round` its number. `attempt` is the
   * instruction's attempt when the button was made, so that a click on an old message has no effect.
   */
  z.object({
    kind: z.literal('clicked'),
    action: z.enum(threadClicks),
    by: person,
    about: z.array(z.string()),
    attempt: z.number().int(),
    atMs: z.number(),
  }),
  /** Another thread sent an instruction to the job. `idle`: how it saw the job before that, if nothing was at work then. */
  z.object({ kind: z.literal('sentElsewhere'), atMs: z.number(), idle: jobSnapshot.optional() }),
  /** The platform turned out to make no previews. */
  z.object({ kind: z.literal('noPreviews') }),
  /** A preview began, or ended. */
  preview.extend({ kind: z.literal('preview') }),
  /** The pull request of round `n` has a new state. */
  z.object({ kind: z.literal('pullRequest'), n: z.number(), pullRequest: pullRequestState }),
]);
export type ThreadEvent = z.infer<typeof threadEvent>;
export const threadEvents: EventsOf<ThreadEvent> = { job: 'agent-thread', schema: threadEvent };

export type ReplyEvent = Extract<ThreadEvent, { kind: 'reply' | 'edited' }>;
export type ThreadClick = Extract<ThreadEvent, { kind: 'clicked' }>;

/** A problem with the instruction as its message names it. */
export type SendProblem = NonNullable<Instruction['problem']> &
  Pick<Instruction, 'id' | 'by' | 'excerpt' | 'creates'>;

/** Returns the problems whose messages are not final. */
export const sendProblemsOf = ({ instructions }: Pick<ThreadRun, 'instructions'>): SendProblem[] =>
  instructions.flatMap(({ problem, id, by, excerpt, creates }) =>
    problem && (!problem.final || problem.answer) ? [{ ...problem, id, by, excerpt, creates }] : [],
  );

/** Whether the platform refused to start the job: only the author needs to know. */
export const isJobRefused = ({ why, creates }: Pick<SendProblem, 'why' | 'creates'>) =>
  creates && ['unsupported', 'refused', 'forbidden'].includes(why);

/** Whether only a private answer to the owner stays of a thread. */
export const isRetracted = ({ ended }: Pick<ThreadRun, 'ended'>) => ended?.why === 'jobRefused';

/** The fields that the index of threads stores. */
const listedThread = threadRun.pick(INDEXED);
export type ListedThread = z.infer<typeof listedThread>;

/** Returns the followed threads of a workspace from their index, latest first. Damaged entries are left out. */
export async function listThreads({ indexed }: Pick<RunStore, 'indexed'>, teamId: string) {
  const entries = await indexed<ThreadRun>('agent-thread', teamId);
  const threads = entries.flatMap((entry) => listedThread.safeParse(entry).data ?? []);
  return threads.sort((one, other) => other.sinceMs - one.sinceMs);
}

/** The number of the present wait, whose message goes on. */
export const waitNumberOf = ({ limit, turn }: ThreadRun) => {
  const wait = turn ?? limit;
  return wait?.isOver ? undefined : wait?.n;
};

/** Whether requests wait until the agent is done, as far as messages say. */
export const isWaitingForTurn = (thread: ThreadRun) =>
  thread.turn !== undefined && unsentOf(thread).length > 0;

/** The round that has not ended. */
export const openRoundOf = ({ rounds }: ThreadRun) => rounds.findLast(({ ending }) => ending === undefined);

export const findInstruction = ({ instructions }: ThreadRun, id: string | undefined) =>
  instructions.find((one) => one.id === id);

/** The instructions that wait to be sent, in order. */
export const waitingOf = ({ instructions }: ThreadRun) =>
  instructions
    .filter(({ state }) => state === 'waiting')
    .toSorted((one, other) => one.atMs - other.atMs || (one.id < other.id ? -1 : 1));

/** Whether the author of this reply is asked if it is for the agent. */
export const isHeldReply = ({ state, background }: Instruction) =>
  state === 'held' && background === undefined;

/** Whether this person may answer the question about its background: after a day, others decide about what they see. */
export const mayAnswer = ({ by, question }: Instruction, userId: string, isAlone: boolean) =>
  by.id === userId || (question?.isOpenToAll === true && (isAlone || question.isHere));

/** The held replies of one person. */
export const heldOf = ({ instructions }: ThreadRun, userId: string) =>
  instructions.filter((one) => isHeldReply(one) && one.by.id === userId);

/** The instruction whose send has no result yet; no other is sent until then. */
export const unresolvedSendOf = ({ instructions }: ThreadRun) =>
  instructions.find(({ state }) => state === 'sending' || state === 'unknown');

/** The instruction that is in its call, and those that wait. */
export const unsentOf = (thread: ThreadRun) => [
  ...thread.instructions.filter(({ state }) => state === 'sending'),
  ...waitingOf(thread),
];

/** Whether the job takes instructions, as far as is known. */
export const acceptsInstructions = ({ notFound: gone, seen }: ThreadRun) =>
  !gone && seen?.status !== 'archived';

/**
 * Whether this is an owner whose replies are instructions because nobody else has written here. Such a person is asked
 * about each reply separately, and each answer is about that reply alone.
 */
export const isSoleAuthor = ({ mode, owner, othersAtMs }: ThreadRun, userId: string) =>
  mode === 'auto' && owner.id === userId && othersAtMs === undefined;

/** Returns the data that decides who may see a thread. */
export const visibleThread = ({ owner, ...thread }: ListedThread): Visible => ({
  ...thread,
  by: owner,
});

export const threadKind: VisibleKind<ThreadRun> = {
  what: 'thread',
  record: threadRun,
  visible: visibleThread,
};

/** The input for a new thread. Without `agentJobId` its instruction starts the job. */
type NewThread = Pick<ThreadRun, 'id' | 'teamId' | 'project' | 'agentJobId' | 'owner' | 'asked' | 'mode'> & {
  /** The owner's first instruction; one without text is left out. */
  instruction?: Pick<Instruction, 'id' | 'text'> & Partial<Instruction>;
};

/** The quota of a thread that follows a job: its owner's. */
export const threadQuotas = (
  { teamId, owner }: Pick<ThreadRun, 'teamId' | 'owner'>,
  { threadsPerPerson }: Pick<Limits, 'threadsPerPerson'>,
): [Quota] => [{ name: ['threads', teamId, owner.id].join(':'), max: threadsPerPerson }];

/** Returns the record of a new thread. In an existing Slack thread it claims that place. */
export function newThread({ instruction: one, ...thread }: NewThread, nowMs: number): ThreadRun {
  const { teamId, owner, asked, agentJobId } = thread;
  const { channel, rootTs } = asked;
  const creates = agentJobId === undefined;
  const first = one?.text ? newInstruction({ by: owner, atMs: nowMs, creates, ...one }) : undefined;
  return threadRun.parse({
    job: 'agent-thread',
    rev: 1,
    people: [owner.id],
    permanent: true,
    ...(rootTs !== undefined && { claim: threadClaim({ teamId, channel, rootTs }) }),
    ...thread,
    inDirectMessage: channel === '',
    state: 'accepted',
    sinceMs: nowMs,
    nextPollAtMs: nowMs,
    pollRequested: !creates,
    instructions: first === undefined ? [] : [first],
    ...(creates && { title: first?.origin ? `Fix ${first.origin.about}` : first?.excerpt }),
  });
}

/** More unposted ephemerals of one kind would repeat themselves to the same person. */
const MAX_EPHEMERALS_PER_KIND = 5;

/**
 * Adds an ephemeral, unless its id exists or this person has enough of its kind. A question is always added: held
 * replies wait for its answer.
 */
export function addEphemeral(thread: ThreadRun, ephemeral: Ephemeral): ThreadRun {
  const { id, to, kind } = ephemeral;
  if (thread.ephemerals.some((other) => other.id === id)) return thread;
  const alike = thread.ephemerals.filter((other) => other.to === to && other.kind === kind);
  if (kind !== 'question' && alike.length >= MAX_EPHEMERALS_PER_KIND) return thread;
  return { ...thread, ephemerals: [...thread.ephemerals, ephemeral] };
}

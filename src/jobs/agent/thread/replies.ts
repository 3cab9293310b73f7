import { lengthOf, tsToMs } from '../../../slack/text.ts';
import type { Limits } from '../../shared/limits.ts';
import type { Person } from '../../shared/origin.ts';
import type { BackgroundSource } from '../background.ts';
import { excerptOf, isTalk, parseThreadText, type ThreadCommand } from '../thread-text.ts';
import { applyClick } from './clicks.ts';
import { addInstruction, releaseHeld, updateInstruction } from './instructions.ts';
import { applyPreview } from './previews.ts';
import {
  addEphemeral,
  type Ephemeral,
  findInstruction,
  heldOf,
  type Instruction,
  isFinished,
  isPending,
  isSoleAuthor,
  newInstruction,
  type ReplyEvent,
  type ThreadEvent,
  type ThreadRun,
} from './record.ts';
import { addSend, endSeenElsewhere } from './rounds.ts';

export interface EventContext {
  /** The author of the reply or click; `may`: has the permission `agent`. */
  author: Person & { may: boolean };
  /** Whom to ask for the permission, as plain text. */
  contacts: string;
  /** The Markdown of a message, and whether it has files or shared messages that the agent does not get. */
  text: string;
  files: boolean;
  limits: Pick<Limits, 'instructionCharacters' | 'instructionsWaiting'>;
  nowMs: number;
  graceMs: number;
}

/** Replies within this time after a held one raise no second question. */
const QUESTION_TTL_MS = 10 * 60_000;

/** Returns the thread after an event. Returns the same thread if nothing changes, as after a repeated event. */
export function applyEvent(thread: ThreadRun, event: ThreadEvent, context: EventContext): ThreadRun {
  if (event.kind === 'instruct') return applyModal(thread, event, context);
  if (event.kind === 'preview') return applyPreview(thread, event, context.nowMs);
  if (event.kind === 'pullRequest') return applyPullRequest(thread, event);
  if (thread.state === 'ended') {
    // Only people who mention Docket get an ephemeral.
    const isMention = event.kind === 'reply' && event.mentionsBot;
    return isMention ? addReplyEphemeral(thread, event.ts, context.author, { kind: 'over' }) : thread;
  }
  if (event.kind === 'clicked') return applyClick(thread, event);
  if (event.kind === 'reply') return applyReply(thread, event, context);
  if (event.kind === 'edited') return applyEdit(thread, event, context);
  if (event.kind === 'sentElsewhere')
    return addSend(endSeenElsewhere(thread, event.idle, context.graceMs), event.atMs);
  if (event.kind === 'noPreviews') return { ...thread, previews: false };
  const one = findInstruction(thread, event.ts);
  if (one) return withdraw(thread, one);
  // Slack may deliver such a message again, later.
  return { ...thread, deleted: [...(thread.deleted ?? []), event.ts].slice(-MAX_DELETED) };
}

/** A round shows only the pull request that it has, and an older round does not any more. */
function applyPullRequest(
  thread: ThreadRun,
  { n, pullRequest }: Extract<ThreadEvent, { kind: 'pullRequest' }>,
): ThreadRun {
  const rounds = thread.rounds.map((round) =>
    round.n === n && round.pullRequest?.run === pullRequest.run ? { ...round, pullRequest } : round,
  );
  return { ...thread, rounds };
}

const MAX_DELETED = 20;

/** Adds a reply as an instruction, holds it, answers it by an ephemeral, or ignores it as talk among people. */
function applyReply(before: ThreadRun, event: ReplyEvent, context: EventContext): ThreadRun {
  const { author, nowMs, text, files } = context;
  const { ts, mentionsBot, mentionsOthers } = event;
  const isBeforeRequest = before.asked.ts !== undefined && Number(ts) <= Number(before.asked.ts);
  if (findInstruction(before, ts) || isBeforeRequest || before.deleted?.includes(ts)) return before;
  const writtenAtMs = tsToMs(ts);
  const atMs = Number.isFinite(writtenAtMs) ? writtenAtMs : nowMs;
  const parsed = parseThreadText(text);
  const quiet = mentionsBot || isTalk(parsed) ? undefined : afterQuiet(before, event.user, atMs);
  const thread = quiet ?? (event.user === before.owner.id ? before : { ...before, othersAtMs: atMs });
  const isUnclear = mentionsOthers || quiet !== undefined;
  const decision = mentionsBot ? 'take' : decideReply(thread, author.id, isUnclear);
  const isTaken = decision === 'take';
  const answer = (ephemeral: EphemeralContent) => addReplyEphemeral(thread, ts, author, ephemeral);
  if (parsed.kind === 'aside' || parsed.kind === 'smallTalk') return thread;
  // The card shows the job's state to everybody.
  if (parsed.kind === 'status') return answer({ kind: 'status' });
  if (decision === 'ignore') return thread;
  if (!author.may) return isTaken ? refuseAuthor(thread, event, context) : thread;
  if (mentionsBot && parsed.kind === 'command') return applyCommand(thread, ts, parsed.command, context);
  if (mentionsBot && parsed.kind === 'follow') return answer({ kind: 'followsAlready', about: parsed.jobId });
  if (mentionsBot && parsed.kind === 'badFollow') return answer({ kind: 'badFollow' });
  // Files without text, among people, are not a question.
  if (parsed.kind === 'empty') return isTaken ? answer({ kind: 'tooEmpty' }) : thread;
  const state = isTaken && !('maybeTalk' in parsed) ? 'waiting' : 'held';
  const rejection = rejectionOf(thread, text, context, state);
  if (rejection !== undefined) return answer(rejection);
  const by = { id: author.id, name: author.name };
  const backgroundSource = sourceAbove(before);
  const one = newInstruction({ id: ts, by, atMs, isReply: true, text, files, backgroundSource, state });
  const next = addInstruction(thread, one);
  if (state === 'waiting' || hasOpenQuestion(thread, author.id, nowMs)) return next;
  const { excerpt } = one;
  return addEphemeral(next, { id: `question ${ts}`, to: by.id, kind: 'question', about: ts, excerpt });
}

/** After a day without messages of others, the owner's replies count again, once the owner has answered for one. */
const QUIET_MS = 24 * 3_600_000;

/** If this reply of the owner's ends such a day, returns the thread as if others had not written. */
function afterQuiet({ othersAtMs = Infinity, ...thread }: ThreadRun, userId: string, atMs: number) {
  const { [thread.owner.id]: answer, ...answers } = thread.answers;
  const mayCount = thread.mode === 'auto' && thread.owner.id === userId && answer !== 'always';
  return mayCount && atMs - othersAtMs > QUIET_MS ? { ...thread, answers } : undefined;
}

/** For the thread's first instruction, returns the messages above the request to follow the job. */
function sourceAbove({ asked, instructions }: ThreadRun): BackgroundSource | undefined {
  const { channel, rootTs, ts } = asked;
  const isFirst = instructions.every(({ state }) => state === 'notForAgent' || state === 'withdrawn');
  const hasAbove = isFirst && ts !== undefined && rootTs !== undefined && ts !== rootTs;
  return hasAbove ? { channel, rootTs, before: ts } : undefined;
}

/** Decides whether a reply without a mention of Docket is an instruction; `hold`: its author is asked. */
function decideReply(thread: ThreadRun, userId: string, isUnclear: boolean): 'take' | 'hold' | 'ignore' {
  if (thread.mode === 'all') return 'take';
  if (thread.mode === 'mention') return 'ignore';
  const answer = thread.answers[userId];
  if (answer !== undefined) return answer === 'always' ? 'take' : 'ignore';
  return isSoleAuthor(thread, userId) && !isUnclear ? 'take' : 'hold';
}

/** Returns the ephemeral about a text that is too long, or that too many instructions are already in this state. */
function rejectionOf(thread: ThreadRun, text: string, { limits }: EventContext, state?: 'waiting' | 'held') {
  const { instructionCharacters: longest, instructionsWaiting: most } = limits;
  const [characters, excerpt] = [lengthOf(text), excerptOf(text)];
  if (characters > longest) return { kind: 'tooLong' as const, excerpt, characters, most: longest };
  const isFull = thread.instructions.filter((one) => one.state === state).length >= most;
  return isFull ? { kind: 'tooMany' as const, excerpt, most } : undefined;
}

const hasOpenQuestion = (thread: ThreadRun, userId: string, nowMs: number) =>
  !isSoleAuthor(thread, userId) && heldOf(thread, userId).some(({ atMs }) => nowMs - atMs < QUESTION_TTL_MS);

/** A person without the permission gets an ephemeral once, and again at each mention of Docket. */
function refuseAuthor(thread: ThreadRun, { ts, mentionsBot }: ReplyEvent, context: EventContext) {
  const { author, contacts: about } = context;
  return addReplyEphemeral(thread, mentionsBot ? ts : author.id, author, { kind: 'notPermitted', about });
}

/** A command does the same as the button of that name. */
function applyCommand(thread: ThreadRun, ts: string, action: ThreadCommand, context: EventContext) {
  const { author, nowMs: atMs } = context;
  if (action === 'help') return addReplyEphemeral(thread, ts, author, { kind: 'help' });
  const by = { id: author.id, name: author.name };
  const next = applyClick(thread, { kind: 'clicked', action, about: [], attempt: 1, atMs, by });
  if (action === 'stop') return addReplyEphemeral(next, ts, author, { kind: 'stopped' });
  return addReplyEphemeral(next, ts, author, { kind: 'mode', about: next.mode });
}

type EphemeralContent = Omit<Ephemeral, 'id' | 'to'>;

const addReplyEphemeral = (thread: ThreadRun, ts: string, author: Person, content: EphemeralContent) =>
  addEphemeral(thread, { id: `${content.kind} ${ts}`, to: author.id, ...content });

/** The agent gets the edited text. If the reply was already sent, its author gets an ephemeral. */
function applyEdit(thread: ThreadRun, event: ReplyEvent, context: EventContext): ThreadRun {
  const { ts, mentionsBot } = event;
  const one = findInstruction(thread, ts);
  const { text } = context;
  if (!one) {
    // The message was talk: a mention of Docket is too late.
    const isLate = context.author.may && mentionsBot && !isTalk(parseThreadText(text));
    return isLate ? addReplyEphemeral(thread, ts, context.author, { kind: 'lateMention' }) : thread;
  }
  if (!isPending(one) && one.state !== 'failed') {
    const isUnsent = isFinished(one) && one.state !== 'sent';
    return isUnsent ? thread : addReplyEphemeral(thread, ts, one.by, { kind: 'edited' });
  }
  if (isTalk(parseThreadText(text))) return withdraw(thread, one);
  if (!context.author.may) return refuseAuthor(withdraw(thread, one), event, context);
  const rejection = rejectionOf(thread, text, context);
  if (rejection !== undefined) return addReplyEphemeral(withdraw(thread, one), ts, context.author, rejection);
  const edited = updateInstruction(thread, ts, { text, excerpt: excerptOf(text) });
  // A person who adds the mention answers the question for this reply.
  return mentionsBot ? releaseHeld(edited, [ts]) : edited;
}

const withdraw = (thread: ThreadRun, one: Instruction) =>
  isPending(one) ? updateInstruction(thread, one.id, { state: 'withdrawn' }) : thread;

function applyModal(
  thread: ThreadRun,
  { kind: _, ...asked }: Extract<ThreadEvent, { kind: 'instruct' }>,
  context: EventContext,
): ThreadRun {
  const { id, by, text, origin } = asked;
  if (findInstruction(thread, id) || isTalk(parseThreadText(text))) return thread;
  const ended = thread.state === 'ended' && ({ kind: 'over' } as const);
  const rejection = ended || rejectionOf(thread, text, context, 'waiting');
  if (rejection === undefined) return addInstruction(thread, newInstruction(asked));
  // Its line under the digest says that it was not sent.
  const refused = newInstruction({ ...asked, text: '', state: 'notSent' });
  return addReplyEphemeral(origin ? addInstruction(thread, refused) : thread, id, by, rejection);
}

import { z } from 'zod';
import { cut, lengthOf } from '../../../slack/text.ts';
import { excerptOf, parseThreadText, type ThreadCommand } from '../thread-text.ts';
import { askAuthor, hasOpenQuestion, isSoleAuthor, switchMode } from './asking.ts';
import { addInstruction, addNote, dropInstruction, mapInstructions, stopThread } from './changes.ts';
import { MODE_BY_ACTION } from './click.ts';
import type { Instruction, Note, Person, ThreadRun } from './record.ts';

/** Held replies of one person. */
const MAX_HELD_PER_PERSON = 20;

/** What counts of a reply: its Markdown without the mention of Docket, and whom it is addressed to. */
export const replyContent = z.object({
  text: z.string(),
  /** It is longer than the agent gets, so that `text` is its beginning only. */
  characters: z.number().optional(),
  mentionsBot: z.boolean(),
  mentionsOthers: z.boolean(),
  files: z.boolean(),
});
export type ReplyContent = z.infer<typeof replyContent>;

/** A reply as it is judged. */
interface ReplyInput extends ReplyContent {
  ts: string;
  author: Person & { may: boolean };
  /** Whom to ask who may not; plain text. */
  ask: string;
  limits: InstructionLimits;
  nowMs: number;
}

/** How long an instruction may be, and how many of a thread may wait. */
export interface InstructionLimits {
  instructionCharacters: number;
  instructionsWaiting: number;
}

/** What is kept of a text: all of it, or of one that is longer than the agent gets its beginning and its length. */
export function truncateText(
  text: string,
  { instructionCharacters }: InstructionLimits,
): Pick<ReplyContent, 'text' | 'characters'> {
  const characters = lengthOf(text);
  return characters > instructionCharacters ? { text: cut(text, TRUNCATED_LENGTH), characters } : { text };
}

/** Tells by itself that something is an aside, and what it is about. */
const TRUNCATED_LENGTH = 200;

/** What a new reply changes: it is taken, held, answered privately, or just talk. */
export function applyReply(thread: ThreadRun, reply: ReplyInput): ThreadRun {
  const { author, mentionsBot, nowMs } = reply;
  const parsed = parseThreadText(reply.text);
  if (parsed.kind === 'aside') return thread;
  const decision = mentionsBot ? 'take' : decideReply(thread, reply);
  if (decision === 'ignore') return thread;
  if (!author.may) return decision === 'take' ? refuseReply(thread, reply) : thread;
  if (mentionsBot && parsed.kind === 'command') return applyCommand(thread, parsed.command, reply);
  if (mentionsBot && parsed.kind === 'follow')
    return addReplyNote(thread, reply, { kind: 'followsAlready', about: parsed.jobId });
  if (mentionsBot && parsed.kind === 'badFollow') return addReplyNote(thread, reply, { kind: 'badFollow' });
  // Files alone, among people, are no question to anybody.
  if (parsed.kind === 'empty')
    return decision === 'take' ? addReplyNote(thread, reply, { kind: 'tooEmpty' }) : thread;
  const state = decision === 'take' ? 'waiting' : 'held';
  const rejection = findRejection(thread, state, reply);
  if (rejection !== undefined) return addReplyNote(thread, reply, rejection);
  const instruction: Instruction = {
    id: reply.ts,
    by: { id: author.id, name: author.name },
    atMs: writtenAtMs(reply),
    isReply: true,
    text: reply.text,
    excerpt: excerptOf(reply.text),
    files: reply.files,
    creates: false,
    state,
    attempt: 1,
  };
  const next = dropOldestHeld(addInstruction(thread, instruction), author.id);
  return decision === 'take' || hasOpenQuestion(thread, author.id, nowMs)
    ? next
    : askAuthor(next, instruction, nowMs);
}

/** Why an instruction is not taken; nothing when it is. */
export function findRejection(
  { instructions }: ThreadRun,
  state: 'waiting' | 'held',
  { text, characters, limits }: Pick<ReplyInput, 'text' | 'characters' | 'limits'>,
): Omit<Note, 'id' | 'to'> | undefined {
  const excerpt = excerptOf(text);
  if (characters !== undefined)
    return { kind: 'tooLong', excerpt, characters, most: limits.instructionCharacters };
  const isFull = instructions.filter((one) => one.state === state).length >= limits.instructionsWaiting;
  return isFull ? { kind: 'tooMany', excerpt, most: limits.instructionsWaiting } : undefined;
}

/** Whoever never answers is taken at their silence: of their held replies the oldest are not for the agent. */
function dropOldestHeld(thread: ThreadRun, userId: string): ThreadRun {
  const held = thread.instructions.filter(({ state, by }) => state === 'held' && by.id === userId);
  const surplus = held.slice(0, Math.max(0, held.length - MAX_HELD_PER_PERSON));
  return mapInstructions(thread, (one) =>
    surplus.includes(one) ? dropInstruction(one, 'notForAgent') : one,
  );
}

/** Whether a reply without a mention of Docket is an instruction; `hold` its author has to say. */
function decideReply(thread: ThreadRun, { author, mentionsOthers }: ReplyInput): 'take' | 'hold' | 'ignore' {
  if (thread.mode === 'all') return 'take';
  if (thread.mode === 'mention') return 'ignore';
  const answer = thread.answers[author.id];
  if (answer !== undefined) return answer === 'always' ? 'take' : 'ignore';
  return isSoleAuthor(thread, author.id) && !mentionsOthers ? 'take' : 'hold';
}

/** Who may not is told once, and whenever they mention Docket. */
export function refuseReply(
  thread: ThreadRun,
  reply: Pick<ReplyInput, 'ts' | 'author' | 'ask' | 'mentionsBot'>,
): ThreadRun {
  const { author, ask, mentionsBot } = reply;
  const wasNotified = thread.refused.includes(author.id);
  if (wasNotified && !mentionsBot) return thread;
  const refused = wasNotified ? thread.refused : [...thread.refused, author.id];
  return addReplyNote({ ...thread, refused }, reply, { kind: 'notPermitted', about: ask });
}

function applyCommand(thread: ThreadRun, command: ThreadCommand, reply: ReplyInput): ThreadRun {
  const { id, name } = reply.author;
  if (command === 'stop') return addReplyNote(stopThread(thread, { id, name }), reply, { kind: 'stopped' });
  if (command === 'help') return addReplyNote(thread, reply, { kind: 'help' });
  const mode = MODE_BY_ACTION[command];
  return addReplyNote(switchMode(thread, mode, reply.nowMs), reply, { kind: 'mode', about: mode });
}

/** Answers a reply privately. */
export function addReplyNote(
  thread: ThreadRun,
  { ts, author }: Pick<ReplyInput, 'ts' | 'author'>,
  note: Omit<Note, 'id' | 'to'>,
): ThreadRun {
  return addNote(thread, { id: `${note.kind} ${ts}`, to: author.id, ...note });
}

function writtenAtMs({ ts, nowMs }: ReplyInput): number {
  const atMs = Number(ts) * 1000;
  return Number.isFinite(atMs) ? atMs : nowMs;
}

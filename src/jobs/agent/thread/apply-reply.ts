import { z } from 'zod';
import { cut, lengthOf } from '../../../slack/text.ts';
import { excerptOf, readThreadWords, type ThreadCommand } from '../thread-text.ts';
import { asking, isAlone, questionStands, switching } from './asking.ts';
import { changing, noted, over, stopped, taking } from './changes.ts';
import { MODES } from './click.ts';
import type { Instruction, Note, Person, ThreadRun } from './record.ts';

/** Held replies of one person. */
const HELD_KEPT = 20;

/** What counts of a reply: its Markdown without the mention of Docket, and whom it is addressed to. */
export const said = z.object({
  text: z.string(),
  /** It is longer than the agent gets, so that `text` is its beginning only. */
  characters: z.number().optional(),
  mentionsBot: z.boolean(),
  mentionsOthers: z.boolean(),
  files: z.boolean(),
});
export type Said = z.infer<typeof said>;

/** A reply as it is judged. */
interface ListenedReply extends Said {
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
export function fitting(
  text: string,
  { instructionCharacters }: InstructionLimits,
): Pick<Said, 'text' | 'characters'> {
  const characters = lengthOf(text);
  return characters > instructionCharacters ? { text: cut(text, BEGINNING), characters } : { text };
}

/** Tells by itself that something is an aside, and what it is about. */
const BEGINNING = 200;

/** What a new reply changes: it is taken, held, answered privately, or just talk. */
export function replied(thread: ThreadRun, reply: ListenedReply): ThreadRun {
  const { author, mentionsBot, nowMs } = reply;
  const words = readThreadWords(reply.text);
  if (words.kind === 'aside') return thread;
  const fate = mentionsBot ? 'take' : fateOf(thread, reply);
  if (fate === 'ignore') return thread;
  if (!author.may) return fate === 'take' ? refusing(thread, reply) : thread;
  if (mentionsBot && words.kind === 'command') return commanded(thread, words.command, reply);
  if (mentionsBot && words.kind === 'follow')
    return telling(thread, reply, { kind: 'followsAlready', about: words.jobId });
  if (mentionsBot && words.kind === 'badFollow') return telling(thread, reply, { kind: 'badFollow' });
  // Files alone, among people, are no question to anybody.
  if (words.kind === 'empty') return fate === 'take' ? telling(thread, reply, { kind: 'tooEmpty' }) : thread;
  const state = fate === 'take' ? 'waiting' : 'held';
  const unfit = unfitness(thread, state, reply);
  if (unfit !== undefined) return telling(thread, reply, unfit);
  const one: Instruction = {
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
  const taken = withinHeld(taking(thread, one), author.id);
  return fate === 'take' || questionStands(thread, author.id, nowMs) ? taken : asking(taken, one, nowMs);
}

/** Why an instruction is not taken; nothing when it is. */
export function unfitness(
  { instructions }: ThreadRun,
  state: 'waiting' | 'held',
  { text, characters, limits }: Pick<ListenedReply, 'text' | 'characters' | 'limits'>,
): Omit<Note, 'id' | 'to'> | undefined {
  const excerpt = excerptOf(text);
  if (characters !== undefined)
    return { kind: 'tooLong', excerpt, characters, most: limits.instructionCharacters };
  const isFull = instructions.filter((one) => one.state === state).length >= limits.instructionsWaiting;
  return isFull ? { kind: 'tooMany', excerpt, most: limits.instructionsWaiting } : undefined;
}

/** Whoever never answers is taken at their silence: of their held replies the oldest are not for the agent. */
function withinHeld(thread: ThreadRun, userId: string): ThreadRun {
  const held = thread.instructions.filter(({ state, by }) => state === 'held' && by.id === userId);
  const spare = held.slice(0, Math.max(0, held.length - HELD_KEPT));
  return changing(thread, (one) => (spare.includes(one) ? over(one, 'notForAgent') : one));
}

/** Whether a reply without a mention of Docket is an instruction; `hold` its author has to say. */
function fateOf(thread: ThreadRun, { author, mentionsOthers }: ListenedReply): 'take' | 'hold' | 'ignore' {
  if (thread.mode === 'all') return 'take';
  if (thread.mode === 'mention') return 'ignore';
  const answer = thread.answers[author.id];
  if (answer !== undefined) return answer === 'always' ? 'take' : 'ignore';
  return isAlone(thread, author.id) && !mentionsOthers ? 'take' : 'hold';
}

/** Who may not is told once, and whenever they mention Docket. */
export function refusing(
  thread: ThreadRun,
  reply: Pick<ListenedReply, 'ts' | 'author' | 'ask' | 'mentionsBot'>,
): ThreadRun {
  const { author, ask, mentionsBot } = reply;
  const told = thread.refused.includes(author.id);
  if (told && !mentionsBot) return thread;
  const refused = told ? thread.refused : [...thread.refused, author.id];
  return telling({ ...thread, refused }, reply, { kind: 'notPermitted', about: ask });
}

function commanded(thread: ThreadRun, command: ThreadCommand, reply: ListenedReply): ThreadRun {
  const { id, name } = reply.author;
  if (command === 'stop') return telling(stopped(thread, { id, name }), reply, { kind: 'stopped' });
  if (command === 'help') return telling(thread, reply, { kind: 'help' });
  const mode = MODES[command];
  return telling(switching(thread, mode, reply.nowMs), reply, { kind: 'mode', about: mode });
}

/** Answers a reply privately. */
export function telling(
  thread: ThreadRun,
  { ts, author }: Pick<ListenedReply, 'ts' | 'author'>,
  what: Omit<Note, 'id' | 'to'>,
): ThreadRun {
  return noted(thread, { id: `${what.kind} ${ts}`, to: author.id, ...what });
}

function writtenAtMs({ ts, nowMs }: ListenedReply): number {
  const atMs = Number(ts) * 1000;
  return Number.isFinite(atMs) ? atMs : nowMs;
}

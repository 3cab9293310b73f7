import { z } from 'zod';
import { noted, stopped, taking } from './changes.ts';
import { MODES } from './click.ts';
import type { Note, Person, ThreadRun } from './thread.ts';
import { excerptOf, readThreadWords, type ThreadCommand } from './words.ts';

/** What counts of a reply: its Markdown without the mention of Docket, and whom it is addressed to. */
export const said = z.object({
  text: z.string(),
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
  nowMs: number;
}

/** How long a question counts as asked, so that what is written meanwhile does not raise another. */
const QUESTION_STANDS_MS = 10 * 60 * 1000;

/** What a new reply changes: it is taken, held, answered privately, or just talk. */
export function replied(thread: ThreadRun, reply: ListenedReply): ThreadRun {
  const { author, mentionsBot } = reply;
  const words = readThreadWords(reply.text);
  if (words.kind === 'aside') return thread;
  const fate = mentionsBot ? 'take' : fateOf(thread, reply);
  if (fate === 'ignore') return thread;
  if (!author.may) return fate === 'take' ? refusing(thread, reply) : thread;
  if (mentionsBot && words.kind === 'command') return commanded(thread, words.command, reply);
  if (mentionsBot && words.kind === 'follow')
    return telling(thread, reply, { kind: 'followsAlready', about: thread.agentJobId });
  // Files alone, among people, are no question to anybody.
  if (words.kind === 'empty') return fate === 'take' ? telling(thread, reply, { kind: 'tooEmpty' }) : thread;
  const taken = taking(thread, {
    id: reply.ts,
    by: { id: author.id, name: author.name },
    atMs: writtenAtMs(reply),
    isReply: true,
    text: reply.text,
    excerpt: excerptOf(reply.text),
    files: reply.files,
    creates: false,
    state: fate === 'take' ? 'waiting' : 'held',
    attempt: 1,
  });
  return fate === 'take' || questionStands(thread, reply) ? taken : asking(taken, reply);
}

/** Whether a reply without a mention of Docket is an instruction; `hold` its author has to say. */
function fateOf(thread: ThreadRun, { author, mentionsOthers }: ListenedReply): 'take' | 'hold' | 'ignore' {
  if (thread.mode === 'all') return 'take';
  if (thread.mode === 'mention') return 'ignore';
  const answer = thread.answers[author.id];
  if (answer !== undefined) return answer === 'always' ? 'take' : 'ignore';
  return isAlone(thread, author.id) && !mentionsOthers ? 'take' : 'hold';
}

/** The owner is the only one who has written here. */
const isAlone = ({ owner, crowd }: ThreadRun, userId: string) => owner.id === userId && !crowd;

/** A question to somebody of whom nothing is held is settled. One who is alone is asked for each reply. */
function questionStands(thread: ThreadRun, { author, nowMs }: ListenedReply): boolean {
  const askedAtMs = thread.askedAtMs[author.id];
  if (askedAtMs === undefined || isAlone(thread, author.id)) return false;
  const hasHeld = thread.instructions.some(({ state, by }) => state === 'held' && by.id === author.id);
  return hasHeld && nowMs - askedAtMs < QUESTION_STANDS_MS;
}

function asking(thread: ThreadRun, { ts, text, author, nowMs }: ListenedReply): ThreadRun {
  // Two questions to one person in one millisecond are still two.
  const atMs = Math.max(nowMs, (thread.askedAtMs[author.id] ?? 0) + 1);
  return noted(
    { ...thread, askedAtMs: { ...thread.askedAtMs, [author.id]: atMs } },
    {
      id: `question ${author.id} ${atMs}`,
      to: author.id,
      kind: 'question',
      about: ts,
      excerpt: excerptOf(text),
    },
  );
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
  if (command === 'stop') return stopped(thread, { id, name });
  if (command === 'help') return telling(thread, reply, { kind: 'help' });
  const mode = MODES[command];
  return telling({ ...thread, mode }, reply, { kind: 'mode', about: mode });
}

/** Answers a reply privately. */
function telling(
  thread: ThreadRun,
  { ts, author }: Pick<ListenedReply, 'ts' | 'author'>,
  { kind, about }: { kind: Note['kind']; about?: string | undefined },
): ThreadRun {
  return noted(thread, {
    id: `${kind} ${ts}`,
    to: author.id,
    kind,
    ...(about === undefined ? {} : { about }),
  });
}

function writtenAtMs({ ts, nowMs }: ListenedReply): number {
  const atMs = Number(ts) * 1000;
  return Number.isFinite(atMs) ? atMs : nowMs;
}

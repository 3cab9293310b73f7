import { beginningOf, messageMarkdown } from '../../../slack/markdown/message.ts';
import type { Names } from '../../../slack/markdown/names.ts';
import { excerptOf, readThreadWords } from '../thread-text.ts';
import {
  fitting,
  type InstructionLimits,
  refusing,
  replied,
  type Said,
  said,
  telling,
  unfitness,
} from './apply-reply.ts';
import { changing, isPending, isUnsent, noted, over, releasing, taking } from './changes.ts';
import { clicked } from './click.ts';
import { tidy } from './compact.ts';
import type { Heard, HeardReply } from './event.ts';
import type { Instruction, ThreadRun } from './record.ts';

/** What has to be known beside what was heard. */
export interface About {
  /** Who wrote or clicked; `may`: has the permission `agent`. */
  author: { id: string; name: string; may: boolean };
  /** Whom to ask who may not; plain text. */
  ask: string;
  /** Of whom and what the message mentions. */
  names: Names;
  botUserId: string;
  limits: InstructionLimits;
  nowMs: number;
}

/** Edits and deletions of messages that have not come, or were none of ours: so many, and only of new messages. */
const EARLY_KEPT = 20;
const EARLY_MS = 10 * 60_000;

/**
 * Decides what something that happened to a thread changes: replies, edits, deletions, instructions from dialogs, and
 * clicks whose permission was checked. Hearing the same again changes nothing more.
 */
export function listen(thread: ThreadRun, what: Heard, about: About): ThreadRun {
  const heard = hearing(thread, what, about);
  return heard === thread ? thread : tidy(heard);
}

function hearing(thread: ThreadRun, what: Heard, about: About): ThreadRun {
  if (thread.state === 'ended') return thread;
  switch (what.kind) {
    case 'clicked':
      return clicked(thread, what, about.nowMs);
    case 'reply':
      return hearReply(thread, what, about);
    case 'edited':
      return hearEdit(thread, what, about);
    case 'deleted':
      return hearDeletion(thread, what.ts, about);
    case 'instruct':
      return hearInstruction(thread, what, about);
  }
}

function hearReply(thread: ThreadRun, what: HeardReply, about: About): ThreadRun {
  if (find(thread, what.ts) || wasBefore(thread, what.ts)) return thread;
  const crowd = thread.crowd || what.user !== thread.owner.id;
  const listening = crowd === thread.crowd ? thread : { ...thread, crowd };
  const early = thread.early.find(({ ts }) => ts === what.ts);
  if (early?.deleted) return listening;
  const { author, ask, limits, nowMs } = about;
  const now = early?.json === undefined ? saidIn(what, about) : said.parse(JSON.parse(early.json));
  return replied(listening, { ...now, ts: what.ts, author, ask, limits, nowMs });
}

function saidIn(
  { content, mentionsBot, mentionsOthers, files }: HeardReply,
  { author, names, botUserId, limits }: About,
): Said {
  // Of what is refused nothing counts but its kind.
  const text = messageMarkdown(author.may ? content : beginningOf(content), names, {
    withoutMention: botUserId,
  });
  return { ...fitting(text, limits), mentionsBot, mentionsOthers, files };
}

/** Before it was sent, the new text goes out. Later, its author is told that it is too late. */
function hearEdit(thread: ThreadRun, what: HeardReply, about: About): ThreadRun {
  const { ts } = what;
  const one = find(thread, ts);
  const edit = saidIn(what, about);
  if (!one) return hearUnknownEdit(thread, ts, edit, about);
  if (isSent(one))
    return noted(thread, {
      id: `edited ${ts}`,
      to: one.by.id,
      kind: 'edited',
      about: ts,
      excerpt: one.excerpt,
    });
  if (!isUnsent(one)) return thread;
  const { text, characters, mentionsBot } = edit;
  const { kind } = readThreadWords(text);
  if (kind === 'aside' || kind === 'empty') return isPending(one) ? withdrawing(thread, one) : thread;
  if (!about.author.may) return refusing(withdrawing(thread, one), { ts, ...about, mentionsBot });
  if (characters !== undefined) {
    const unfit = unfitness(thread, 'waiting', { ...edit, ...about });
    const before = isPending(one) ? withdrawing(thread, one) : thread;
    return unfit === undefined ? before : telling(before, { ts, author: about.author }, unfit);
  }
  const edited = changing(thread, (other) =>
    other === one ? { ...one, text, excerpt: excerptOf(text) } : other,
  );
  // Whoever adds the mention has answered the question for this reply.
  return mentionsBot ? releasing(edited, [ts]) : edited;
}

/** It comes before its message, or the message was talk. One that mentions Docket only now is not taken any more. */
function hearUnknownEdit(thread: ThreadRun, ts: string, edit: Said, about: About): ThreadRun {
  const { author } = about;
  if (!author.may) return thread;
  if (!edit.mentionsBot)
    return keepingEarly(thread, { ts, deleted: false, json: JSON.stringify(edit) }, about);
  const { kind } = readThreadWords(edit.text);
  if (kind === 'aside' || kind === 'empty') return thread;
  return telling(thread, { ts, author }, { kind: 'lateMention' });
}

function hearDeletion(thread: ThreadRun, ts: string, about: About): ThreadRun {
  const one = find(thread, ts);
  if (!one) return keepingEarly(thread, { ts, deleted: true }, about);
  return isPending(one) ? withdrawing(thread, one) : thread;
}

function hearInstruction(
  thread: ThreadRun,
  what: Extract<Heard, { kind: 'instruct' }>,
  { limits }: About,
): ThreadRun {
  const { id, by, text, atMs } = what;
  if (find(thread, id) || readThreadWords(text).kind === 'empty') return thread;
  const unfit = unfitness(thread, 'waiting', { ...fitting(text, limits), limits });
  if (unfit !== undefined) return noted(thread, { id: `${unfit.kind} ${id}`, to: by.id, ...unfit });
  return taking(thread, {
    id,
    by,
    atMs,
    isReply: false,
    text,
    excerpt: excerptOf(text),
    files: false,
    creates: false,
    state: 'waiting',
    attempt: 1,
  });
}

/** It was written before anybody wanted the job followed here. */
const wasBefore = ({ asked }: ThreadRun, ts: string) =>
  asked.ts !== undefined && Number(ts) <= Number(asked.ts);

const find = ({ instructions }: ThreadRun, id: string) => instructions.find((one) => one.id === id);

/** It went to the agent, or may have. */
const isSent = ({ state, outcome }: Instruction) =>
  state === 'over' ? outcome === 'sent' : !isUnsent({ state });

const withdrawing = (thread: ThreadRun, one: Instruction) =>
  changing(thread, (other) => (other === one ? over(one, 'withdrawn') : other));

/** A message that is gone does not come back by an edit that comes late. */
function keepingEarly(thread: ThreadRun, early: ThreadRun['early'][number], { nowMs }: About): ThreadRun {
  const isNew = ({ ts }: { ts: string }) => nowMs - Number(ts) * 1000 < EARLY_MS;
  const known = thread.early.find(({ ts }) => ts === early.ts);
  if (known?.deleted || !isNew(early)) return thread;
  const others = thread.early.filter((one) => one !== known && isNew(one));
  return { ...thread, early: [...others, early].slice(-EARLY_KEPT) };
}

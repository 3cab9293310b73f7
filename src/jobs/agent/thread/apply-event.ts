import { beginningOf, messageToMarkdown } from '../../../slack/markdown/message.ts';
import type { Names } from '../../../slack/markdown/names.ts';
import { excerptOf, parseThreadText } from '../thread-text.ts';
import {
  addReplyNote,
  applyReply,
  findRejection,
  type InstructionLimits,
  type ReplyContent,
  refuseReply,
  replyContent,
  truncateText,
} from './apply-reply.ts';
import {
  addInstruction,
  addNote,
  dropInstruction,
  isPending,
  isUnsent,
  mapInstructions,
  releaseHeld,
} from './changes.ts';
import { applyClick } from './click.ts';
import { compact } from './compact.ts';
import type { ReplyEvent, ThreadEvent } from './event.ts';
import type { Instruction, ThreadRun } from './record.ts';

/** What has to be known beside what was heard. */
export interface EventContext {
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
const MAX_EARLY = 20;
const EARLY_MS = 10 * 60_000;

/**
 * Decides what something that happened to a thread changes: replies, edits, deletions, instructions from dialogs, and
 * clicks whose permission was checked. Hearing the same again changes nothing more.
 */
export function applyEvent(thread: ThreadRun, event: ThreadEvent, context: EventContext): ThreadRun {
  const next = applyByKind(thread, event, context);
  return next === thread ? thread : compact(next);
}

function applyByKind(thread: ThreadRun, event: ThreadEvent, context: EventContext): ThreadRun {
  if (thread.state === 'ended') return thread;
  switch (event.kind) {
    case 'clicked':
      return applyClick(thread, event, context.nowMs);
    case 'reply':
      return applyReplyEvent(thread, event, context);
    case 'edited':
      return applyEdit(thread, event, context);
    case 'deleted':
      return applyDeletion(thread, event.ts, context);
    case 'instruct':
      return applyInstruction(thread, event, context);
  }
}

function applyReplyEvent(thread: ThreadRun, event: ReplyEvent, context: EventContext): ThreadRun {
  if (findInstruction(thread, event.ts) || predatesRequest(thread, event.ts)) return thread;
  const crowd = thread.crowd || event.user !== thread.owner.id;
  const next = crowd === thread.crowd ? thread : { ...thread, crowd };
  const early = thread.early.find(({ ts }) => ts === event.ts);
  if (early?.deleted) return next;
  const { author, ask, limits, nowMs } = context;
  const content =
    early?.json === undefined ? readReplyContent(event, context) : replyContent.parse(JSON.parse(early.json));
  return applyReply(next, { ...content, ts: event.ts, author, ask, limits, nowMs });
}

function readReplyContent(
  { content, mentionsBot, mentionsOthers, files }: ReplyEvent,
  { author, names, botUserId, limits }: EventContext,
): ReplyContent {
  // Of what is refused nothing counts but its kind.
  const text = messageToMarkdown(author.may ? content : beginningOf(content), names, {
    withoutMention: botUserId,
  });
  return { ...truncateText(text, limits), mentionsBot, mentionsOthers, files };
}

/** Before it was sent, the new text goes out. Later, its author is told that it is too late. */
function applyEdit(thread: ThreadRun, event: ReplyEvent, context: EventContext): ThreadRun {
  const { ts } = event;
  const one = findInstruction(thread, ts);
  const edit = readReplyContent(event, context);
  if (!one) return applyUnknownEdit(thread, ts, edit, context);
  if (isSent(one))
    return addNote(thread, {
      id: `edited ${ts}`,
      to: one.by.id,
      kind: 'edited',
      about: ts,
      excerpt: one.excerpt,
    });
  if (!isUnsent(one)) return thread;
  const { text, characters, mentionsBot } = edit;
  const { kind } = parseThreadText(text);
  if (kind === 'aside' || kind === 'empty') return isPending(one) ? withdraw(thread, one) : thread;
  if (!context.author.may) return refuseReply(withdraw(thread, one), { ts, ...context, mentionsBot });
  if (characters !== undefined) {
    const rejection = findRejection(thread, 'waiting', { ...edit, ...context });
    const before = isPending(one) ? withdraw(thread, one) : thread;
    return rejection === undefined ? before : addReplyNote(before, { ts, author: context.author }, rejection);
  }
  const edited = mapInstructions(thread, (other) =>
    other === one ? { ...one, text, excerpt: excerptOf(text) } : other,
  );
  // Whoever adds the mention has answered the question for this reply.
  return mentionsBot ? releaseHeld(edited, [ts]) : edited;
}

/** It comes before its message, or the message was talk. One that mentions Docket only now is not taken any more. */
function applyUnknownEdit(
  thread: ThreadRun,
  ts: string,
  edit: ReplyContent,
  context: EventContext,
): ThreadRun {
  const { author } = context;
  if (!author.may) return thread;
  if (!edit.mentionsBot)
    return keepEarly(thread, { ts, deleted: false, json: JSON.stringify(edit) }, context);
  const { kind } = parseThreadText(edit.text);
  if (kind === 'aside' || kind === 'empty') return thread;
  return addReplyNote(thread, { ts, author }, { kind: 'lateMention' });
}

function applyDeletion(thread: ThreadRun, ts: string, context: EventContext): ThreadRun {
  const one = findInstruction(thread, ts);
  if (!one) return keepEarly(thread, { ts, deleted: true }, context);
  return isPending(one) ? withdraw(thread, one) : thread;
}

function applyInstruction(
  thread: ThreadRun,
  event: Extract<ThreadEvent, { kind: 'instruct' }>,
  { limits }: EventContext,
): ThreadRun {
  const { id, by, text, atMs } = event;
  if (findInstruction(thread, id) || parseThreadText(text).kind === 'empty') return thread;
  const rejection = findRejection(thread, 'waiting', { ...truncateText(text, limits), limits });
  if (rejection !== undefined)
    return addNote(thread, { id: `${rejection.kind} ${id}`, to: by.id, ...rejection });
  return addInstruction(thread, {
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
const predatesRequest = ({ asked }: ThreadRun, ts: string) =>
  asked.ts !== undefined && Number(ts) <= Number(asked.ts);

const findInstruction = ({ instructions }: ThreadRun, id: string) =>
  instructions.find((one) => one.id === id);

/** It went to the agent, or may have. */
const isSent = ({ state, outcome }: Instruction) =>
  state === 'over' ? outcome === 'sent' : !isUnsent({ state });

const withdraw = (thread: ThreadRun, one: Instruction) =>
  mapInstructions(thread, (other) => (other === one ? dropInstruction(one, 'withdrawn') : other));

/** A message that is gone does not come back by an edit that comes late. */
function keepEarly(thread: ThreadRun, early: ThreadRun['early'][number], { nowMs }: EventContext): ThreadRun {
  const isNew = ({ ts }: { ts: string }) => nowMs - Number(ts) * 1000 < EARLY_MS;
  const known = thread.early.find(({ ts }) => ts === early.ts);
  if (known?.deleted || !isNew(early)) return thread;
  const others = thread.early.filter((one) => one !== known && isNew(one));
  return { ...thread, early: [...others, early].slice(-MAX_EARLY) };
}

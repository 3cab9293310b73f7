import { z } from 'zod';
import { idOf } from '../../../store/ids.ts';
import { runBase } from '../../../store/runs.ts';
import type { VisibleKind } from '../../visibility.ts';
import { newReply } from '../thread/event.ts';

/** Why a job is not followed: mostly, since it is not clear in which project it is. */
const projectProblem = z.discriminatedUnion('kind', [
  /** People have to say which. */
  z.object({ kind: z.literal('ask'), names: z.array(z.string()) }),
  /** An operator has to set its id. */
  z.object({ kind: z.literal('noId'), name: z.string() }),
  /** `named`, as it was typed, is none of `names`. */
  z.object({ kind: z.literal('unknown'), named: z.string(), names: z.array(z.string()) }),
  /** This person's threads follow as many jobs as they may. */
  z.object({ kind: z.literal('full'), max: z.number() }),
]);
export type ProjectProblem = z.infer<typeof projectProblem>;

/** The answer to whoever mentioned the app. */
const mentionAnswer = z.discriminatedUnion('kind', [
  /** This person may not do that; `ask` says who may. */
  z.object({
    kind: z.literal('refused'),
    ask: z.string(),
    /** What this person may not do; instruct the agent when left out. */
    permission: z.enum(['export']).optional(),
  }),
  z.object({ kind: z.literal('help') }),
  /** It is under a message where nothing instructs the agent. */
  z.object({ kind: z.literal('closed') }),
  /** A word about a followed thread, where none is. */
  z.object({ kind: z.literal('notFollowed') }),
  z.object({ kind: z.literal('project'), problem: projectProblem, jobId: z.string() }),
  /** It asks to follow what is no job id. */
  z.object({ kind: z.literal('badFollow') }),
  /** It is longer than the agent gets at once. */
  z.object({ kind: z.literal('tooLong'), characters: z.number(), most: z.number() }),
  /** An export of `site` may be started, if that is known; `typed` is what was written in its place. */
  z.object({
    kind: z.literal('export'),
    site: z.string().optional(),
    typed: z.string().optional(),
  }),
  /** A new job may be started with `text`, which is Markdown; `excerpt` has it in a few words. */
  z.object({ kind: z.literal('offer'), text: z.string(), excerpt: z.string() }),
]);
export type MentionAnswer = z.infer<typeof mentionAnswer>;

/** Somebody mentioned the app where no agent job is followed. All times are epoch milliseconds. */
export const mentionRun = runBase.extend({
  job: z.literal('agent-mention'),
  /** Slack's id of the app's user, which is left out of the text. */
  botUserId: z.string(),
  /** Its `content` is empty once the answer is known. */
  reply: newReply,
  /** The `ts` of the message that it answers. */
  threadTs: z.string().optional(),
  /** That message is ours, and may be a card whose thread is followed in a moment. */
  early: z.boolean(),
  /** It asks to follow a job, and this stands in the way. */
  problem: projectProblem.optional(),
  sinceMs: z.number(),
  /** The author's name, once it is known. */
  name: z.string().optional(),
  /** Missing until it is known who wrote it and what they may. */
  answer: mentionAnswer.optional(),
});
export type MentionRun = z.infer<typeof mentionRun>;

/** A mention is answered to its author alone. */
export const mentionKind: VisibleKind<MentionRun> = {
  record: mentionRun,
  visible: ({ reply }) => ({
    requester: { id: reply.user },
    asked: { channel: reply.channel, isPublic: false },
    inDirectMessage: true,
  }),
};

/** Returns the run of a mention: the same for the same message, however often Slack sends it. */
export const newMention = (
  mention: Pick<MentionRun, 'teamId' | 'botUserId' | 'reply' | 'threadTs' | 'early' | 'problem'>,
  nowMs: number,
): MentionRun => ({
  id: idOf('agent-mention', mention.teamId, mention.reply.channel, mention.reply.ts),
  job: 'agent-mention',
  rev: 1,
  people: [],
  ...mention,
  sinceMs: nowMs,
});

/** What [Start a new job] carries. */
export const mentionButton = z.object({ v: z.literal(1), mention: z.string() });
export type MentionButton = z.infer<typeof mentionButton>;

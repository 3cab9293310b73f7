import { z } from 'zod';
import { idOf } from '../../../store/keys.ts';
import { runBase } from '../../../store/runs.ts';
import type { VisibleKind } from '../../visibility.ts';
import { newReply } from '../thread/event.ts';

/** Why a job is not followed: in most cases, its project is unclear. */
const projectProblem = z.discriminatedUnion('kind', [
  /** The person has to choose the project. */
  z.object({ kind: z.literal('ask'), names: z.array(z.string()) }),
  /** An operator has to set its id. */
  z.object({ kind: z.literal('noId'), name: z.string() }),
  /** `named` is the typed project, which is not among `names`. */
  z.object({ kind: z.literal('unknown'), named: z.string(), names: z.array(z.string()) }),
  /** This person's threads already follow the maximum number of jobs. */
  z.object({ kind: z.literal('full'), max: z.number() }),
]);
export type ProjectProblem = z.infer<typeof projectProblem>;

/** The answer to the author of the mention. */
const mentionAnswer = z.discriminatedUnion('kind', [
  /** This person lacks the permission; `ask` is the contact. */
  z.object({ kind: z.literal('refused'), ask: z.string(), permission: z.enum(['export', 'agent']) }),
  /**
   * `closed` it is under a message whose thread takes no instructions · `notFollowed` a command for a followed thread,
   * outside of one · `badFollow` it asks to follow a job, but the text is not a job id
   */
  z.object({ kind: z.enum(['help', 'closed', 'notFollowed', 'badFollow']) }),
  z.object({ kind: z.literal('project'), problem: projectProblem, jobId: z.string() }),
  /** It is longer than an instruction may be. */
  z.object({ kind: z.literal('tooLong'), characters: z.number(), most: z.number() }),
  /** An export of `site` may be started, if the site is known; `typed` is the original text. */
  z.object({
    kind: z.literal('export'),
    site: z.string().optional(),
    typed: z.string().optional(),
  }),
  /** A new job may be started with `text`, which is Markdown; `excerpt` is its short form. */
  z.object({ kind: z.literal('offer'), text: z.string(), excerpt: z.string() }),
]);
export type MentionAnswer = z.infer<typeof mentionAnswer>;

/** A mention of the app outside followed threads. All times are epoch milliseconds. */
export const mentionRun = runBase.extend({
  job: z.literal('agent-mention'),
  /** Slack's user id of the app, which is removed from the text. */
  botUserId: z.string(),
  /** Its `content` is empty once the answer is known. */
  reply: newReply,
  /** The `ts` of the message that the mention replies to. */
  threadTs: z.string().optional(),
  /** The problem that prevents the requested follow. */
  problem: projectProblem.optional(),
  sinceMs: z.number(),
  /** The author's name, once it is known. */
  name: z.string().optional(),
  /** Missing until the author and their permissions are known. */
  answer: mentionAnswer.optional(),
});
export type MentionRun = z.infer<typeof mentionRun>;

/** Only the author sees the answer to a mention. */
export const mentionKind: VisibleKind<MentionRun> = {
  what: 'message',
  record: mentionRun,
  visible: ({ reply }) => ({
    requester: { id: reply.user },
    asked: { channel: reply.channel, isPublic: false },
    inDirectMessage: true,
  }),
};

/** Returns the run of a mention. Repeats of the same Slack message give the same run. */
export const newMention = (
  mention: Pick<MentionRun, 'teamId' | 'botUserId' | 'reply' | 'threadTs' | 'problem'>,
  nowMs: number,
): MentionRun => ({
  id: idOf('agent-mention', mention.teamId, mention.reply.channel, mention.reply.ts),
  job: 'agent-mention',
  rev: 1,
  people: [],
  ...mention,
  sinceMs: nowMs,
});

/** The value of [Start a new job]. */
export const mentionButton = z.object({ v: z.literal(1), mention: z.string() });
export type MentionButton = z.infer<typeof mentionButton>;

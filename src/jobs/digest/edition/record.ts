import { z } from 'zod';
import { idOf } from '../../../store/keys.ts';
import { runBase } from '../../../store/runs.ts';
import type { VisibleKind } from '../../visibility.ts';
import { counts, dayRange, pageFigures, platformCause, readerFigures, SECTIONS } from '../model.ts';

export const person = z.object({ id: z.string(), name: z.string() });

/** A file of ours in Slack. Its id is saved before the completion, so that an unclear one can be looked up. */
const file = z.object({
  state: z.enum(['wanted', 'uploaded', 'done', 'failed']),
  fileId: z.string().optional(),
  failures: z.number().int(),
  /** Number of begun completions; each is made once. */
  attempt: z.number().int(),
  /** The workspace refuses such files: no retry. */
  refused: z.boolean().optional(),
  /** No call is made before this time. */
  nextMs: z.number().optional(),
  /** Slack is unreachable: since when, and consecutive failed calls. */
  trouble: z.object({ sinceMs: z.number(), inARow: z.number().int() }).optional(),
});
export type DigestFile = z.infer<typeof file>;

/** How a digest ended; all but `done` are reasons why it was not posted in full. */
export const editionEnding = z.object({
  why: z.enum(['done', 'place', 'platform', 'project', 'permission', 'broken']),
  code: z.string().optional(),
  ref: z.string().optional(),
  cause: platformCause.optional(),
});
export type EditionEnding = z.infer<typeof editionEnding>;

/** The result for a page that the agent was asked about under an earlier digest. */
export const followUp = z.object({
  /** The page or search term, and the kind of its numbers. */
  subject: z.string(),
  kind: z.enum(['page', 'thumbs', 'search', 'questions']),
  prLink: z.string().optional(),
  prText: z.string().optional(),
  before: z.number().optional(),
  /** `unlisted`: the search is no longer among those without a click. */
  after: z.number().or(z.literal('unlisted')).optional(),
  /** Why no pull request is shown; if missing, there is one, or the agent made none. `unknown`: also not yet known. */
  without: z.enum(['failed', 'archived', 'unknown']).optional(),
});

/**
 * One digest: of a week, posted once per team, channel, project and week, or of any range that a person requested. Its
 * messages are functions of this record, see `view.ts`. Times are epoch milliseconds.
 */
export const editionRun = runBase.extend({
  job: z.literal('digest'),
  project: z.string(),
  /** Its subject for display: the domain of the project, else its name. */
  site: z.string(),
  channel: z.string(),
  /** `weekly` of a schedule · `asked` for typed dates · `preview` of the next weekly one. */
  kind: z.enum(['weekly', 'asked', 'preview']),
  /** It goes to its owner's direct messages, as every preview does; see `isPrivate`. */
  inDirectMessage: z.boolean().optional(),
  schedule: z.string().optional(),
  /** The person who set it up, or requested it. */
  owner: person,
  /** "Mondays 09:00 Europe/Berlin". */
  timetable: z.string().optional(),
  /** ISO week, such as 2026-W38. */
  week: z.string().optional(),
  range: dayRange,
  before: dayRange,
  /** The requested range includes today: it is `leftOut`, or it is the whole range, without a comparison. */
  today: z.enum(['leftOut', 'soFar']).optional(),
  sections: z.array(z.enum(SECTIONS)),
  /** Runs that collect its figures, and those of the range before. */
  figures: z.string(),
  figuresBefore: z.string(),
  /** The due time; shown if it is posted much later. */
  dueAtMs: z.number(),
  late: z.boolean().optional(),
  /** `collecting` waits for totals · `posted` waits for pages · `completing` waits for files · `ended`, see there */
  state: z.enum(['collecting', 'posted', 'completing', 'ended']),
  sinceMs: z.number(),
  /** The requester was informed that limits or failures delay it. */
  waitReported: z.boolean().optional(),
  /** Why it was late, as reported to the owner and the channel. */
  stuck: platformCause.optional(),
  /** Counts from 1: a person had it posted again after Slack refused it. */
  attempt: z.number().int().optional(),
  totals: counts.optional(),
  totalsBefore: counts.optional(),
  /** How a week compares with earlier kept weeks, `weeks` including itself. */
  trend: z
    .object({
      weeks: z.number().int(),
      extreme: z.enum(['lowest', 'highest']).optional(),
      way: z.enum(['rise', 'fall']),
      inARow: z.number().int(),
    })
    .optional(),
  /** The parts of the range, each a point of the chart. */
  spans: z.array(dayRange.extend(counts.shape)).default([]),
  pages: pageFigures.optional(),
  /** The pages of the range before are known as well. */
  comparesPages: z.boolean().optional(),
  /** Why there is no list of pages. */
  noPages: z.enum(['tooMany', 'failed']).optional(),
  /** While limits delay the list of pages: its expected time, or, if that is unknown, the earliest time. */
  pagesByMs: z.number().optional(),
  pagesFromMs: z.number().optional(),
  /** Why its expected time is unknown. */
  pagesHeld: platformCause.optional(),
  readers: readerFigures.optional(),
  followUps: z.array(followUp).default([]),
  /** Number of further ones. */
  moreFollowUps: z.number().int().optional(),
  /** How the chart is shown. */
  chart: z.enum(['block', 'picture', 'none']),
  picture: file.optional(),
  csv: file.optional(),
  ended: editionEnding.optional(),
});
export type EditionRun = z.infer<typeof editionRun>;

/** Whether a digest goes to the requester's direct messages. */
export const isPrivate = ({ kind, inDirectMessage }: Pick<EditionRun, 'kind' | 'inDirectMessage'>): boolean =>
  kind === 'preview' || inDirectMessage === true;

/** Visible to people in its channel, or to its requester. */
export const editionKind: VisibleKind<EditionRun> = {
  record: editionRun,
  visible: (run) => ({
    requester: run.owner,
    asked: { channel: run.channel, isPublic: false },
    inDirectMessage: isPrivate(run),
  }),
};

/** Returns the id of a week's digest, the same for everybody who posts it. */
export const weeklyId = (teamId: string, channel: string, project: string, week: string) =>
  idOf('digest', teamId, channel, project, week);

type Keyed = Pick<EditionRun, 'id'>;

export const rootKey = ({ id }: Keyed) => `${id}.digest`;
export const pagesKey = ({ id }: Keyed) => `${id}.pages`;

import { z } from 'zod';
import { idOf } from '../../../store/ids.ts';
import { runBase } from '../../../store/runs.ts';
import type { VisibleKind } from '../../visibility.ts';
import { counts, dayRange, pageFigures, platformCause, readerFigures, SECTIONS } from '../model.ts';

export const person = z.object({ id: z.string(), name: z.string() });

/** A file of ours in Slack. The id is kept before the upload is completed, so that an unclear one can be looked up. */
const file = z.object({
  state: z.enum(['wanted', 'uploaded', 'done', 'failed']),
  fileId: z.string().optional(),
  failures: z.number().int(),
  /** Completions that were begun; each is made once. */
  attempt: z.number().int(),
  /** The workspace takes none: it is not tried again. */
  refused: z.boolean().optional(),
  /** No call is made before. */
  nextMs: z.number().optional(),
  /** Slack cannot be asked: since when, and how many calls in a row failed so. */
  trouble: z.object({ sinceMs: z.number(), inARow: z.number().int() }).optional(),
});
export type DigestFile = z.infer<typeof file>;

/** How a digest ended; all but `done` say why it was not posted whole. */
export const editionEnding = z.object({
  why: z.enum(['done', 'place', 'platform', 'project', 'permission', 'broken']),
  code: z.string().optional(),
  ref: z.string().optional(),
  cause: platformCause.optional(),
});
export type EditionEnding = z.infer<typeof editionEnding>;

/** What became of a page for which the agent was asked under an earlier digest. */
export const followUp = z.object({
  /** The page or search term, and what of it the numbers are. */
  subject: z.string(),
  kind: z.enum(['page', 'thumbs', 'search', 'questions']),
  prLink: z.string().optional(),
  prText: z.string().optional(),
  before: z.number().optional(),
  /** `unlisted`: of a search that is not among those without a click any more. */
  after: z.number().or(z.literal('unlisted')).optional(),
  /** Why no pull request is told; without it there is one, or the agent made none. `unknown`: also not yet known. */
  without: z.enum(['failed', 'archived', 'unknown']).optional(),
});

/**
 * One digest: of a week, posted once per team, channel, project and week, or of any range that somebody asked for. All
 * its messages are a function of this record, see `view.ts`. Times are epoch milliseconds.
 */
export const editionRun = runBase.extend({
  job: z.literal('digest'),
  project: z.string(),
  /** What it is about, for people to read: the domain of the project, else its name. */
  site: z.string(),
  channel: z.string(),
  /** `weekly` of a schedule · `asked` for dates that somebody typed · `preview` of the next weekly one. */
  kind: z.enum(['weekly', 'asked', 'preview']),
  /** It goes to its owner's direct messages, as every preview does; see `isPrivate`. */
  inDirectMessage: z.boolean().optional(),
  schedule: z.string().optional(),
  /** Who set it up, or asked for it. */
  owner: person,
  /** "Mondays 09:00 Europe/Berlin". */
  timetable: z.string().optional(),
  /** ISO week, such as 2026-W38. */
  week: z.string().optional(),
  range: dayRange,
  before: dayRange,
  /** Whoever asked named the day that was not over: it is `leftOut`, or all that there is, and compared with nothing. */
  today: z.enum(['leftOut', 'soFar']).optional(),
  sections: z.array(z.enum(SECTIONS)),
  /** Runs that collect its figures, and those of the range before. */
  figures: z.string(),
  figuresBefore: z.string(),
  /** When it was to be posted; said when it is much later. */
  dueAtMs: z.number(),
  late: z.boolean().optional(),
  /** `collecting` totals are awaited · `posted` pages are · `completing` files · `ended`, see there */
  state: z.enum(['collecting', 'posted', 'completing', 'ended']),
  sinceMs: z.number(),
  /** Whoever asked was told that limits or failures hold it up. */
  waitReported: z.boolean().optional(),
  /** Why it was late, where its owner and the channel are told. */
  stuck: platformCause.optional(),
  /** Counts from 1: a person had it posted again after Slack refused it. */
  attempt: z.number().int().optional(),
  totals: counts.optional(),
  totalsBefore: counts.optional(),
  /** How a week stands among those before it that are kept, `weeks` with itself. */
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
  /** While limits hold the list of pages up: by when it comes, or, where that is not known, not before when. */
  pagesByMs: z.number().optional(),
  pagesFromMs: z.number().optional(),
  /** Why nobody knows when it comes. */
  pagesHeld: platformCause.optional(),
  readers: readerFigures.optional(),
  followUps: z.array(followUp).default([]),
  /** How many there are beside those. */
  moreFollowUps: z.number().int().optional(),
  /** How the chart is shown. */
  chart: z.enum(['block', 'picture', 'none']),
  picture: file.optional(),
  csv: file.optional(),
  ended: editionEnding.optional(),
});
export type EditionRun = z.infer<typeof editionRun>;

/** Whether a digest goes to the direct messages of whoever asked for it. */
export const isPrivate = ({ kind, inDirectMessage }: Pick<EditionRun, 'kind' | 'inDirectMessage'>): boolean =>
  kind === 'preview' || inDirectMessage === true;

/** Who may see a digest: who is in its channel, or who asked for it. */
export const editionKind: VisibleKind<EditionRun> = {
  record: editionRun,
  visible: (run) => ({
    requester: run.owner,
    asked: { channel: run.channel, isPublic: false },
    inDirectMessage: isPrivate(run),
  }),
};

/** Returns the id of the digest of a week: the same whoever posts it, however often. */
export const weeklyId = (teamId: string, channel: string, project: string, week: string) =>
  idOf('digest', teamId, channel, project, week);

type Keyed = Pick<EditionRun, 'id'>;

export const rootKey = ({ id }: Keyed) => `${id}.digest`;
export const pagesKey = ({ id }: Keyed) => `${id}.pages`;

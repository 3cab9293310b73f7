import { z } from 'zod';
import { retention } from '../../../runtime/timing.ts';
import type { Outbox } from '../../../slack/outbox.ts';
import { messageUrl } from '../../../slack/text.ts';
import { idOf } from '../../../store/keys.ts';
import { runBase } from '../../../store/runs.ts';
import { digestOrigin } from '../../agent/thread/record.ts';
import { pullRequestState } from '../../pull-request/state.ts';
import { person, type VisibleKind } from '../../shared/origin.ts';
import { type FiguresRun, newFiguresRun } from '../figures/record.ts';
import { gapsById } from '../gaps.ts';
import {
  biggestChange,
  counts,
  dayRange,
  pageFigures,
  platformCause,
  readerFigures,
  SECTIONS,
} from '../model.ts';
import { sinceMerge } from '../row/record.ts';
import { periodNameOf, rangeBefore, spansOf } from '../weeks.ts';

/** A file of ours in Slack. Its id is saved before the completion, so that an unclear one can be looked up. */
const file = z.object({
  state: z.enum(['open', 'done', 'failed']),
  /** Missing until its bytes are uploaded. */
  fileId: z.string().optional(),
  /** Answers to this completion's checks that did not show it. */
  checks: z.number().int(),
  /** Number of begun completions; each is made once. */
  attempt: z.number().int(),
  /** No call is made before this time. */
  nextMs: z.number().optional(),
});

/** How a digest ended; all but `done` are reasons why it was not posted in full. `code` is Slack's, or a reference. */
export const editionEnding = z.object({
  why: z.enum(['done', 'place', 'platform', 'broken']),
  code: z.string().optional(),
  cause: platformCause.optional(),
});
export type EditionEnding = z.infer<typeof editionEnding>;

/** The result of a request to the agent under an earlier digest. */
const followUp = z.object({
  subject: digestOrigin.shape.subject,
  prLink: z.string().optional(),
  /** The state of its pull request, if its Git host has said it. */
  pullRequest: pullRequestState.shape.state,
  /** The present number of its subject. `unlisted`: the search is no longer among those without a click. */
  after: z.number().or(z.literal('unlisted')).optional(),
  /** The kind of its `askEnding`; missing while that is not known. */
  ending: z.string().optional(),
});

/** The largest change of a page in a week's digest. */
const weekChange = biggestChange.extend({ range: dayRange });

/**
 * One digest: of a week or month, posted once per team, channel, project and period, or of any range that a person
 * requested. Its messages are functions of this record, see `view.ts`. Times are epoch milliseconds.
 */
export const editionRun = runBase.extend({
  job: z.literal('digest'),
  project: z.string(),
  /** Its subject for display: the domain of the project, else its name. */
  site: z.string(),
  channel: z.string(),
  /** `weekly` or `monthly` of a schedule · `asked` for typed dates · `preview` of a schedule's next one. */
  kind: z.enum(['weekly', 'monthly', 'asked', 'preview']),
  /** It goes to its owner's direct messages, as every preview does. */
  inDirectMessage: z.boolean(),
  /** The schedule by which a person sent it: what delays it is reported in the conversation of that request. */
  sentBy: z.string().optional(),
  /** The person who set it up, or requested it. */
  owner: person,
  /** Its ISO week, such as 2026-W38, or its month, such as 2026-10. */
  week: z.string().optional(),
  /** The week or month of the schedule's previous digest: it shows results of requests under that. */
  lastWeek: z.string().optional(),
  range: dayRange,
  /** The requested range includes today: it is `leftOut`, or it is the whole range, without a comparison. */
  today: z.enum(['leftOut', 'soFar']).optional(),
  sections: z.array(z.enum(SECTIONS)),
  /** Runs that collect its figures, then those of the range before; missing until they are accepted. */
  figures: z.array(z.string()).optional(),
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
  /** The views of this week, and of the weeks before it that are kept, latest first. */
  weekViews: z.array(z.number()).optional(),
  /** The parts of the range, each a point of the chart. */
  spans: z.array(dayRange.extend(counts.shape)),
  pages: pageFigures.optional(),
  /** Of a month: the largest changes in the weekly digests of its whole weeks, the largest first. */
  inside: z.array(weekChange).optional(),
  /** How many of these weeks have a weekly digest with pages. */
  insideWeeks: z.number().optional(),
  /** Why there is no list of pages. */
  noPages: z.enum(['tooMany', 'failed']).optional(),
  /** Why the list of pages comes later: its earliest time, while only limits delay it. */
  pagesWait: platformCause.extend({ untilMs: z.number().optional() }).optional(),
  /** The readers' figures, and those of the range before. */
  readers: readerFigures.optional(),
  /** How long what they list has needed work. */
  gaps: gapsById.optional(),
  readersBefore: readerFigures.pick({ questions: true, visitors: true }).optional(),
  followUps: z.array(followUp),
  /** How many pull requests of the agent wait for a review, and for how many days the oldest does. */
  reviews: z.object({ count: z.number(), days: z.number() }).optional(),
  /** What the numbers say since the pull requests of earlier requests were merged, what got worse first. */
  since: z.array(sinceMerge).optional(),
  /** How many of these are left out. */
  sinceMore: z.number().int().optional(),
  csv: file.optional(),
  ended: editionEnding.optional(),
});
export type EditionRun = z.infer<typeof editionRun>;

/** Visible to people in its channel, or to its requester. */
export const editionKind: VisibleKind<EditionRun> = {
  what: 'digest',
  record: editionRun,
  visible: (run) => ({
    by: run.owner,
    asked: { channel: run.channel, isPublic: false },
    inDirectMessage: run.inDirectMessage,
  }),
};

/** Returns the id of the digest of a week or month, the same for everybody who posts it. */
export const scheduledId = (
  { teamId, channel, project }: Pick<EditionRun, 'teamId' | 'channel' | 'project'>,
  period: string,
) => idOf('digest', teamId, channel, project, period);

/** Whether it is a digest of a schedule. */
export const isScheduled = ({ kind }: Pick<EditionRun, 'kind'>) => kind === 'weekly' || kind === 'monthly';

/** Returns a new digest. Its figures are accepted by its first step. */
export function newEdition(
  wanted: Pick<
    EditionRun,
    'id' | 'teamId' | 'channel' | 'project' | 'site' | 'owner' | 'kind' | 'range' | 'sections'
  > &
    Partial<EditionRun>,
  nowMs: number,
): EditionRun {
  const { range } = wanted;
  return {
    job: 'digest',
    rev: 1,
    people: [],
    dueAtMs: nowMs,
    inDirectMessage: false,
    // Its record stands for the month that has its digest.
    ...(wanted.kind === 'monthly' && { keptMs: retention.monthlyMs }),
    ...wanted,
    week: periodNameOf(range),
    state: 'collecting',
    sinceMs: nowMs,
    spans: [],
    followUps: [],
  };
}

/** Maximum requests for a person's request and the range before, together. */
const ASKED_REQUESTS = 20;

/** Returns the runs that collect the figures of a digest, then those of the range before. */
export function figuresOf(
  digest: Pick<EditionRun, 'teamId' | 'project' | 'kind' | 'range' | 'sections' | 'today'>,
  nowMs: number,
): FiguresRun[] {
  const { teamId, project, range, sections } = digest;
  const scheduled = isScheduled(digest);
  const [before, spans] = [rangeBefore(range), spansOf(range)];
  // Of those before, one is for the totals: fewer if the range itself takes many.
  const beforeRequests = spans.length > 7 ? 3 : 5;
  const maxRequests = scheduled ? undefined : ASKED_REQUESTS - beforeRequests;
  const readers = sections.includes('readers');
  // A digest of a schedule needs its pages also if only the file lists them.
  const pages = sections.includes('pages') || (scheduled && sections.includes('csv'));
  const wanted = { teamId, project, urgent: !scheduled, pages };
  const figures = newFiguresRun({ ...wanted, range, spans, readers, maxRequests }, nowMs);
  // An unfinished day has no comparison.
  if (digest.today === 'soFar') return [figures];
  const earlier = scheduled
    ? { spans: spansOf(before), readers, maxRequests }
    : { spans: [before], readers: false, maxRequests: beforeRequests };
  return [figures, newFiguresRun({ ...wanted, range: before, ...earlier }, nowMs)];
}

/** A digest of a schedule that is later than this says so. */
const LATE_MS = 3_600_000;

/** Returns that a digest of a schedule is late if it is posted now, for any cause. */
export const lateNow = (run: EditionRun, nowMs: number): Pick<EditionRun, 'late'> =>
  isScheduled(run) && nowMs - run.dueAtMs > LATE_MS ? { late: true } : {};

/** Messages expire after 30 days. The pages, from whose arrival this counts, may come two days after the message. */
const MESSAGES_MS = retention.runMs - 3 * 86_400_000;

/** Whether the digest is not posted again: nothing is missing, or its record has outlived its messages, as that of a month can. */
export function isComplete({ ended, noPages, totals, sinceMs }: EditionRun, nowMs: number): boolean {
  const isPosted = ended !== undefined && ended.why !== 'place' && totals !== undefined;
  if (isPosted && nowMs - sinceMs > MESSAGES_MS) return true;
  return ended?.why === 'done' && noPages !== 'failed';
}

/**
 * Returns a digest that resumes after a failure or without its pages, or asks the platform again at once; undefined if
 * it is complete or in progress. Posted parts stay and are edited. A post that Slack refused is retried as the same
 * message, since an earlier attempt may have succeeded.
 */
export function restart(
  run: EditionRun,
  { sections, sentBy }: Pick<EditionRun, 'sections' | 'sentBy'>,
  nowMs: number,
): EditionRun | undefined {
  const { ended, noPages, ...rest } = run;
  const isWaiting = run.state === 'collecting' && (run.stuck ?? run.waitReported ?? sentBy) !== undefined;
  if (ended === undefined ? !isWaiting : isComplete(run, nowMs)) return undefined;
  const state = run.totals === undefined ? 'collecting' : 'posted';
  const again = { ...rest, figures: undefined, sections, sentBy, sinceMs: nowMs, waitReported: undefined };
  return ended?.why === 'place'
    ? { ...again, state, attempt: (run.attempt ?? 1) + 1, ...lateNow(run, nowMs) }
    : { ...again, state };
}

export const rootKey = ({ id }: { id: string }) => `${id}.digest`;
export const pagesKey = ({ id }: { id: string }) => `${id}.pages`;
export const sinceKey = ({ id }: { id: string }) => `${id}.since`;

/** Returns the address of a digest's message; undefined while it is not posted. */
export async function permalinkOf(
  edition: EditionRun,
  outbox: Pick<Outbox, 'deliveryState'>,
  workspaceUrl: string | undefined,
): Promise<string | undefined> {
  const root = await outbox.deliveryState(rootKey(edition));
  return root.kind === 'shown' && workspaceUrl !== undefined ? messageUrl(workspaceUrl, root) : undefined;
}

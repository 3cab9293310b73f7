import { isDeepStrictEqual } from 'node:util';
import { digestRateLimit } from '../../../slack/rate-limits.ts';
import { deliveryCheckMs } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { defineRunJob, markIdle, type StepResult, saveAs } from '../../run-job.ts';
import { chartPng } from '../chart-png.ts';
import { pagesCsv } from '../csv.ts';
import { type FiguresRun, figuresRun, hasTotals, rangeKey } from '../figures/record.ts';
import { withoutHalf } from '../figures/requests.ts';
import { addCounts, type Counts, type ReaderFigures, totalOf } from '../model.ts';
import { pageFigures } from '../stats.ts';
import { chartPoints, typedRange } from '../weeks.ts';
import { chartSupportKey, fileSupportKey, stepFile, wantedFile } from './files.ts';
import { addNumbers, loadFollowUps } from './follow-ups.ts';
import { type EditionRun, editionRun, isPrivate, rootKey } from './record.ts';
import { lateNow } from './transitions.ts';
import { loadTrend } from './trend.ts';
import { chartTitle, csvName, editionMessages } from './view.ts';
import { findPagesWait, reportWait, stuckBy } from './waits.ts';

/** Longest pause between checks of figures that another run collects: short at first, then longer. */
const MAX_CHECK_MS = 15_000;

/** Posts a digest as soon as its totals are there, adds the pages, and ends. */
export const editionJob = defineRunJob({
  name: 'digest',
  queue: 'docs-analytics',
  concurrency: 20,
  schema: editionRun,
  messages: editionMessages,
  auditLine: ({ owner, channel, site, week }) => ({
    user: owner,
    channel,
    what: 'digest',
    subject: site,
    ...(week !== undefined && { job: week }),
  }),
  step: ({ run }, context) => step(run, context),
  giveUp: async ({ run }, context, ref) =>
    run.state === 'ended' ? markIdle(run, context) : end(run, { why: 'broken', ref }),
});

type Ended = NonNullable<EditionRun['ended']>;

const end = (run: EditionRun, ended: Ended) =>
  saveAs({ ...run, state: 'ended' as const, ended }, { audit: ended.why === 'done' ? 'posted' : ended.why });

async function step(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  switch (run.state) {
    case 'collecting':
      return awaitTotals(run, context);
    case 'posted':
      return (
        (await updateRootMessage(run, context)) ??
        (await firstResult(
          () => stepPicture(run, context),
          () => awaitPages(run, context),
        )) ??
        runAgainIn(0)
      );
    case 'completing':
      return (
        (await updateRootMessage(run, context)) ??
        (await firstResult(
          () => stepPicture(run, context),
          () => stepCsv(run, context),
        )) ??
        end(run, { why: 'done' })
      );
    case 'ended':
      return markIdle(run, context);
  }
}

type MaybeStep = () => Promise<StepResult<EditionRun> | undefined>;

/** Runs steps that do not block each other: returns the first result that is no wait, else the shortest wait. */
async function firstResult(...steps: MaybeStep[]): Promise<StepResult<EditionRun> | undefined> {
  let inMs: number | undefined;
  for (const step of steps) {
    const result = await step();
    if (result === undefined) continue;
    if (result === 'next' || result.kind !== 'again') return result;
    inMs = Math.min(result.inMs, inMs ?? result.inMs);
  }
  return inMs === undefined ? undefined : runAgainIn(inMs);
}

const checkMs = (run: EditionRun, context: JobContext) => deliveryCheckMs(run, context, MAX_CHECK_MS);

const loadFigures = (runId: string, { runs }: JobContext) => runs.load(runId, figuresRun);

/** An unfinished day has no comparison. */
const loadBefore = async (run: EditionRun, context: JobContext) =>
  run.today === 'soFar' ? undefined : loadFigures(run.figuresBefore, context);

/** Waits for the totals. Only they must be on time; without the earlier totals there is no comparison. */
async function awaitTotals(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const { now, rateLimiter, timing, figures: kept } = context;
  const [figures, before] = await Promise.all([loadFigures(run.figures, context), loadBefore(run, context)]);
  if (figures === undefined) return end(run, { why: 'platform' });
  if (!hasTotals(figures)) {
    if (figures.state === 'ended')
      return end(run, { why: figures.failed ?? 'platform', cause: figures.cause });
    // Only a person can fix this, and can then post it by hand.
    if (now() >= run.dueAtMs && lacksProject(figures, context)) return end(run, { why: 'project' });
    const stuck = stuckBy(run, figures, context);
    if (stuck !== undefined && !isDeepStrictEqual(stuck, run.stuck)) return saveAs({ ...run, stuck });
    const isNew = await reportWait(run, figures, context);
    return isNew ? saveAs({ ...run, waitReported: true }) : runAgainIn(checkMs(run, context));
  }
  // The comparison may come later. A weekly digest waits equally long for its pages, which saves an edit.
  const isDue = now() - run.dueAtMs >= timing.digestWaitMs;
  const open = [figures, before].flatMap((one) => (one && one.state !== 'ended' ? [one] : []));
  const isNear = open.every(({ limitedUntilMs = 0 }) => limitedUntilMs - run.dueAtMs < timing.digestWaitMs);
  const lacksTotals = before !== undefined && open.includes(before) && !hasTotals(before);
  const awaits = lacksTotals || (open.length > 0 && run.kind === 'weekly' && isNear);
  if (awaits && !isDue) return runAgainIn(checkMs(run, context));
  if (run.kind === 'weekly') {
    const inMs = await rateLimiter.takeSlot(digestRateLimit(run.teamId, timing), { id: run.id });
    if (inMs > 0) return runAgainIn(inMs);
  }
  const spans = figures.spans.flatMap(({ from, to, counts }) => (counts ? [{ from, to, ...counts }] : []));
  const hasChart = !(await kept.isUnsupported(chartSupportKey(run.teamId)));
  const hasFiles = await takesFiles(run, context);
  const { followUps, more } = await loadFollowUps(run, context);
  const posted: EditionRun = {
    ...run,
    state: 'posted',
    sinceMs: now(),
    ...lateNow(run, now()),
    totals: addCounts(spans),
    trend: await loadTrend(run, context),
    ...totalsBeforeOf(before),
    spans,
    followUps,
    ...(more > 0 && { moreFollowUps: more }),
    ...(hasChart ? { chart: 'block' as const } : chartFallback(hasFiles)),
  };
  return saveAs(open.length > 0 ? posted : await complete(posted, figures, before, context));
}

/** Whether collecting found the project missing in the settings, and it is still missing. */
const lacksProject = ({ project, pollFailure: trouble }: FiguresRun, { docs, projectId }: JobContext) =>
  trouble?.kind === 'project' && (docs(project) === undefined || projectId(project) === undefined);

const totalsBeforeOf = (before: FiguresRun | undefined): Pick<EditionRun, 'totalsBefore'> =>
  before !== undefined && hasTotals(before)
    ? { totalsBefore: addCounts(before.spans.flatMap(({ counts }) => counts ?? [])) }
    : {};

const takesFiles = async (run: EditionRun, { figures }: JobContext) =>
  !isPrivate(run) && !(await figures.isUnsupported(fileSupportKey(run.teamId)));

/** The form of a chart if the workspace does not take the native block. */
const chartFallback = (hasFiles: boolean) =>
  hasFiles ? { chart: 'picture' as const, picture: wantedFile } : { chart: 'none' as const };

/** Checks that the first message is posted, and shows its chart. Returns undefined if nothing is to be done. */
async function updateRootMessage(
  run: EditionRun,
  context: JobContext,
): Promise<StepResult<EditionRun> | undefined> {
  const { outbox, figures, threads } = context;
  const delivery = await outbox.deliveryState(rootKey(run));
  if (delivery.kind === 'refused') return end(run, { why: 'place', code: delivery.code });
  if (delivery.kind === 'waiting') return runAgainIn(deliveryCheckMs(run, context));
  const { channel, ts: rootTs, outdated, fellBack } = delivery;
  await threads.close({ teamId: run.teamId, channel, rootTs });
  // The message is shown without its chart, so Slack refused the chart.
  if (fellBack !== 'fallback') return undefined;
  if (run.chart === 'block') {
    await figures.markUnsupported(chartSupportKey(run.teamId));
    return saveAs({ ...run, ...chartFallback(await takesFiles(run, context)) });
  }
  // Before the edit with the picture, an earlier form was refused.
  return run.chart === 'picture' && run.picture?.state === 'done' && !outdated
    ? saveAs({ ...run, chart: 'none' })
    : undefined;
}

/** Uploads the picture of the chart, if one is needed. Returns undefined when that is over. */
async function stepPicture(
  run: EditionRun,
  context: JobContext,
): Promise<StepResult<EditionRun> | undefined> {
  if (run.chart !== 'picture') return undefined;
  if (run.picture?.state === 'failed') return saveAs({ ...run, chart: 'none' });
  return stepFile(run, { name: 'picture', ...pictureOf(run) }, context);
}

const pictureOf = (run: EditionRun) => ({
  filename: `${run.week ?? typedRange(run.range)}.png`,
  title: chartTitle(run),
  load: async () => () => chartPng({ title: chartTitle(run), points: chartPoints(run.spans) }),
});

/** Waits for the lists of pages, which the hourly limit may delay. */
async function awaitPages(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun>> {
  const [figures, before] = await Promise.all([loadFigures(run.figures, context), loadBefore(run, context)]);
  const isOpen = [figures, before].some((one) => one !== undefined && one.state !== 'ended');
  if (isOpen) {
    const wait = await findPagesWait(run, [figures, before], context);
    const compared = run.totalsBefore === undefined ? totalsBeforeOf(before) : {};
    return wait !== undefined || compared.totalsBefore !== undefined
      ? saveAs({ ...run, ...compared, ...wait })
      : runAgainIn(checkMs(run, context));
  }
  return saveAs(await complete(run, figures, before, context));
}

/** Returns the digest with all collected figures. */
async function complete(
  run: EditionRun,
  figures: FiguresRun | undefined,
  before: FiguresRun | undefined,
  context: JobContext,
): Promise<EditionRun> {
  const { counts, ...listed } = await loadPages(run, figures, before, context);
  const readers = run.sections.includes('readers') ? readersOf(figures, before) : undefined;
  const hasCsv =
    listed.pages !== undefined &&
    run.sections.includes('csv') &&
    (run.csv !== undefined || (await takesFiles(run, context)));
  return {
    ...run,
    state: 'completing',
    sinceMs: context.now(),
    ...listed,
    ...totalsBeforeOf(before),
    pagesByMs: undefined,
    pagesFromMs: undefined,
    pagesHeld: undefined,
    ...(readers && { readers }),
    followUps: addNumbers(run.followUps, counts, readers),
    csv: hasCsv ? (run.csv ?? wantedFile) : undefined,
  };
}

const pagesOf = ({ teamId, project, kind }: EditionRun) => ({ teamId, project, asked: kind !== 'weekly' });

async function loadPages(
  run: EditionRun,
  figures: FiguresRun | undefined,
  before: FiguresRun | undefined,
  context: JobContext,
): Promise<
  Pick<EditionRun, 'pages' | 'noPages' | 'comparesPages'> & { counts?: ReadonlyMap<string, Counts> }
> {
  if (figures?.pages === undefined) return {};
  if (figures.pages.state !== 'complete')
    return { noPages: figures.pages.state === 'tooMany' ? 'tooMany' : 'failed' };
  const pages = await context.figures.pages(pagesOf(run), rangeKey(run.range));
  if (pages.length === 0 && totalOf(run.totals ?? { human: 0, ai: 0 }) > 0) return { noPages: 'failed' };
  const earlier =
    before?.pages?.state === 'complete'
      ? await context.figures.pages(pagesOf(run), rangeKey(run.before))
      : [];
  // Without any earlier pages everything would look new, unless nothing was read then.
  const { totalsBefore } = totalsBeforeOf(before);
  const hasBefore = earlier.length > 0 || (totalsBefore !== undefined && totalOf(totalsBefore) === 0);
  const asked = new Set(run.followUps.map(({ subject }) => subject));
  const counts = new Map(pages.filter(({ path }) => asked.has(path)).map((page) => [page.path, page]));
  return { pages: pageFigures(pages, hasBefore ? earlier : undefined), comparesPages: hasBefore, counts };
}

/** The readers' figures, compared with the range before. */
function readersOf(figures: FiguresRun | undefined, before: FiguresRun | undefined): ReaderFigures {
  const figuresOf = (run: FiguresRun | undefined) => run?.readers && withoutHalf(run.readers).figures;
  const { questions, visitors, ...now } = figuresOf(figures) ?? {};
  const earlier = figuresOf(before);
  const beforeQuestions = earlier?.questions;
  return {
    ...now,
    ...(questions && {
      questions: {
        ...questions,
        ...(beforeQuestions && {
          before: { asked: beforeQuestions.asked, unanswered: beforeQuestions.unanswered },
        }),
      },
    }),
    ...(visitors && {
      visitors: { ...visitors, ...(earlier?.visitors && { before: earlier.visitors.total }) },
    }),
  };
}

/** Shares the list of all pages in the thread of the digest. */
async function stepCsv(run: EditionRun, context: JobContext): Promise<StepResult<EditionRun> | undefined> {
  const root = await context.outbox.deliveryState(rootKey(run));
  if (root.kind !== 'shown' || run.pages === undefined) return undefined;
  return stepFile(
    run,
    {
      name: 'csv',
      filename: csvName(run),
      title: csvName(run),
      place: { channel: root.channel, threadTs: root.ts },
      async load() {
        const pages = await context.figures.pages(pagesOf(run), rangeKey(run.range));
        const earlier = run.comparesPages
          ? await context.figures.pages(pagesOf(run), rangeKey(run.before))
          : undefined;
        return () => pagesCsv(pages, earlier);
      },
    },
    context,
  );
}

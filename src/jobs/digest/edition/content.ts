import { outcomeOf } from '../../agent/thread/digest-asks.ts';
import { type DigestAsk, threadRun } from '../../agent/thread/record.ts';
import type { JobContext } from '../../context.ts';
import { type FiguresRun, hasTotals, rangeKey } from '../figures/record.ts';
import { FEEDBACK_LIMIT } from '../figures/requests.ts';
import { addCounts, type Counts, type ReaderFigures, totalOf } from '../model.ts';
import { pageFigures } from '../stats.ts';
import { daysOf, weekBefore, weekNameOf } from '../weeks.ts';
import { type EditionRun, editionRun, weeklyId } from './record.ts';

/** Number of weeks in a trend, including the digest's own. In fewer weeks than `MIN_WEEKS` a lowest one means nothing. */
const MAX_WEEKS = 8;
const MIN_WEEKS = 4;

/** The previous digest is searched in this many weeks: some weeks may have none. */
const MAX_WEEKS_BACK = 4;

/** Returns the totals of the range before, if they are known. */
export const totalsBeforeOf = (before: FiguresRun | undefined): Pick<EditionRun, 'totalsBefore'> =>
  before !== undefined && hasTotals(before)
    ? { totalsBefore: addCounts(before.spans.flatMap(({ counts }) => counts ?? [])) }
    : {};

/** Returns the digest with all collected figures. */
export async function complete(
  run: EditionRun,
  figures: FiguresRun | undefined,
  before: FiguresRun | undefined,
  context: JobContext,
): Promise<EditionRun> {
  const { counts, ...listed } = await loadPages(run, figures, before, context);
  const readers = run.sections.includes('readers') ? readersOf(figures, before) : undefined;
  const mayHaveCsv = listed.pages !== undefined && run.sections.includes('csv') && !run.inDirectMessage;
  const newCsv = mayHaveCsv ? ({ state: 'open', failures: 0, attempt: 1 } as const) : undefined;
  return {
    ...run,
    state: 'completing',
    sinceMs: context.now(),
    ...listed,
    ...totalsBeforeOf(before),
    pagesFromMs: undefined,
    pagesHeld: undefined,
    ...(readers && { readers }),
    followUps: addNumbers(run.followUps, counts, readers),
    csv: run.csv ?? newCsv,
  };
}

async function loadPages(
  run: EditionRun,
  figures: FiguresRun | undefined,
  before: FiguresRun | undefined,
  context: JobContext,
): Promise<Pick<EditionRun, 'pages' | 'noPages'> & { counts?: ReadonlyMap<string, Counts> }> {
  if (figures?.pages === undefined) return {};
  if (figures.pages.state !== 'complete')
    return { noPages: figures.pages.state === 'tooMany' ? 'tooMany' : 'failed' };
  const pages = await context.figures.pages(run, rangeKey(run.range));
  if (pages.length === 0 && totalOf(run.totals ?? { human: 0, ai: 0 }) > 0) return { noPages: 'failed' };
  const earlier =
    before?.pages?.state === 'complete' ? await context.figures.pages(run, rangeKey(run.before)) : [];
  // Without any earlier pages everything would look new, unless nothing was read then.
  const { totalsBefore } = totalsBeforeOf(before);
  const hasBefore = earlier.length > 0 || (totalsBefore !== undefined && totalOf(totalsBefore) === 0);
  const asked = new Set(run.followUps.map(({ subject }) => subject));
  const counts = new Map(pages.filter(({ path }) => asked.has(path)).map((page) => [page.path, page]));
  return { pages: pageFigures(pages, hasBefore ? earlier : undefined), counts };
}

/** The readers' figures, compared with the range before. */
function readersOf(figures: FiguresRun | undefined, before: FiguresRun | undefined): ReaderFigures {
  const { questions, visitors, ...now } = figures?.readers?.figures ?? {};
  const earlier = before?.readers?.figures;
  return {
    ...now,
    ...(questions && { questions: { ...questions, before: earlier?.questions } }),
    ...(visitors && { visitors: { ...visitors, before: earlier?.visitors?.total } }),
  };
}

/** Returns how a week's views compare with those of earlier weeks; `views` begins with its own, latest first. */
export function trendOf(views: readonly number[]): EditionRun['trend'] {
  const [now = 0, ...before] = views;
  const [last] = before;
  if (last === undefined || now === last) return undefined;
  const way = now > last ? 'rise' : 'fall';
  const inARow = views.findIndex((one, index) => {
    const earlier = views[index + 1];
    return earlier === undefined || (way === 'rise' ? one <= earlier : one >= earlier);
  });
  const isLowest = now < Math.min(...before);
  const isExtreme = views.length >= MIN_WEEKS && (isLowest || now > Math.max(...before));
  return {
    weeks: views.length,
    ...(isExtreme && { extreme: isLowest ? ('lowest' as const) : ('highest' as const) }),
    way,
    inARow,
  };
}

/** Returns the same for a weekly digest, from the stored days. */
export async function loadTrend(run: EditionRun, { figures }: JobContext): Promise<EditionRun['trend']> {
  if (run.kind === 'asked' || run.week === undefined) return undefined;
  const views: number[] = [];
  for (let { range } = run; views.length < MAX_WEEKS; range = weekBefore(range)) {
    const days = daysOf(range);
    const kept = await figures.days(run, days);
    if (kept.size < days.length) break;
    views.push(totalOf(addCounts(kept.values())));
  }
  return trendOf(views);
}

type FollowUp = EditionRun['followUps'][number];

/**
 * Returns the agent's results for the requests under the previous weekly digest, and under later ones that were posted
 * in part. The present numbers come with the pages.
 */
export async function loadFollowUps(run: EditionRun, { runs, figures }: JobContext): Promise<FollowUp[]> {
  if (run.kind !== 'weekly') return [];
  const ids: string[] = [];
  for (let { before } = run; ids.length < MAX_WEEKS_BACK; before = weekBefore(before))
    ids.push(weeklyId(run, weekNameOf(before)));
  const editions = await runs.loadAll(ids, editionRun);
  const posted = new Set(editions.filter(({ ended }) => ended?.why === 'done').map(({ id }) => id));
  const last = ids.findIndex((id) => posted.has(id));
  const digests = ids.slice(0, Math.max(last, 0) + 1);
  const threadIds = (await Promise.all(digests.map((id) => figures.asks(id)))).flat();
  return (await runs.loadAll([...new Set(threadIds)], threadRun))
    .flatMap((thread) => thread.digestAsks.map((ask) => ({ ...ask, ...outcomeOf(thread, ask) })))
    .filter(({ digest, ending }) => digests.includes(digest) && ending?.kind !== 'notSent')
    .toSorted((one, other) => one.atMs - other.atMs)
    .map(toFollowUp);
}

function toFollowUp({ subject, ending }: Pick<DigestAsk, 'subject' | 'ending'>): FollowUp {
  const { kind } = ending ?? {};
  const hasResult = kind === 'newPr' || kind === 'samePr' || kind === 'noPr';
  return {
    subject: subject.name,
    kind: subject.kind,
    ...(ending !== undefined && 'prLink' in ending && { prLink: ending.prLink }),
    ...(ending !== undefined && 'prText' in ending && { prText: ending.prText }),
    before: subject.value,
    ...(!hasResult && { without: kind === 'failed' || kind === 'archived' ? kind : 'unknown' }),
  };
}

/**
 * Returns them with the present numbers; an entry missing from a complete list has 0. For searches, only those without
 * a click are known.
 */
export function addNumbers(
  followUps: readonly FollowUp[],
  pages: ReadonlyMap<string, Counts> | undefined,
  readers: ReaderFigures | undefined,
): FollowUp[] {
  const numberOf = ({ kind, subject }: FollowUp): FollowUp['after'] => {
    switch (kind) {
      case 'page':
        return pages && totalOf(pages.get(subject) ?? { human: 0, ai: 0 });
      case 'thumbs': {
        const { thumbs } = readers ?? {};
        const isComplete = thumbs !== undefined && thumbs.length < FEEDBACK_LIMIT;
        return thumbs?.find(({ path }) => path === subject)?.down ?? (isComplete ? 0 : undefined);
      }
      case 'questions':
        return readers?.questions?.unanswered;
      case 'search':
        return (
          readers?.searches && (readers.searches.find(({ query }) => query === subject)?.hits ?? 'unlisted')
        );
    }
  };
  return followUps.map((one) => ({ ...one, after: numberOf(one) }));
}

import type { z } from 'zod';
import type { JobContext } from '../../context.ts';
import { type AskEnding, type AskRun, askRun } from '../ask/record.ts';
import { FEEDBACK_LIMIT } from '../figures/requests.ts';
import { type Counts, type ReaderFigures, totalOf } from '../model.ts';
import { daysOf, weekBefore, weekNameOf } from '../weeks.ts';
import { type EditionRun, editionRun, type followUp, weeklyId } from './record.ts';

type FollowUp = z.infer<typeof followUp>;

/** Entries of the line about the results of the last digest's requests. */
const MAX_FOLLOW_UPS = 5;

/** The previous digest is searched in this many weeks: some weeks may have none. */
const MAX_WEEKS = 4;

/**
 * Returns the agent's results for the requests under the previous digest, and for requests under digests of any dates
 * that ended in this week. `more` counts those left out. The present numbers come with the pages.
 */
export async function loadFollowUps(
  run: EditionRun,
  context: JobContext,
): Promise<{ followUps: FollowUp[]; more: number }> {
  if (run.kind !== 'weekly') return { followUps: [], more: 0 };
  const asks = [...(await loadLastAsks(run, context)), ...(await loadRangeAsks(run, context))]
    .filter(({ ending }) => ending?.kind !== 'notSent')
    .toSorted((one, other) => one.sinceMs - other.sinceMs);
  const followUps = asks.slice(0, MAX_FOLLOW_UPS).map(toFollowUp);
  return { followUps, more: asks.length - followUps.length };
}

/** Loads the requests of the last posted week, and of later weeks that may be posted in part. */
async function loadLastAsks(run: EditionRun, { runs, figures }: JobContext): Promise<AskRun[]> {
  const { teamId, channel, project } = run;
  const ids: string[] = [];
  for (let { before } = run; ids.length < MAX_WEEKS; before = weekBefore(before))
    ids.push(weeklyId(teamId, channel, project, weekNameOf(before)));
  const editions = await runs.loadAll(ids, editionRun);
  const posted = new Set(editions.filter(({ ended }) => ended?.why === 'done').map(({ id }) => id));
  const last = ids.findIndex((id) => posted.has(id));
  const asks = await Promise.all(ids.slice(0, Math.max(last, 0) + 1).map((id) => figures.asks(id)));
  return runs.loadAll(asks.flat(), askRun);
}

/** Weeks have no gaps between them, so each request is reported once. */
async function loadRangeAsks(run: EditionRun, { runs, figures }: JobContext): Promise<AskRun[]> {
  const [fromMs, toMs] = [run.range.from, run.range.to].map((day) => Date.parse(`${day}T00:00:00Z`));
  if (fromMs === undefined || toMs === undefined) return [];
  const all = await runs.loadAll(await figures.rangeAsks(run, toMs), askRun);
  const asks = all.filter(
    ({ state, ending }) => state === 'ended' && ending && ending.atMs >= fromMs && ending.atMs < toMs,
  );
  const editions = await runs.loadAll([...new Set(asks.map(({ edition }) => edition))], editionRun);
  const ofAWeek = new Set(editions.filter(({ range }) => daysOf(range).length === 7).map(({ id }) => id));
  // A week has smaller numbers than a longer range, so a comparison would mean nothing.
  return asks.map((ask) =>
    ofAWeek.has(ask.edition) ? ask : { ...ask, subject: { ...ask.subject, value: undefined } },
  );
}

function withoutOf(ending: AskEnding | undefined): FollowUp['without'] {
  switch (ending?.kind) {
    case 'newPr':
    case 'samePr':
    case 'noPr':
      return undefined;
    case 'failed':
    case 'archived':
      return ending.kind;
    default:
      return 'unknown';
  }
}

function toFollowUp({ subject, ending }: AskRun): FollowUp {
  return {
    subject: subject.name,
    kind: subject.kind,
    ...(ending !== undefined && 'prLink' in ending && { prLink: ending.prLink }),
    ...(ending !== undefined && 'prText' in ending && { prText: ending.prText }),
    before: subject.value,
    without: withoutOf(ending),
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

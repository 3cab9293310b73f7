import type { z } from 'zod';
import type { JobContext } from '../../context.ts';
import { type AskEnding, type AskRun, askRun } from '../ask/record.ts';
import { FEEDBACK_LIMIT } from '../figures/requests.ts';
import { type Counts, type ReaderFigures, totalOf } from '../model.ts';
import { daysOf, weekNameOf } from '../weeks.ts';
import { type EditionRun, editionRun, type followUp, weeklyId } from './record.ts';

type FollowUp = z.infer<typeof followUp>;

/** Entries of the line about what became of the last digest's work. */
const MAX_FOLLOW_UPS = 5;

/**
 * Returns what the agent made of what it was asked under the digest before, and of what it was asked under digests of
 * any dates and ended in this week. The numbers of now come with the pages.
 */
export async function loadFollowUps(run: EditionRun, context: JobContext): Promise<FollowUp[]> {
  if (run.kind !== 'weekly') return [];
  const { teamId, channel, project } = run;
  const previous = weeklyId(teamId, channel, project, weekNameOf(run.before));
  const asks = await context.runs.loadAll(await context.figures.asks(previous), askRun);
  return [...asks, ...(await loadRangeAsks(run, context))]
    .filter(({ ending }) => ending?.kind !== 'notSent')
    .toSorted((one, other) => one.sinceMs - other.sinceMs)
    .slice(0, MAX_FOLLOW_UPS)
    .map(toFollowUp);
}

/** Weeks follow each other without a gap, so each of these is told once. */
async function loadRangeAsks(run: EditionRun, { runs, figures }: JobContext): Promise<AskRun[]> {
  const [fromMs, toMs] = [run.range.from, run.range.to].map((day) => Date.parse(`${day}T00:00:00Z`));
  if (fromMs === undefined || toMs === undefined) return [];
  const all = await runs.loadAll(await figures.rangeAsks(run, toMs), askRun);
  const asks = all.filter(
    ({ state, ending }) => state === 'ended' && ending && ending.atMs >= fromMs && ending.atMs < toMs,
  );
  const editions = await runs.loadAll([...new Set(asks.map(({ edition }) => edition))], editionRun);
  const ofAWeek = new Set(editions.filter(({ range }) => daysOf(range).length === 7).map(({ id }) => id));
  // A week has less of everything than a longer range, so those numbers would say nothing.
  return asks.map((ask) =>
    ofAWeek.has(ask.edition) ? ask : { ...ask, subject: { ...ask.subject, value: undefined } },
  );
}

/** How the agent's work ends where that is known. */
const KNOWN_ENDINGS: readonly (AskEnding['kind'] | undefined)[] = [
  'newPr',
  'samePr',
  'noPr',
  'failed',
  'archived',
];

function toFollowUp({ subject, ending }: AskRun): FollowUp {
  return {
    subject: subject.name,
    kind: subject.kind,
    ...(ending !== undefined && 'prLink' in ending && { prLink: ending.prLink }),
    ...(ending !== undefined && 'prText' in ending && { prText: ending.prText }),
    before: subject.value,
    ...(!KNOWN_ENDINGS.includes(ending?.kind) && { unknown: true }),
  };
}

/**
 * Returns them with the numbers of now: what is not in a list that is complete is 0. Of searches only those without a
 * click are known.
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
      case 'search':
        return (
          readers?.searches && (readers.searches.find(({ query }) => query === subject)?.hits ?? 'unlisted')
        );
    }
  };
  return followUps.map((one) => ({ ...one, after: numberOf(one) }));
}

import { z } from 'zod';
import { idOf } from '../../store/keys.ts';
import type { JobContext } from '../engine/context.ts';
import type { AskButton } from './buttons.ts';
import { badThumbs, type DayRange, MAX_LISTED, openTopics, type ReaderFigures } from './model.ts';
import { unitOf } from './weeks.ts';

/** A thing that needs work: for how many weeks in a row, or `back` after so many weeks without. This week counts. */
const gap = z.object({ weeks: z.number().int(), back: z.number().int().optional() });
export type Gap = z.infer<typeof gap>;

/** By the id of a thing; those in their first week are left out. */
export const gapsById = z.record(z.string(), gap);

type Kind = Exclude<AskButton['about'], 'pages' | 'since'>;
/** The ids of what needed work in a week; `cut` has the kinds of lists that may lack things. */
type OpenWeek = Partial<Record<Kind | 'cut', string[]>>;

/** Weeks further apart are not in a row: between them, more than two Mondays have no digest. */
const MAX_APART_MS = 21 * 86_400_000;

/** Returns the id of a thing that needs work. It is all that is kept of readers' words for later weeks. */
export const gapId = (kind: AskButton['about'], name: string) => idOf('gap', kind, name).slice(0, 12);

/** Returns how long a thing has needed work that does now, from whether it did in each week before, latest first. */
function gapOf(before: readonly boolean[]): Gap {
  const row = [...before, false].indexOf(false);
  const back = before.slice(row).indexOf(true);
  return { weeks: row + 1, ...(row === 0 && back > 0 && { back }) };
}

/** Returns whether a thing needed work in each of these weeks, latest first, as far as that is known without a long hole. */
function knownOf(before: readonly [monday: string, OpenWeek][], end: string, kind: Kind, id: string) {
  const known: boolean[] = [];
  let laterMs = Date.parse(end);
  for (const [monday, week] of before) {
    const isOpen = week[kind]?.includes(id);
    if (isOpen === undefined || (!isOpen && week.cut?.includes(kind))) continue;
    if (laterMs - Date.parse(monday) > MAX_APART_MS) break;
    laterMs = Date.parse(monday);
    known.push(isOpen);
  }
  return known;
}

/**
 * Returns the readers' figures of a digest, the things with the most events × weeks first, and how long they have needed
 * work. A weekly digest keeps the ids for the next ones. A week counts neither way without figures of a kind, or if its
 * list may lack the thing.
 */
export async function takeGaps(
  run: { teamId: string; project: string; kind: string; week?: string | undefined; range: DayRange },
  readers: ReaderFigures,
  { store: { figures }, now }: Pick<JobContext, 'store' | 'now'>,
) {
  const { week: period, range } = run;
  // A month has the weeks in a row up to its last one.
  const isMonth = period !== undefined && unitOf(period) === 'month';
  const end = isMonth ? range.to : range.from;
  const before: [string, OpenWeek][] = period === undefined ? [] : await figures.gapsBefore(run, end);
  const open: Record<string, string[]> = {};
  const gaps: z.infer<typeof gapsById> = {};
  const order = <T>(kind: Kind, all: readonly T[], thingOf: (one: T) => [name: string, events: number]) => {
    const weighed = all.map((one) => {
      const [name, events] = thingOf(one);
      const id = gapId(kind, name);
      const known = knownOf(before, end, kind, id);
      // The last week of a month is part of it.
      const gap = gapOf(!isMonth ? known : known[0] ? known.slice(1) : []);
      if (gap.weeks > 1 || gap.back) gaps[id] = gap;
      return { one, id, weight: events * gap.weeks };
    });
    open[kind] = weighed.map(({ id }) => id);
    if (readers.cut?.[kind]) open.cut = [...(open.cut ?? []), kind];
    return weighed.toSorted((one, other) => other.weight - one.weight).map(({ one }) => one);
  };
  const { searches, thumbs, questions } = readers;
  const ordered: ReaderFigures = { ...readers };
  if (searches)
    ordered.searches = order('searches', searches, ({ query, hits }) => [query, hits]).slice(0, MAX_LISTED);
  if (thumbs) {
    const bad = badThumbs(readers);
    const others = thumbs.filter((one) => !bad.includes(one));
    ordered.thumbs = [...order('thumbs', bad, ({ path, down }) => [path, down]), ...others];
  }
  if (questions?.topics) {
    const topics = order('questions', openTopics(readers), ({ name, unanswered }) => [name, unanswered]);
    ordered.questions = { ...questions, topics };
  }
  if (run.kind === 'weekly' && run.week !== undefined && Object.keys(open).length > 0)
    await figures.addGaps(run, run.range.from, open, now());
  return { readers: ordered, gaps };
}

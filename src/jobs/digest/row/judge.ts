import type { DayRange } from '../model.ts';
import { dayAt, overlap, rangeOf } from '../weeks.ts';

/** What is counted of a row: views of a page by people and by AI, its thumbs; a search, all and without a click; questions. */
export const MEASURES = ['human', 'ai', 'down', 'up', 'hits', 'unclicked', 'unanswered'] as const;
export type Measure = (typeof MEASURES)[number];

/** A whole week of a row, from its Monday. A measure that is missing is not known. `of` is the site's number of that kind. */
export interface RowWeek {
  from: string;
  numbers: Partial<Record<Measure, { count: number; of: number }>>;
}

/** A row before and since a merge: its rates a week. */
export interface Judged {
  before: number;
  after: number;
  verdict: 'better' | 'worse' | 'unclear' | 'unknown';
}

/** The measure that a kind of row is judged by. */
const MEASURE_OF = { page: 'human', thumbs: 'down', search: 'unclicked', questions: 'unanswered' } as const;

export type RowKind = keyof typeof MEASURE_OF;

/** The latest whole weeks before a merge that count. */
export const WEEKS_BEFORE = 4;

/** With fewer events before and since, a difference is chance. */
const MIN_EVENTS = 10;

/**
 * The difference, in standard deviations, from which a change is clear. Tuned on simulated noise: in test/jobs/digest/judge.test.ts,
 * it calls at most 5% of rows without a change better, and finds nine of ten rates of 20 a week that halve, in six weeks.
 */
const CLEAR = 1.8;

/** What weeks differ by themselves, as a share of their mean, and how many weeks of a row's own weigh as much as this guess. */
const USUAL_SPREAD = 0.1;
const GUESS_WEIGHT = 4;

/** A page that so many people a week read, and nobody in the last week, has probably moved: its numbers say nothing. */
const MIN_READ = 5;

const { PlainDate } = Temporal;

/** Returns the Monday of the week of a moment, in UTC. */
function mondayAt(ms: number): string {
  const day = dayAt(ms);
  return day.subtract({ days: day.dayOfWeek - 1 }).toString();
}

/** Returns how many weeks a week is after that of a merge; 0 for the week of the merge itself, less for those before. */
export const weeksAfter = (mergedAtMs: number, weekFrom: string): number =>
  Math.floor(PlainDate.from(mondayAt(mergedAtMs)).until(weekFrom, { largestUnit: 'day' }).days / 7);

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
const mean = (values: readonly number[]) => (values.length === 0 ? 0 : sum(values) / values.length);

/**
 * Compares the whole weeks before a merge with up to `until` weeks after it. The week of the merge counts on no side, nor
 * do the days that the row was `chosen` by: it is in a digest because it was bad then, and would get better by chance.
 * `others` are merges of other pull requests about the same subject: weeks before an earlier one, or after a later one, do
 * not count either. Of two in one week, nobody can say which it was, so both get the same numbers.
 *
 * A change is clear only if the rate a week and the share of the site's number both changed, in the same direction: in
 * holidays all rates fall. Square roots, and arc sines of shares, have a known variance; the spread of the row's own
 * weeks widens it.
 */
export function judge(
  row: {
    subject: { kind: RowKind };
    mergedAtMs: number;
    weeks: readonly RowWeek[];
    chosen?: DayRange | undefined;
  },
  until: number,
  others: readonly number[] = [],
): Judged {
  const { mergedAtMs, subject, chosen } = row;
  const measure = MEASURE_OF[subject.kind];
  const own = mondayAt(mergedAtMs);
  const isOthers = (from: string) =>
    others.map(mondayAt).some((other) => (other < own ? from <= other : other > own && from >= other));
  const weeks = row.weeks
    .filter(({ from }) => !isOthers(from) && !overlap(rangeOf(PlainDate.from(from), 7), chosen))
    .toSorted((one, other) => (one.from < other.from ? -1 : 1));
  const known = (one: Measure, weeks: readonly RowWeek[]) =>
    weeks.flatMap(({ numbers }) => numbers[one] ?? []);
  const isAfter = ({ from }: RowWeek) => {
    const place = weeksAfter(mergedAtMs, from);
    return place > 0 && place <= until;
  };
  const sides = [weeks.filter(({ from }) => from < own).slice(-WEEKS_BEFORE), weeks.filter(isAfter)] as const;
  const [before, after] = [known(measure, sides[0]), known(measure, sides[1])];
  const counts: Sides = [before.map(({ count }) => count), after.map(({ count }) => count)];
  const rates = { before: mean(counts[0]), after: mean(counts[1]) };
  if (before.length === 0 || after.length === 0 || isLost(known('human', sides[0]), known('human', sides[1])))
    return { ...rates, verdict: 'unknown' };
  if (sum(counts.flat()) < MIN_EVENTS) return { ...rates, verdict: 'unclear' };
  const spread = Math.sqrt(spreadOf(counts));
  const ofAll: [number, number] = [sum(before.map(({ of }) => of)), sum(after.map(({ of }) => of))];
  const [rate, share] = [rateChange(counts) / spread, shareChange(counts, ofAll) / spread];
  const way = Math.min(rate, share) > CLEAR ? 1 : Math.max(rate, share) < -CLEAR ? -1 : 0;
  if (way === 0) return { ...rates, verdict: 'unclear' };
  // More readers are welcome; of all else, less is better.
  return { ...rates, verdict: way > 0 === (measure === 'human') ? 'better' : 'worse' };
}

/** Whether a page was probably renamed, removed or mistyped, from its views by people. */
function isLost(before: readonly { count: number }[], after: readonly { count: number }[]): boolean {
  const views = before.map(({ count }) => count);
  const isUnread = [...before, ...after].every(({ count }) => count === 0);
  return views.length > 0 && (isUnread || (mean(views) >= MIN_READ && after.at(-1)?.count === 0));
}

/** Added to a count, it keeps the variance of a square root the same for few events (Anscombe). */
const FEW = 3 / 8;

type Sides = [before: number[], after: number[]];

/** The change of the rate a week, in standard deviations of independent events. */
function rateChange([before, after]: Sides): number {
  const root = (side: number[]) => Math.sqrt((sum(side) + FEW) / side.length);
  return (root(after) - root(before)) / (0.5 * Math.sqrt(1 / before.length + 1 / after.length));
}

/** The change of the share of the site's number, likewise; 0 if the site has none on a side. */
function shareChange([before, after]: Sides, [ofBefore, ofAfter]: [number, number]): number {
  if (ofBefore <= 0 || ofAfter <= 0) return 0;
  const arc = (side: number[], of: number) =>
    2 * Math.asin(Math.sqrt(Math.min(1, (sum(side) + FEW) / (of + 2 * FEW))));
  return (arc(after, ofAfter) - arc(before, ofBefore)) / Math.sqrt(1 / ofBefore + 1 / ofAfter);
}

/** The variance of the weeks, divided by that of independent events; at least 1. Few weeks say little, so a guess counts with them. */
function spreadOf(sides: Sides): number {
  const guess = 1 + USUAL_SPREAD ** 2 * mean(sides.flat());
  const found = sum(
    sides.map((side) => {
      const usual = mean(side);
      return usual === 0 ? 0 : sum(side.map((count) => (count - usual) ** 2)) / usual;
    }),
  );
  const weeks = sides.flat().length - sides.length;
  return Math.max(1, (GUESS_WEIGHT * guess + found) / (GUESS_WEIGHT + weeks));
}

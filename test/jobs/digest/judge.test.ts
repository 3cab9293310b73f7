import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Judged,
  judge,
  type Measure,
  type RowKind,
  type RowWeek,
  WEEKS_BEFORE,
  weeksAfter,
} from '../../../src/jobs/digest/row/judge.ts';
import { seeded } from '../../support/seeded.ts';

/** A Wednesday: its week, from Monday 2 November, is on no side. */
const MERGED_MS = Date.parse('2026-11-04T15:00:00Z');
const MEASURES: Record<RowKind, Measure> = {
  page: 'human',
  thumbs: 'down',
  search: 'unclicked',
  questions: 'unanswered',
};
const KINDS = Object.keys(MEASURES) as RowKind[];

/** The Monday that is so many weeks after that of the merge. */
const monday = (weeks: number) => Temporal.PlainDate.from('2026-11-02').add({ weeks }).toString();

type Random = () => number;

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Knuth's method: events until a time has passed. */
function poisson(mean: number, random: Random): number {
  if (mean > 60) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)));
  let [count, left] = [-1, mean];
  for (; left >= 0; count += 1) left += Math.log(1 - random());
  return count;
}

/** Marsaglia's and Tsang's method. */
function gamma(shape: number, random: Random): number {
  if (shape < 1) return gamma(shape + 1, random) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  for (;;) {
    const x = normal(random);
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Events of a week whose variance is `spread` times their mean: Poisson for 1. */
const events = (mean: number, spread: number, random: Random) =>
  poisson(spread <= 1 ? mean : gamma(mean / (spread - 1), random) * (spread - 1), random);

interface History {
  kind?: RowKind;
  rate: number;
  spread?: number;
  /** What the rate is multiplied by after the merge, and that of the whole site in some week. */
  effect?: number;
  season?: (week: number) => number;
  weeks?: number;
  before?: number;
  /** The share of the site's number, before the merge. */
  share?: number;
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);

/** Weeks before the merge, its week, and `weeks` after it. */
function weeksOf(history: History, random: Random): RowWeek[] {
  const { kind = 'search', rate, spread = 1, effect = 1, season = () => 1, weeks = 6, share = 0.1 } = history;
  const { before = WEEKS_BEFORE } = history;
  return Array.from({ length: before + 1 + weeks }, (_, at) => {
    const week = at - before;
    const count = events(rate * season(week) * (week > 0 ? effect : 1), spread, random);
    const of = count + events(rate * (1 / share - 1) * season(week), spread, random);
    return { from: monday(week), numbers: { [MEASURES[kind]]: { count, of } } };
  });
}

const judgeHistory = (history: History, random: Random, until = history.weeks ?? 6) =>
  judge(
    { subject: { kind: history.kind ?? 'search' }, mergedAtMs: MERGED_MS, weeks: weeksOf(history, random) },
    until,
  );

/** The share of histories with this verdict. */
function shareOf(verdict: Judged['verdict'], count: number, history: (n: number) => History, until?: number) {
  const random = seeded(20_261_104);
  const verdicts = Array.from({ length: count }, (_, n) => judgeHistory(history(n), random, until).verdict);
  return verdicts.filter((one) => one === verdict).length / count;
}

/** What noise there is: that of independent events, and weeks that differ more. Few and many events. */
const SPREADS = [1, 1.5, 2];
const RATES = [4, 8, 20, 60, 200];
const noise = (n: number, more: Partial<History> = {}): History => ({
  kind: KINDS[n % KINDS.length] ?? 'search',
  rate: RATES[n % RATES.length] ?? 20,
  spread: SPREADS[n % SPREADS.length] ?? 1,
  share: n % 2 === 0 ? 0.02 : 0.3,
  ...more,
});

describe('on simulated rows', () => {
  test.each([2, 6, 8])(
    'in %i weeks, at most one of 20 rows without a change got better, and at most one worse',
    (weeks) => {
      expect(shareOf('better', 2000, (n) => noise(n, { weeks }), weeks)).toBeLessThanOrEqual(0.05);
      expect(shareOf('worse', 2000, (n) => noise(n, { weeks }), weeks)).toBeLessThanOrEqual(0.05);
    },
  );

  test.each([
    ['the week before the merge', 1],
    ['the four weeks before it', 4],
  ])('also not of those that a digest chose because they were the worst of 20 in %s', (_, chosenWeeks) => {
    const random = seeded(20_261_104);
    const worst = Array.from({ length: 1000 }, (_, n) => {
      const rows = Array.from({ length: 20 }, () =>
        weeksOf({ rate: RATES[n % 4] ?? 20, spread: SPREADS[n % 3] ?? 1, before: 4 + chosenWeeks }, random),
      );
      const badness = (weeks: RowWeek[]) =>
        sum(weeks.slice(4, 4 + chosenWeeks).map(({ numbers }) => numbers.unclicked?.count ?? 0));
      return rows.reduce((one, other) => (badness(other) > badness(one) ? other : one));
    });
    const chosen = { from: monday(-chosenWeeks), to: monday(0) };
    const row = { subject: { kind: 'search' as const }, mergedAtMs: MERGED_MS, chosen };
    const better = (more: object) =>
      worst.filter((weeks) => judge({ ...row, weeks, ...more }, 6).verdict === 'better').length /
      worst.length;
    expect(better({})).toBeLessThanOrEqual(0.05);
    // Otherwise it would be worth nothing.
    expect(better({ chosen: undefined })).toBeGreaterThan(0.05);
  });

  test.each([
    ['of independent events', 1],
    ['of weeks that differ more', 1.5],
  ])('nine of ten rates of 20 a week that halve are found: %s', (_, spread) => {
    const halved: History = { rate: 20, spread, effect: 0.5, share: 0.05 };
    expect(shareOf('better', 1000, () => halved)).toBeGreaterThanOrEqual(0.9);
  });

  test('in two weeks most of them are found already, and of ten times as many events nearly all', () => {
    const halved = (rate: number): History => ({ rate, effect: 0.5, share: 0.05, weeks: 2 });
    expect(shareOf('better', 1000, () => halved(20))).toBeGreaterThanOrEqual(0.8);
    expect(shareOf('better', 1000, () => halved(200))).toBeGreaterThanOrEqual(0.99);
  });

  test('holidays, in which all rates fall to a third, are no change', () => {
    const holidays: History = { rate: 40, season: (week) => (week > 0 ? 1 / 3 : 1) };
    expect(shareOf('better', 2000, () => holidays)).toBeLessThanOrEqual(0.05);
    const noHolidays: History = { ...holidays, season: (week) => (week > 0 ? 1 : 1 / 3) };
    expect(shareOf('worse', 2000, () => noHolidays)).toBeLessThanOrEqual(0.05);
  });

  test('what doubles has got worse, and a page that twice as many people read has got better', () => {
    const doubled = (kind: RowKind): History => ({ kind, rate: 20, effect: 2, share: 0.05 });
    expect(shareOf('worse', 500, () => doubled('thumbs'))).toBeGreaterThanOrEqual(0.9);
    expect(shareOf('better', 500, () => doubled('page'))).toBeGreaterThanOrEqual(0.9);
  });
});

/** A second computation, by other formulas: exact tails for few events, and the normal distribution for many. */
function independent(before: number[], after: number[], ofBefore: number, ofAfter: number) {
  const logFactorial = (n: number) => {
    let log = 0;
    for (let i = 2; i <= n; i += 1) log += Math.log(i);
    return log;
  };
  const [b, a] = [sum(before), sum(after)];
  /** The deviation of `a` of `a + b` events, of which a share of `p` was to be expected. */
  const deviation = (p: number, n = a + b) => {
    if (n > 60) return (a - n * p) / Math.sqrt(n * p * (1 - p));
    let [below, at] = [0, 0];
    for (let k = 0; k <= a; k += 1) {
      at = Math.exp(
        logFactorial(n) - logFactorial(k) - logFactorial(n - k) + k * Math.log(p) + (n - k) * Math.log(1 - p),
      );
      below += at;
    }
    return quantile(Math.min(1 - 1e-15, Math.max(1e-15, below - at / 2)));
  };
  const usual = [before, after].map((side) => sum(side) / side.length);
  const own = [before, after].flatMap((side, at) =>
    side.map((count) => ((usual[at] ?? 0) > 0 ? (count - (usual[at] ?? 0)) ** 2 / (usual[at] ?? 1) : 0)),
  );
  const weeks = before.length + after.length;
  const spread = Math.max(1, (4 * (1 + (0.01 * (a + b)) / weeks) + sum(own)) / (4 + weeks - 2));
  const rate = deviation(after.length / weeks) / Math.sqrt(spread);
  const pooled = (a + b) / (ofBefore + ofAfter);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / ofBefore + 1 / ofAfter));
  const share = (a / ofAfter - b / ofBefore) / error / Math.sqrt(spread);
  return { rate, share };
}

/** The inverse of the normal distribution, by halving. */
function quantile(p: number): number {
  let [low, high] = [-9, 9];
  for (let round = 0; round < 60; round += 1) {
    const middle = (low + high) / 2;
    if (normalBelow(middle) < p) low = middle;
    else high = middle;
  }
  return low;
}

/** Abramowitz and Stegun, 7.1.26. */
function normalBelow(z: number): number {
  const t = 1 / (1 + (0.3275911 * Math.abs(z)) / Math.SQRT2);
  const poly =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const upper = 0.5 * poly * Math.exp((-z * z) / 2);
  return z > 0 ? 1 - upper : upper;
}

test('a second computation, by other formulas, finds the same, except near the limit', () => {
  let decided = 0;
  fc.assert(
    fc.property(
      fc.record({
        seed: fc.nat(),
        kind: fc.constantFrom(...KINDS),
        rate: fc.integer({ min: 1, max: 150 }),
        spread: fc.constantFrom(1, 1.5, 3),
        effect: fc.constantFrom(0, 0.3, 0.5, 1, 2, 4),
        share: fc.constantFrom(0.01, 0.1, 0.5),
        weeks: fc.integer({ min: 1, max: 8 }),
        until: fc.constantFrom(2, 6, 8),
        holidays: fc.boolean(),
      }),
      ({ seed, until, holidays, ...history }) => {
        const season = (week: number) => (holidays && week > 2 ? 0.4 : 1);
        const weeks = weeksOf({ ...history, season }, seeded(seed));
        const judged = judge({ subject: { kind: history.kind }, mergedAtMs: MERGED_MS, weeks }, until);
        const of = (first: number, last: number) =>
          weeks
            .slice(WEEKS_BEFORE + first, WEEKS_BEFORE + last + 1)
            .flatMap(({ numbers }) => numbers[MEASURES[history.kind]] ?? []);
        const [before, after] = [of(-4, -1), of(1, until)];
        const counts = [before, after].map((side) => side.map(({ count }) => count)) as [number[], number[]];
        expect(judged.before).toBeCloseTo(sum(counts[0]) / 4, 9);
        expect(judged.after).toBeCloseTo(sum(counts[1]) / after.length, 9);
        // A page that nobody reads any more is another matter.
        if (judged.verdict === 'unknown') return;
        if (sum(counts.flat()) < 10) {
          expect(judged.verdict).toBe('unclear');
          return;
        }
        const totals = [before, after].map((side) => sum(side.map((one) => one.of))) as [number, number];
        const { rate, share } = independent(...counts, ...totals);
        const least = Math.sign(rate) === Math.sign(share) ? Math.min(Math.abs(rate), Math.abs(share)) : 0;
        // Approximations differ most if a side has hardly any events.
        const near = Math.min(sum(counts[0]), sum(counts[1])) < 5 ? 2 : 1.3;
        if (least > 1.8 / near && least < 1.8 * near) return;
        decided += 1;
        const isMore = rate > 0;
        const changed = isMore === (history.kind === 'page') ? 'better' : 'worse';
        expect(judged.verdict).toBe(least > 1.8 ? changed : 'unclear');
      },
    ),
    { numRuns: 3000, seed: 44 },
  );
  expect(decided).toBeGreaterThan(2000);
});

describe('which weeks count', () => {
  const numbers = (count: number, human = 300): RowWeek['numbers'] => ({
    down: { count, of: 400 },
    human: { count: human, of: 9000 },
  });
  const row = (counts: Record<number, RowWeek['numbers']>, mergedAtMs = MERGED_MS) => ({
    subject: { kind: 'thumbs' as const },
    mergedAtMs,
    weeks: Object.entries(counts).map(([week, numbers]) => ({ from: monday(Number(week)), numbers })),
  });
  const usual = { [-4]: numbers(9), [-3]: numbers(9), [-2]: numbers(9), [-1]: numbers(9) };
  const since = { 1: numbers(1), 2: numbers(1), 3: numbers(1), 4: numbers(1), 5: numbers(1), 6: numbers(1) };

  test.each([
    ['2026-11-02T00:00:00Z', 0],
    ['2026-11-04T15:00:00Z', 0],
    ['2026-11-08T23:59:59Z', 0],
    ['2026-11-09T00:00:00Z', -1],
    ['2026-11-01T23:59:59Z', 1],
  ])('a merge at %s belongs to the week of its Monday', (merged, weeks) => {
    expect(weeksAfter(Date.parse(merged), '2026-11-02')).toBe(weeks);
  });

  test('four before the merge and those after it, not its own, which has both', () => {
    const judged = judge(
      row({ [-5]: numbers(500), ...usual, 0: numbers(900), ...since, 7: numbers(900) }),
      6,
    );
    expect(judged).toEqual({ before: 9, after: 1, verdict: 'better' });
    expect(judge(row({ ...usual, ...since }), 2)).toMatchObject({ after: 1 });
  });

  test('a week that is not known is left out, and is not 0', () => {
    const without = { ...usual, [-3]: {}, 1: {}, 2: numbers(9), 3: numbers(9), 4: numbers(9) };
    expect(judge(row(without), 6)).toMatchObject({ before: 9, after: 9, verdict: 'unclear' });
    expect(judge(row(usual), 6)).toMatchObject({ verdict: 'unknown' });
    expect(judge(row(since), 6)).toMatchObject({ verdict: 'unknown' });
  });

  test('the days that a row was chosen by count on no side, nor does a week that has one of them', () => {
    const weeks = { [-5]: numbers(5), ...usual, [-1]: numbers(90), ...since };
    const chosen = { from: monday(-1), to: monday(0) };
    expect(judge({ ...row(weeks), chosen }, 6)).toMatchObject({ before: 8, after: 1, verdict: 'better' });
    const day = { from: '2026-10-28', to: '2026-10-29' };
    expect(judge({ ...row(weeks), chosen: day }, 6)).toMatchObject({ before: 8 });
    const all = { from: '2026-09-01', to: '2026-11-01' };
    expect(judge({ ...row(weeks), chosen: all }, 6)).toMatchObject({ verdict: 'unknown' });
  });

  test('fewer than ten events are no change', () => {
    const few = { [-4]: numbers(3), [-3]: numbers(2), [-2]: numbers(2), [-1]: numbers(2), 1: numbers(0) };
    expect(judge(row({ ...few, 2: numbers(0) }), 2)).toMatchObject({ verdict: 'unclear' });
  });

  test('a page that nobody reads any more was renamed or removed: nothing is known of it', () => {
    const removed = { ...usual, 1: numbers(2), 2: numbers(0, 0), 3: numbers(0, 0) };
    expect(judge(row(removed), 6)).toMatchObject({ verdict: 'unknown' });
    const page = { ...row(removed), subject: { kind: 'page' as const } };
    expect(judge(page, 6)).toMatchObject({ verdict: 'unknown' });
    const mistyped = { [-2]: numbers(0, 0), [-1]: numbers(0, 0), 1: numbers(0, 0) };
    expect(judge(row(mistyped), 6)).toMatchObject({ verdict: 'unknown' });
    const few = Object.fromEntries([-4, -3, -2, -1, 1, 2].map((week) => [week, numbers(9, 1)]));
    expect(judge(row({ ...few, 3: numbers(9, 0) }), 6)).toMatchObject({ verdict: 'unclear' });
  });

  test('two merges on one page: no week counts for both', () => {
    const both = { ...usual, 1: numbers(1), 2: numbers(1), 3: numbers(900), 4: numbers(900) };
    const later = MERGED_MS + 21 * 86_400_000;
    expect(judge(row(both), 6, [later])).toMatchObject({ before: 9, after: 1, verdict: 'better' });
    const second = row({ ...both, 3: numbers(9), 4: numbers(2), 5: numbers(2) }, later);
    expect(judge(second, 6, [MERGED_MS])).toMatchObject({ before: 1, after: 2 });
    // Of two in one week nobody can say which it was: both get the same numbers.
    const alone = judge(row({ ...usual, ...since }), 6);
    expect(judge(row({ ...usual, ...since }), 6, [MERGED_MS + 86_400_000])).toEqual(alone);
  });
});

import type { Counts } from '../src/jobs/digest/model.ts';
import { alertsOf, alertsToPost, quietAfter, USUAL_DAYS } from '../src/jobs/digest/schedule/alerts.ts';
import type { Alert } from '../src/jobs/digest/schedule/record.ts';

/**
 * What the rule for unusual days tells in simulated years, beside the rule before it: alerts where nothing happened, and
 * the share of real changes that is told. `--years 400`: so many for each change.
 */
const at = process.argv.indexOf('--years');
const YEARS = at < 0 ? 200 : Number(process.argv[at + 1]);
if (!Number.isInteger(YEARS) || YEARS < 1) throw new Error('--years takes a whole number');

const YEAR = 365;
const FIRST_DAY = Temporal.PlainDate.from('2025-01-06');
const dateOf = (day: number) => FIRST_DAY.add({ days: day }).toString();

/** Random numbers by a seed (mulberry32), so that each run prints the same. */
function randomOf(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return { next, normal };
}

/** Views of a day, as logarithms: a level with a trend, a weekday, noise that goes on for days, and now and then a burst. */
interface Series {
  level: [from: number, to: number];
  trend: [from: number, to: number];
  weekdays: number[];
  noise: number;
  lasting: number;
  bursts: number;
}
const PEOPLE: Series = {
  level: [400, 3000],
  trend: [-0.2, 0.5],
  weekdays: [1.1, 1.15, 1.15, 1.1, 0.95, 0.5, 0.45],
  noise: 0.14,
  lasting: 0.4,
  bursts: 0.015,
};
const AI: Series = {
  level: [250, 1500],
  trend: [0, 1],
  weekdays: [1, 1, 1.05, 1, 1, 0.9, 0.9],
  noise: 0.18,
  lasting: 0.4,
  bursts: 0.015,
};

function simulate(series: Series, days: number, { next, normal }: ReturnType<typeof randomOf>): number[] {
  const between = ([from, to]: [number, number]) => from + (to - from) * next();
  const level = Math.exp(between([Math.log(series.level[0]), Math.log(series.level[1])]));
  const trend = between(series.trend);
  const share = Math.sqrt(1 - series.lasting ** 2);
  let noise = 0;
  return Array.from({ length: days }, (_, day) => {
    noise = series.lasting * noise + share * series.noise * normal();
    const burst = next() < series.bursts ? 0.5 * normal() : 0;
    const expected =
      level * (1 + (trend * day) / YEAR) * (series.weekdays[day % 7] ?? 1) * Math.exp(noise + burst);
    // Counting alone scatters as the root of the number.
    return Math.max(0, Math.round(expected + Math.sqrt(expected) * normal()));
  });
}

/** Returns what is told of a day, given it and the days before, the latest first. */
type Watch = (days: readonly Counts[], day: number) => Alert[];

function newRule(): Watch {
  let quiet: ReturnType<typeof quietAfter> = {};
  return (days, day) => {
    const due = alertsToPost(alertsOf(days), quiet, dateOf(day));
    if (due.length > 0) quiet = quietAfter(quiet, due, dateOf(day));
    return due;
  };
}

const middle = (values: number[]) => {
  const sorted = values.toSorted((one, other) => one - other);
  return ((sorted[3] ?? 0) + (sorted[4] ?? 0)) / 2;
};

/** The rule before: four median deviations of eight days and 30%, where 200 are usual, and one quiet week for both. */
function oldRule(): Watch {
  let quietUntil = 0;
  let zero: string[] = [];
  return (days, day) => {
    const alerts = (['human', 'ai'] as const).flatMap((by): Alert[] => {
      const known = days.flatMap((one, ago) => (ago > 0 && ago % 7 === 0 ? [one[by]] : []));
      const [now, usual] = [days[0]?.[by] ?? 0, middle(known)];
      const allowed = Math.max(4 * middle(known.map((views) => Math.abs(views - usual))), 0.3 * usual);
      return usual >= 200 && Math.abs(now - usual) > allowed ? [{ by, now, usual }] : [];
    });
    const none = alerts.filter(({ now }) => now === 0).map(({ by }) => by);
    const isQuiet = day < quietUntil && none.every((by) => zero.includes(by));
    if (alerts.length === 0 || isQuiet) return [];
    quietUntil = day + 7;
    zero = none;
    return alerts;
  };
}

/** What happens from a Monday on, and what has to be told since which day. */
interface Change {
  name: string;
  change: (views: Counts, day: number) => Counts;
  by: keyof Counts;
  up: boolean;
  since?: number;
}
const times = (views: Counts, by: keyof Counts, factor: number): Counts => ({
  ...views,
  [by]: Math.round(views[by] * factor),
});
const onDays = (first: number, change: (views: Counts) => Counts) => (views: Counts, day: number) =>
  day === first || day === first + 1 ? change(views) : views;
const CHANGES: Change[] = [
  { name: 'people -60%', by: 'human', up: false, change: onDays(0, (views) => times(views, 'human', 0.4)) },
  { name: 'people x5', by: 'human', up: true, change: onDays(0, (views) => times(views, 'human', 5)) },
  { name: 'AI x5', by: 'ai', up: true, change: onDays(0, (views) => times(views, 'ai', 5)) },
  { name: 'zero views', by: 'human', up: false, change: onDays(0, () => ({ human: 0, ai: 0 })) },
  { name: 'lasting people -35%', by: 'human', up: false, change: (views) => times(views, 'human', 0.65) },
  {
    name: 'AI +40% Mon, people -60% Wed',
    by: 'human',
    up: false,
    since: 2,
    change: (views, day) =>
      onDays(2, (one) => times(one, 'human', 0.4))(day === 0 ? times(views, 'ai', 1.4) : views, day),
  },
];

const simulated = (seed: number, days: number): Counts[] => {
  const random = randomOf(seed);
  const [human, ai] = [simulate(PEOPLE, days, random), simulate(AI, days, random)];
  return human.map((views, day) => ({ human: views, ai: ai[day] ?? 0 }));
};

/** Returns what is told on each day, from the first that has enough before it. */
function told(days: readonly Counts[], watch: Watch): { day: number; alerts: Alert[] }[] {
  const all: { day: number; alerts: Alert[] }[] = [];
  for (let day = USUAL_DAYS; day < days.length; day += 1) {
    const alerts = watch(days.slice(day - USUAL_DAYS, day + 1).toReversed(), day);
    if (alerts.length > 0) all.push({ day, alerts });
  }
  return all;
}

const falseAlerts = (rule: () => Watch) =>
  Array.from({ length: YEARS }, (_, seed) => told(simulated(seed, USUAL_DAYS + YEAR), rule()).length).reduce(
    (sum, one) => sum + one,
    0,
  ) / YEARS;

/** Returns after how many days each change was told; `Infinity`: it never was. */
function delays({ change, by, up, since = 0 }: Change, rule: () => Watch): number[] {
  return Array.from({ length: YEARS }, (_, seed) => {
    const start = USUAL_DAYS + 7 * (1 + (seed % 4));
    const days = simulated(10_000 + seed, start + 28).map((views, day) =>
      day < start ? views : change(views, day - start),
    );
    const first = told(days, rule()).find(
      ({ day, alerts }) =>
        day >= start + since && alerts.some((one) => one.by === by && one.now > one.usual === up),
    );
    return first === undefined ? Infinity : first.day - start - since;
  });
}

const row = (...cells: string[]) =>
  console.log(
    cells
      .map((cell, at) => cell.padEnd(at === 1 ? 32 : 8))
      .join('')
      .trimEnd(),
  );
const percent = (share: number) => `${Math.round(100 * share)}%`;

console.log(`${YEARS} simulated years; told within one day: on the morning after it.\n`);
const rules = [
  { name: 'old', rule: oldRule },
  { name: 'new', rule: newRule },
];
row('rule', 'false alerts a year');
for (const { name, rule } of rules) row(name, falseAlerts(rule).toFixed(1));
console.log('');
row('rule', 'real change', '1 day', '14 days');
for (const change of CHANGES)
  for (const { name, rule } of rules) {
    const after = delays(change, rule);
    const within = (days: number) => percent(after.filter((one) => one <= days).length / after.length);
    row(name, change.name, within(0), within(13));
  }

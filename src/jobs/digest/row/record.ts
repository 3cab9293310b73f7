import { z } from 'zod';
import { idOf } from '../../../store/keys.ts';
import { runBase } from '../../../store/runs.ts';
import { digestOrigin } from '../../agent/thread/record.ts';
import { FINAL_AFTER_MS } from '../../schedule/timetable.ts';
import { type DayRange, dayRange } from '../model.ts';
import { daysOf, finalAtMs, lastCompleteWeek, overlap, rangeOf } from '../weeks.ts';
import { type Judged, MEASURES, WEEKS_BEFORE } from './judge.ts';

const numbers = z.partialRecord(z.enum(MEASURES), z.object({ count: z.number(), of: z.number() }));
export type RowNumbers = z.infer<typeof numbers>;

/** What is asked for, each by requests of its own. All but `views` have the names of the readers' figures. */
const PARTS = ['views', 'feedback', 'searches', 'questions'] as const;
export type RowPart = (typeof PARTS)[number];

const PARTS_OF: Record<RowRun['subject']['kind'], RowPart[]> = {
  page: ['views', 'feedback'],
  thumbs: ['views', 'feedback'],
  search: ['searches'],
  questions: ['questions'],
};

/** A week that is being read. `cursor` is where a list goes on, `count` and `of` what it has had so far. */
const reading = z.object({
  from: z.string(),
  left: z.array(z.enum(PARTS)),
  numbers,
  requests: z.number().int(),
  failures: z.number().int(),
  retryMs: z.number().optional(),
  cursor: z.string().optional(),
  count: z.number(),
  of: z.number(),
  /** Click rates are in percent: one of them was above 1. */
  percent: z.boolean().optional(),
});
export type Reading = z.infer<typeof reading>;

/**
 * The numbers of the page, search or topic of one request to the agent, in whole weeks before and after the merge of its
 * pull request. Times are epoch milliseconds.
 */
export const rowRun = runBase.extend({
  job: z.literal('digest-row'),
  project: z.string(),
  /** The channel of its digest. */
  channel: z.string(),
  subject: digestOrigin.shape.subject,
  /** The run of the thread that has the request, and the id of that. */
  thread: z.string(),
  instruction: z.string(),
  askedAtMs: z.number(),
  /** The days by whose numbers somebody chose it. They are unusual, so they are not compared. */
  chosen: dayRange.optional(),
  /** Its pull request: the run that reads it, and its address. */
  pull: z.object({ run: z.string(), link: z.string() }).optional(),
  mergedAtMs: z.number().optional(),
  /** The weeks that were read. */
  weeks: z.array(z.object({ from: z.string(), numbers })),
  reading: reading.optional(),
  /** When its pull request is looked at next. */
  lookAtMs: z.number(),
  /** `asked` waits for the merge · `merged` counts the weeks since · `ended` has nothing more to say. */
  state: z.enum(['asked', 'merged', 'ended']),
});
export type RowRun = z.infer<typeof rowRun>;

export function newRow(
  wanted: Omit<RowRun, 'id' | 'job' | 'rev' | 'people' | 'weeks' | 'lookAtMs' | 'state'>,
  nowMs: number,
): RowRun {
  const id = idOf('digest-row', wanted.thread, wanted.instruction);
  const base = { id, job: 'digest-row' as const, rev: 1, people: [], permanent: true };
  return { ...base, ...wanted, weeks: [], lookAtMs: nowMs, state: 'asked' };
}

/** What the numbers of a row say, in the order of a list: what got worse, then what to ask about, comes first. */
export const VERDICTS = ['worse', 'unclear', 'better', 'unknown'] as const satisfies Judged['verdict'][];

/** What a digest says of a row: rates a week, before and since the merge of its pull request. */
export const sinceMerge = z.object({
  link: z.string(),
  mergedAtMs: z.number(),
  subject: digestOrigin.shape.subject,
  before: z.number(),
  after: z.number(),
  verdict: z.enum(VERDICTS),
});
export type SinceMerge = z.infer<typeof sinceMerge>;

/** Whether a digest is about a month. */
export const isMonthly = ({ range }: { range: DayRange }) => daysOf(range).length > 7;

const DAY_MS = 86_400_000;

/** Nobody may ever merge it. */
export const UNMERGED_MS = 90 * DAY_MS;
/** A monthly digest has it until its 13th whole week. The month may end six days after that, and its digest be two late. */
export const MERGED_MS = 107 * DAY_MS;

export const WEEKS_AFTER = 8;

/** No range of a digest lies in more weeks. */
const MAX_CHOSEN = 15;

/** Returns the whole weeks that a row needs and whose numbers no longer change, the latest first. */
function wantedWeeks({ mergedAtMs, chosen }: Pick<RowRun, 'mergedAtMs' | 'chosen'>, nowMs: number) {
  const last = lastCompleteWeek(mergedAtMs ?? nowMs - FINAL_AFTER_MS).range;
  // The week of the merge, which has the place 1, is neither before nor after it.
  const after = mergedAtMs === undefined ? [] : Array.from({ length: WEEKS_AFTER }, (_, place) => 2 + place);
  const before = Array.from({ length: WEEKS_BEFORE + MAX_CHOSEN }, (_, place) => -place);
  const monday = Temporal.PlainDate.from(last.from);
  const weekAt = (weeks: number) => rangeOf(monday.add({ weeks }), 7);
  const compared = before.map(weekAt).filter((week) => !overlap(week, chosen));
  return [...after.toReversed().map(weekAt), ...compared.slice(0, WEEKS_BEFORE)].filter(
    (week) => finalAtMs(week) <= nowMs,
  );
}

/** Returns the week that is read next, the latest that is missing. Without a pull request, the first ones are enough. */
export function nextReading({ subject, weeks, reading: begun, pull, ...run }: RowRun, nowMs: number) {
  if (pull === undefined && weeks.length >= WEEKS_BEFORE) return undefined;
  const week = wantedWeeks(run, nowMs).find(({ from }) => !weeks.some((one) => one.from === from));
  if (week === undefined || week.from === begun?.from) return week && begun && { week, reading: begun };
  return { week, reading: newReading(subject, week) };
}

export function newReading({ kind }: RowRun['subject'], { from }: Pick<DayRange, 'from'>): Reading {
  const none = { numbers: {}, requests: 0, failures: 0, count: 0, of: 0 };
  return { from, left: PARTS_OF[kind], ...none };
}

/** Returns the week without further requests for the part that is read, with what is known of it. */
export const finishPart = ({ cursor, count, of, ...rest }: Reading, known: RowNumbers = {}): Reading => ({
  ...rest,
  left: rest.left.slice(1),
  numbers: { ...rest.numbers, ...known },
  count: 0,
  of: 0,
});

import type { JobContext } from '../../engine/context.ts';
import { pageKey } from '../edition/phrases.ts';
import type { EditionRun } from '../edition/record.ts';
import { lastCompleteWeek } from '../weeks.ts';
import { judge, weeksAfter } from './judge.ts';
import { isMonthly, type RowRun, rowRun, type SinceMerge, VERDICTS, WEEKS_AFTER } from './record.ts';

type Context = Pick<JobContext, 'store' | 'now'>;
type Merged = RowRun & { pull: NonNullable<RowRun['pull']>; mergedAtMs: number };

const isMerged = (row: RowRun): row is Merged => row.pull !== undefined && row.mergedAtMs !== undefined;

/** Whole weeks after the merge at which a weekly digest has a line, and up to which a monthly one has a row. */
const WEEKLY = [2, 6];
const MAX_WEEKS = 13;

/** A message has no room for more. */
const MAX_SINCE = 10;

/** Returns the rows that a digest shows, with their last week, and all merged ones of its project. */
async function loadDue(run: EditionRun, { store: { runs } }: Context) {
  if (run.kind === 'asked') return { merged: [], due: [] };
  const rows = await runs.activeOf(rowRun, 'digest-row', run.teamId);
  const merged = rows.filter(isMerged).filter(({ project }) => project === run.project);
  const last = lastCompleteWeek(Date.parse(run.range.to)).range;
  const due = merged.flatMap((row) => {
    const weeks = weeksAfter(row.mergedAtMs, last.from);
    const isDue = isMonthly(run) ? weeks >= 2 && weeks <= MAX_WEEKS : WEEKLY.includes(weeks);
    return isDue && row.channel === run.channel ? [{ row, weeks: Math.min(weeks, WEEKS_AFTER), last }] : [];
  });
  return { merged, due };
}

/** How long a digest waits for numbers of its last week. */
const MAX_WAIT_MS = 20 * 60_000;

/** Whether a scheduled digest waits for a row that still reads the digest's last week, and does so in time. */
export async function awaitsRows(run: EditionRun, context: Context): Promise<boolean> {
  const untilMs = run.dueAtMs + MAX_WAIT_MS;
  if (run.kind === 'preview' || context.now() >= untilMs) return false;
  const { due } = await loadDue(run, context);
  return due.some(
    ({ row: { mergedAtMs, weeks, reading }, last }) =>
      weeksAfter(mergedAtMs, last.from) <= WEEKS_AFTER &&
      !weeks.some(({ from }) => from === last.from) &&
      (reading?.retryMs ?? 0) < untilMs,
  );
}

/** Returns what a row is about: views and thumbs of a page are one subject. */
const aboutOf = ({ subject: { kind, name } }: Pick<RowRun, 'subject'>) =>
  kind === 'page' || kind === 'thumbs' ? `page ${pageKey(name)}` : `${kind} ${name}`;

/** Returns what the numbers say since the merges of earlier requests, what got worse first, and how much is left out. */
export async function loadSince(
  run: EditionRun,
  context: Context,
): Promise<Pick<EditionRun, 'since' | 'sinceMore'>> {
  const { merged, due } = await loadDue(run, context);
  const all = due.map(({ row, weeks }): SinceMerge => {
    const { subject, mergedAtMs, pull } = row;
    const others = merged.filter((one) => aboutOf(one) === aboutOf(row) && one.pull.link !== pull.link);
    const merges = others.map((one) => one.mergedAtMs);
    const { before, after, verdict } = judge(row, weeks, merges);
    return { link: pull.link, mergedAtMs, subject, before, after, verdict };
  });
  // Two people may have asked for the same.
  const distinct = new Map(all.map((one) => [`${one.link} ${one.subject.kind} ${aboutOf(one)}`, one]));
  const since = [...distinct.values()].toSorted(
    (one, other) =>
      VERDICTS.indexOf(one.verdict) - VERDICTS.indexOf(other.verdict) || other.mergedAtMs - one.mergedAtMs,
  );
  if (since.length === 0) return {};
  const more = since.length - MAX_SINCE;
  return { since: since.slice(0, MAX_SINCE), ...(more > 0 && { sinceMore: more }) };
}

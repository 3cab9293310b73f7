import { idOf } from '../../../store/keys.ts';
import { type RunRequest, requestRunId } from '../../request.ts';
import { type FiguresRun, newFiguresRun } from '../figures/record.ts';
import type { DayRange, Section } from '../model.ts';
import type { ScheduleRun } from '../schedule/record.ts';
import { timetableText } from '../schedule-times.ts';
import { isWeek, spansOf, type Week, weekBefore, weekNameOf } from '../weeks.ts';
import { type EditionRun, weeklyId } from './record.ts';

/** Maximum requests for the dates of a person's request and the range before, together. */
const ASKED_REQUESTS = 20;

/** Returns the requests for the range before, one of them for its totals: fewer if the range itself takes many. */
const askedBeforeRequests = (parts: number) => (parts > 7 ? 3 : 5);

/** A digest and the figures it needs, which are accepted first. */
export interface PlannedEdition {
  edition: EditionRun;
  figures: FiguresRun[];
}

/** Returns the figures of a week, then those of the week before. */
export function weeklyFigures(
  { teamId, project, sections }: Pick<ScheduleRun, 'teamId' | 'project' | 'sections'>,
  { range }: Week,
  nowMs: number,
): [FiguresRun, FiguresRun] {
  const wanted = {
    teamId,
    project,
    urgent: false,
    by: undefined,
    maxRequests: undefined,
    // Needed also if only the file lists them.
    pages: sections.includes('pages') || sections.includes('csv'),
    readers: sections.includes('readers'),
  };
  const before = weekBefore(range);
  return [
    newFiguresRun({ ...wanted, range, spans: spansOf(range) }, nowMs),
    newFiguresRun({ ...wanted, range: before, spans: spansOf(before) }, nowMs),
  ];
}

/** Returns the digest of a week. */
export function planWeekly(
  { schedule, week, dueAtMs, late }: { schedule: ScheduleRun; week: Week; dueAtMs: number; late: boolean },
  nowMs: number,
): PlannedEdition {
  const { teamId, channel, project, site, owner, sections } = schedule;
  const [figures, before] = weeklyFigures(schedule, week, nowMs);
  const edition: EditionRun = {
    ...newEdition({ teamId, channel, project, site, owner, sections }, week.range, [figures, before], nowMs),
    id: weeklyId(teamId, channel, project, week.name),
    kind: 'weekly',
    schedule: schedule.id,
    timetable: timetableText(schedule.timetable),
    week: week.name,
    dueAtMs,
    ...(late && { late }),
  };
  return { edition, figures: [figures, before] };
}

/** Returns a digest of typed dates, or a preview of the next weekly one for one person. */
export function planAsked(
  asked: {
    request: RunRequest;
    project: string;
    site: string;
    channel: string;
    range: DayRange;
    kind: 'asked' | 'preview';
    inDirectMessage?: boolean;
    today?: EditionRun['today'];
    sections: Section[];
  },
  nowMs: number,
): PlannedEdition {
  const { request, project, site, channel, range, kind, inDirectMessage, today, sections } = asked;
  const { teamId, user } = request;
  const wanted = { teamId, project, urgent: true, by: user.id, pages: sections.includes('pages') };
  const before = weekBefore(range);
  const readers = sections.includes('readers');
  const spans = spansOf(range);
  const beforeRequests = askedBeforeRequests(spans.length);
  const figures = newFiguresRun(
    { ...wanted, readers, range, spans, maxRequests: ASKED_REQUESTS - beforeRequests },
    nowMs,
  );
  const earlier = newFiguresRun(
    { ...wanted, readers: false, range: before, spans: [before], maxRequests: beforeRequests },
    nowMs,
  );
  const owner = { id: user.id, name: user.name };
  const edition: EditionRun = {
    ...newEdition({ teamId, channel, project, site, owner, sections }, range, [figures, earlier], nowMs),
    id: idOf('digest', requestRunId(request)),
    kind,
    ...(inDirectMessage && { inDirectMessage }),
    ...(today && { today }),
    ...(isWeek(range) && { week: weekNameOf(range) }),
    people: [],
  };
  return { edition, figures: today === 'soFar' ? [figures] : [figures, earlier] };
}

function newEdition(
  of: Pick<EditionRun, 'teamId' | 'channel' | 'project' | 'site' | 'owner' | 'sections'>,
  range: DayRange,
  [figures, before]: [FiguresRun, FiguresRun],
  nowMs: number,
): EditionRun {
  return {
    ...of,
    id: '',
    job: 'digest',
    rev: 1,
    people: [],
    kind: 'asked',
    range,
    before: before.range,
    figures: figures.id,
    figuresBefore: before.id,
    dueAtMs: nowMs,
    state: 'collecting',
    sinceMs: nowMs,
    spans: [],
    followUps: [],
    chart: 'none',
  };
}

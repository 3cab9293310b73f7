import { moment, type Part } from '../../slack/blocks.ts';
import { countOf, formatCount } from '../../slack/text.ts';
import type { Indexed } from '../../store/runs.ts';
import { defineHomeRuns, type Feature, type RunNeeds } from '../shared/feature.ts';
import { statusLine } from '../shared/wording-view.ts';
import type { Schedule, ScheduleKind } from './record.ts';
import type { ScheduleViews } from './view.ts';

/** Returns the lines about schedules on Home and in `/docs-status`. */
export function scheduleFeature<Run extends Schedule>(parts: {
  kind: ScheduleKind<Run>;
  views: ScheduleViews<Run>;
  /** The title of the list on Home, and that of the line in the status. */
  title: string;
  statusTitle: string;
  /** The first words of its line on Home. */
  label: (run: Run) => string;
  needs?: RunNeeds<Run>;
  /** If there is no schedule, whether the status has a line about that. */
  isUsual?: boolean;
}): Required<Pick<Feature, 'homeRuns' | 'status'>> {
  const { kind, views, title, statusTitle, label, needs, isUsual } = parts;
  return {
    homeRuns: defineHomeRuns<Run>({
      title,
      ...kind,
      ...(needs && { needs }),
      // A person's request expires; their schedule does not.
      further: async (teamId, userId, { runs }) =>
        (await runs.indexed<Run>(kind.job, teamId)).flatMap(({ id, owner }) =>
          owner.id === userId ? [id] : [],
        ),
      entry: (run, userId) =>
        run.owner.id !== userId || run.state === 'removed'
          ? undefined
          : { line: async () => [`${label(run)} · `, ...views.line(run, userId)] },
    }),
    status: {
      async lines(teamId, _, { runs }) {
        const schedules: Indexed<Schedule>[] = await runs.indexed<Run>(kind.job, teamId);
        if (schedules.length === 0 && !isUsual) return [];
        return [statusLine(statusTitle, ...countParts(views, schedules))];
      },
      unknown: [statusLine(statusTitle, "can't be read right now")],
    },
  };
}

/** The number of schedules and the next due time. No names, since not everybody may see all schedules. */
function countParts(
  { what: whatOf, short }: Pick<ScheduleViews<Schedule>, 'what' | 'short'>,
  schedules: readonly Indexed<Schedule>[],
): Part[] {
  if (schedules.length === 0) return ['Nothing is scheduled.'];
  const paused = schedules.filter(({ state }) => state === 'paused').length;
  const due = schedules.filter(({ state, timetable }) => state === 'active' && !timetable.afterUpdates);
  const [what = short, ...others] = new Set(schedules.map(whatOf));
  const all = countOf(schedules.length, others.length > 0 ? short : what);
  const next: Part[] =
    due.length > 0 ? [', next ', moment(Math.min(...due.map(({ nextAtMs }) => nextAtMs)))] : [];
  return [all, ...next, ...(paused > 0 ? [`, ${formatCount(paused)} paused`] : [])];
}

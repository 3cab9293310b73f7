import { keyIdOf } from '../../docs-api/client.ts';
import { type Project, projectsWithId } from '../../projects.ts';
import { moment, type Part } from '../../slack/blocks.ts';
import { countOf, formatCount } from '../../slack/text.ts';
import { defineHomeRuns, type Feature } from '../feature.ts';
import { hourlyLimit, statusLine } from '../wording-view.ts';
import { setUpButton } from './buttons.ts';
import { editionRun } from './edition/record.ts';
import { analyticsLimit } from './figures/job.ts';
import { type ScheduleRun, scheduleKind, schedulesOf } from './schedule/record.ts';
import { scheduleLine, scheduleNeeds } from './schedule/view.ts';

export const digestFeature: Feature = {
  command: '/docs-digest',
  permission: { name: 'digest', may: 'Set up digests, and ask for them', cannot: 'set up digests' },

  homeRuns: defineHomeRuns<ScheduleRun>({
    job: 'digest-schedule',
    title: 'Scheduled',
    ...scheduleKind,
    needs: scheduleNeeds,
    // A person's request expires; their schedule does not.
    lasting: async (teamId, userId, { runs }) =>
      (await schedulesOf(teamId, runs)).flatMap(({ id, owner }) => (owner.id === userId ? [id] : [])),
    entry: (run, userId) =>
      run.owner.id !== userId || run.state === 'removed'
        ? undefined
        : { line: async () => ['Weekly digest · ', ...scheduleLine(run, userId)] },
  }),

  async needsKey(teamId, projects, { runs }) {
    const active = await runs.activeOf(editionRun, 'digest');
    const waits = active.filter(
      (run) => run.teamId === teamId && projects.includes(run.project) && run.state === 'collecting',
    );
    return { count: waits.length, what: 'digest' };
  },

  begin: {
    button: setUpButton,
    how: 'Set up a digest: a weekly post on how people and AI read your docs.',
  },

  /** Projects of one organization, or with one key, share a limit. */
  limits(_, { projects, limits }) {
    const perHour = limits.analyticsPerHour;
    const limitOf = (one: Project) => analyticsLimit(one.organization, keyIdOf(one), perHour);
    const byBudget = Map.groupBy(projectsWithId(projects), (project) => limitOf(project).name);
    return [...byBudget.values()].flatMap((sharing) => {
      const [limit] = sharing.map(limitOf);
      if (limit === undefined) return [];
      const whose = (names: string[]) => (byBudget.size > 1 ? ` for ${names.join(', ')}` : '');
      const names = sharing.map(({ name }) => name);
      const short = `requests for numbers${whose(names.slice(0, 1))}`;
      return hourlyLimit(limit, `analytics requests${whose(names)}`, short);
    });
  },

  status: {
    async lines(teamId, _, { runs }) {
      return [statusLine('Schedules', ...scheduleParts(await schedulesOf(teamId, runs)))];
    },
    unknown: [statusLine('Schedules', "can't be read right now")],
  },
};

/** The number of schedules and the next due time. No names, since not everybody may see all schedules. */
function scheduleParts(schedules: readonly ScheduleRun[]): Part[] {
  if (schedules.length === 0) return ['Nothing is scheduled.'];
  const paused = schedules.filter(({ state }) => state === 'paused').length;
  const due = schedules.filter(({ state }) => state === 'active').map(({ nextAtMs }) => nextAtMs);
  const all = countOf(schedules.length, 'weekly digest');
  const next: Part[] = due.length > 0 ? [', next ', moment(Math.min(...due))] : [];
  return [all, ...next, ...(paused > 0 ? [`, ${formatCount(paused)} paused`] : [])];
}

import { type Project, projectsWithId } from '../../projects.ts';
import { upperFirst } from '../../slack/text.ts';
import { scheduleFeature } from '../schedule/feature.ts';
import type { Feature } from '../shared/feature.ts';
import { hourlyLimit } from '../shared/wording-view.ts';
import { setUpButton } from './buttons.ts';
import { editionRun } from './edition/record.ts';
import { analyticsLimit } from './figures/job.ts';
import { type ScheduleRun, scheduleKind } from './schedule/record.ts';
import { scheduleNeeds, scheduleNotes } from './schedule/view.ts';

export const digestFeature: Feature = {
  permission: { name: 'digest', cannot: 'set up digests' },

  ...scheduleFeature<ScheduleRun>({
    kind: scheduleKind,
    views: scheduleNotes,
    title: 'Scheduled',
    statusTitle: 'Schedules',
    label: (run) => upperFirst(scheduleNotes.what(run)),
    needs: scheduleNeeds,
    isUsual: true,
  }),

  async needsKey(teamId, projects, { runs }) {
    const active = await runs.activeOf(editionRun, 'digest', teamId);
    const waits = active.filter((run) => projects.includes(run.project) && run.state === 'collecting');
    return { count: waits.length, what: 'digest' };
  },

  begin: {
    button: setUpButton,
    how: 'Set up a digest: a weekly or monthly post on how people and AI read your docs.',
  },

  /** Projects of one organization, or with one key, share a limit. */
  limits(_, { projects, limits }) {
    const limitOf = (one: Project) => analyticsLimit(one, limits.analyticsPerHour);
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
};

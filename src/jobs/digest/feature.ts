import { keyIdOf } from '../../docs-api/client.ts';
import { projectsWithId } from '../../projects.ts';
import type { Part } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import { defineHomeRuns, type Feature, type FeatureContext } from '../feature.ts';
import { hourlyUsageText, leftText, MAX_LEFT, statusLine } from '../wording-view.ts';
import { setUpButton } from './buttons.ts';
import { editionRun } from './edition/record.ts';
import { analyticsBudget, analyticsLimit } from './figures/job.ts';
import { type ScheduleRun, scheduleKind, scheduleRun } from './schedule/record.ts';
import { scheduleLine, scheduleNeeds } from './schedule/view.ts';

/**
 * Returns the usage of each hourly limit, and the projects that share it; no names if all do. Projects of one
 * organization, or with one key, share a limit.
 */
async function loadBudgets({ projects, limits, rateLimiter }: FeatureContext, max = Infinity) {
  const byBudget = Map.groupBy(projectsWithId(projects), (project) =>
    analyticsBudget(project.organization, keyIdOf(project)),
  );
  return Promise.all(
    [...byBudget].slice(0, max).map(async ([budget, sharing]) => ({
      usage: await rateLimiter.usage(analyticsLimit(budget, limits.analyticsPerHour)),
      names: byBudget.size > 1 ? sharing.map(({ name }) => name) : [],
    })),
  );
}

export const digestFeature: Feature = {
  command: '/docs-digest',
  permission: { name: 'digest', may: 'Set up digests, and ask for them', cannot: 'set up digests' },

  homeRuns: defineHomeRuns<ScheduleRun>({
    job: 'digest-schedule',
    title: 'Scheduled',
    ...scheduleKind,
    needs: scheduleNeeds,
    // A person's request expires; their schedule does not.
    lasting: async (teamId, userId, context) =>
      (await loadSchedules(teamId, context)).flatMap(({ id, owner }) => (owner.id === userId ? [id] : [])),
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

  async left(context) {
    const perHour = context.limits.analyticsPerHour;
    return (await loadBudgets(context, MAX_LEFT)).map(({ usage, names: [first] }) =>
      leftText(usage, perHour, `requests for numbers${first === undefined ? '' : ` for ${first}`}`),
    );
  },

  async limits(_, context) {
    const perHour = context.limits.analyticsPerHour;
    return (await loadBudgets(context)).map(({ usage, names }) => {
      const where = names.length > 0 ? ` for ${names.join(', ')}` : '';
      return {
        text: `analytics requests${where}: ${hourlyUsageText(usage, perHour)}`,
        waiting: usage?.waiting ?? 0,
      };
    });
  },

  status: {
    async lines(teamId, _, context) {
      return [statusLine('Schedules', ...scheduleParts(await loadSchedules(teamId, context)))];
    },
    unknown: [statusLine('Schedules', "can't be read right now")],
  },
};

async function loadSchedules(teamId: string, { runs }: Pick<FeatureContext, 'runs'>): Promise<ScheduleRun[]> {
  const active = await runs.activeOf(scheduleRun, 'digest-schedule');
  return active.filter((run) => run.teamId === teamId && run.state !== 'removed');
}

/** The number of schedules and the next due time. No names, since not everybody may see all schedules. */
function scheduleParts(schedules: readonly ScheduleRun[]): Part[] {
  if (schedules.length === 0) return ['Nothing is scheduled.'];
  const paused = schedules.filter(({ state }) => state === 'paused').length;
  const due = schedules.filter(({ state }) => state === 'active').map(({ nextAtMs }) => nextAtMs);
  const count = `${formatCount(schedules.length)} weekly ${schedules.length === 1 ? 'digest' : 'digests'}`;
  const next: Part[] =
    due.length > 0 ? [', next ', { time: Math.min(...due), format: '{date_short_pretty} {time}' }] : [];
  return [count, ...next, ...(paused > 0 ? [`, ${formatCount(paused)} paused`] : [])];
}

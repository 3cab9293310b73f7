import { editionRun } from '../../../src/jobs/digest/edition/record.ts';
import { figuresRun } from '../../../src/jobs/digest/figures/record.ts';
import { newSchedule, type ScheduleRun, scheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import type { Project } from '../../../src/projects.ts';
import { NOW_MS } from '../builders.ts';
import { aSchedule } from '../jobs/digest/builders.ts';
import { aProject } from './builders.ts';
import { type CommandWorld, onFreshWorlds } from './world.ts';

/** Projects whose numbers can be read. */
export const acmeDocs = aProject({ name: 'acme', projectId: 'prj_1', domains: ['docs.acme.com'] });
export const betaDocs = aProject({
  name: 'beta',
  projectId: 'prj_2',
  domains: ['docs.beta.io'],
  apiKey: 'adm_2',
  channels: ['C0BETA'],
});

/** A week before now, which is a Sunday. */
export const WEEK = '2026-W37';

/**
 * Hands a new world with these projects to `take` before each test of a file. Returns what is kept of digests in the
 * newest.
 */
export function onDigestWorlds(projects: Project[], take: (world: CommandWorld) => void) {
  let world: CommandWorld;
  onFreshWorlds(
    (fresh) => {
      world = fresh;
      take(fresh);
    },
    { projects },
  );
  return {
    schedules: () => world.runs.activeOf(scheduleRun, 'digest-schedule'),
    editions: () => world.runs.activeOf(editionRun, 'digest'),
    figures: () => world.runs.activeOf(figuresRun, 'digest-figures'),
    /** A schedule that has its claim. */
    scheduled(changes: Partial<ScheduleRun> = {}): Promise<ScheduleRun> {
      const schedule = aSchedule(changes);
      const user = { ...schedule.owner, fullMember: true };
      const { claim } = newSchedule(schedule, { teamId: schedule.teamId, requestId: '', user }, NOW_MS);
      return world.given({ ...schedule, claim });
    },
    /** How it is kept now. */
    latest: ({ id }: Pick<ScheduleRun, 'id'>) => world.runs.load(id, scheduleRun),
  };
}

import { type ScheduleRun, scheduleKind, schedulesOf } from '../../jobs/digest/schedule/record.ts';
import { changedMessage, scheduleButtons, scheduleEntry } from '../../jobs/digest/schedule/view.ts';
import { unknownProjectText } from '../../jobs/wording-view.ts';
import { defaultDomain, type Project, resolveProject } from '../../projects.ts';
import { message } from '../../slack/blocks.ts';
import { agentProjects } from '../agent/follow.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import { scheduleCommands } from '../schedule.ts';

export const digestSchedules = scheduleCommands<ScheduleRun>({
  ...{ kind: scheduleKind, schedulesOf },
  views: { entry: scheduleEntry, changed: changedMessage, buttons: scheduleButtons },
  ...{ create: '/docs-digest create', list: '/docs-digest list' },
  ...{ what: 'weekly digest', short: 'digest' },
  more: 'name the project to find them',
  trouble: 'it cannot be posted',
});

/** Returns the schedules that this person may see, of a typed project. */
export function findSchedules(typed: string | undefined, caller: Caller, tools: CommandTools) {
  const [named] = typed === undefined ? [] : digestProjects(typed, caller.channel.id, tools);
  return digestSchedules.find(caller, tools, ({ project }) => named === undefined || project === named.name);
}

/** Returns the named project, else the channel's, else all with numbers. Throws a `UserFacingError` if there is none. */
export function digestProjects(
  named: string | undefined,
  channel: string,
  { projects }: Pick<CommandTools, 'projects'>,
): Project[] {
  // Analytics, like agents, need the project's id.
  const known = agentProjects(projects);
  const resolved = resolveProject(known, { named, channel });
  if (resolved.kind === 'project') return [resolved.project];
  if (resolved.kind === 'ambiguous') return resolved.among;
  throw new UserFacingError(message([unknownProjectText(named ?? '', resolved.known)]));
}

/** The subject of a project's digest, for display. */
export function siteOf(
  { name, domains }: Project,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
) {
  const domain = defaultDomain(projects, { named: name, channel: '' }, docsDomain);
  // The environment's project has a name that nobody chose.
  return domain ?? (domains === undefined ? 'your docs' : name);
}

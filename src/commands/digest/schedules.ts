import { type ScheduleRun, scheduleKind, schedulesOf } from '../../jobs/digest/schedule/record.ts';
import { scheduleEntry } from '../../jobs/digest/schedule/view.ts';
import { filterVisible } from '../../jobs/visibility.ts';
import { unknownProjectText } from '../../jobs/wording-view.ts';
import { defaultDomain, type Project, resolveProject } from '../../projects.ts';
import { compose, type Message, message } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import { agentProjects } from '../agent/follow.ts';
import { type Caller, type CommandTools, retryStale, UserFacingError } from '../intake.ts';

/** More do not help, and each takes three of a message's 50 blocks; the rest is counted. */
const MAX_LISTED = 15;

const create = { code: '/docs-digest create' };

/** Returns the schedules that this person may see, of a typed project: this channel's first, then by due time. */
export async function findSchedules(
  typed: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<ScheduleRun[]> {
  const { channel, teamId } = caller;
  const [named] = typed === undefined ? [] : digestProjects(typed, channel.id, tools);
  const all = await tools.intake.read(caller, ({ runs }) => schedulesOf(teamId, runs));
  const wanted = all.filter(({ project }) => named === undefined || project === named.name);
  const visible = await filterVisible(wanted, scheduleKind.visible, caller, tools.isPublic);
  const isElsewhere = (run: ScheduleRun) => Number(run.channel !== channel.id);
  return visible.toSorted(
    (one, other) => isElsewhere(one) - isElsewhere(other) || one.nextAtMs - other.nextAtMs,
  );
}

/** Returns a list of schedules with their actions. */
export function scheduleList(schedules: readonly ScheduleRun[], { user }: Caller): Message {
  if (schedules.length === 0)
    return message([['There are no scheduled digests that you can see here. Set one up with ', create, '.']]);
  const listed = schedules.slice(0, MAX_LISTED);
  const rest = schedules.length - listed.length;
  return compose([
    ...listed.map((run) => scheduleEntry(run, user.id)),
    ...(rest > 0 ? [message([`and ${formatCount(rest)} more; name the project to find them.`])] : []),
  ]);
}

/** Returns the schedule of a button. Rejects with `UserFacingError` if this person has none there. */
export async function loadSchedule(
  id: string,
  caller: Caller,
  { intake }: CommandTools,
): Promise<ScheduleRun> {
  const removed = message([['This digest was already removed. ', create, ' sets one up.']]);
  const schedule = await intake.loadVisible(id, scheduleKind, caller, removed);
  if (schedule.state === 'removed') throw new UserFacingError(removed);
  return schedule;
}

/**
 * Saves a schedule after a person's change, with `result` in the audit log. Returns it `before` and `after` the change.
 * If `change` returns undefined, nothing is saved. With a `responseUrl`, later answers go to this person.
 */
export async function saveSchedule(
  id: string,
  caller: Caller,
  tools: CommandTools,
  change: (schedule: ScheduleRun) => ScheduleRun | undefined,
  result: string,
  responseUrl?: string,
): Promise<{ before: ScheduleRun; after: ScheduleRun | undefined }> {
  const saved = await retryStale('digest', async () => {
    const before = await loadSchedule(id, caller, tools);
    const after = change(before);
    if (after === undefined) return { before, after };
    const acceptance = await tools.intake.resume(after, caller, { responseUrl });
    if (acceptance.kind === 'stale') return 'stale';
    await tools.audit({ subject: after.site, result });
    return { before, after };
  });
  if ('text' in saved) throw new UserFacingError(saved);
  return saved;
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

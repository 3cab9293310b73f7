import {
  type ScheduleRun,
  scheduleKind,
  scheduleRun,
  visibleSchedule,
} from '../../jobs/digest/schedule/record.ts';
import {
  type ScheduleAction,
  scheduleButtons,
  scheduleEntry,
  scheduleLine,
} from '../../jobs/digest/schedule/view.ts';
import { filterVisible } from '../../jobs/visibility.ts';
import { compose, type Message, message, type Part } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import { type Caller, type CommandTools, notVisibleMessage } from '../intake.ts';

/** More do not help, and each takes three of a message's 50 blocks; the rest is counted. */
const MAX_LISTED = 15;

/** Returns matching schedules that this person may see: this channel's first, then by due time. */
async function findSchedules(
  caller: Caller,
  { intake, isPublic }: CommandTools,
  matches: (run: ScheduleRun) => boolean,
): Promise<ScheduleRun[]> {
  const all = await intake.listActive(scheduleRun, 'digest-schedule', caller);
  const wanted = all.filter((run) => run.teamId === caller.teamId && run.state !== 'removed' && matches(run));
  const visible = await filterVisible(wanted, visibleSchedule, caller, isPublic);
  const isElsewhere = ({ channel }: ScheduleRun) => Number(channel !== caller.channel.id);
  return visible.toSorted(
    (one, other) => isElsewhere(one) - isElsewhere(other) || one.nextAtMs - other.nextAtMs,
  );
}

const matchesProject = (project: string | undefined) => (run: ScheduleRun) =>
  project === undefined || run.project === project;

/** Lists the schedules that this person may see; with `project`, only those of that project. */
export async function listSchedules(
  project: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const schedules = await findSchedules(caller, tools, matchesProject(project));
  if (schedules.length === 0)
    return message([
      [
        'There are no scheduled digests that you can see here. Set one up with ',
        { code: '/docs-digest create' },
        '.',
      ],
    ]);
  return scheduleList([], schedules, caller, (run) => scheduleEntry(run, caller.user.id));
}

function scheduleList(
  title: Part[][],
  schedules: readonly ScheduleRun[],
  { user }: Caller,
  entryOf: (run: ScheduleRun) => Message,
): Message {
  const listed = schedules.slice(0, MAX_LISTED);
  const rest = schedules.length - listed.length;
  const more: Part[][] = rest > 0 ? [[`and ${formatCount(rest)} more; name the project to find them.`]] : [];
  const text = [...title, ...listed.map((run) => scheduleLine(run, user.id)), ...more];
  return compose(text, [
    ...(title.length > 0 ? [message(title)] : []),
    ...listed.map(entryOf),
    ...(more.length > 0 ? [message(more)] : []),
  ]);
}

/**
 * Continues with the schedule of this channel. If there are several, the person chooses one by a button of the same
 * `action`.
 */
export async function withSchedule(
  project: string | undefined,
  action: ScheduleAction,
  caller: Caller,
  tools: CommandTools,
  run: (schedule: ScheduleRun) => Promise<Message | undefined>,
): Promise<Message | undefined> {
  const here = (one: ScheduleRun) => one.channel === caller.channel.id && matchesProject(project)(one);
  const [schedule, ...others] = await findSchedules(caller, tools, here);
  if (schedule === undefined) return noneHere;
  if (others.length === 0) return run(schedule);
  return scheduleList([['Which one?']], [schedule, ...others], caller, (one) =>
    scheduleEntry(one, caller.user.id, { buttons: scheduleButtons(one, action) }),
  );
}

const noneHere = message([
  [
    'No digest is scheduled in this channel. ',
    { code: '/docs-digest list' },
    ' shows the others, and ',
    { code: '/docs-digest create' },
    ' sets one up.',
  ],
]);

/** Returns the schedule of a button, or a message if this person has none there. */
export async function loadSchedule(
  id: string,
  caller: Caller,
  { intake }: CommandTools,
): Promise<{ kind: 'found'; schedule: ScheduleRun } | { kind: 'none'; message: Message }> {
  const found = await intake.loadVisible(id, scheduleKind, caller);
  if (found.kind === 'notVisible') return { kind: 'none', message: notVisible };
  return found.kind === 'notFound' || found.run.state === 'removed'
    ? { kind: 'none', message: removedAlready }
    : { kind: 'found', schedule: found.run };
}

const removedAlready = message([
  ['This digest was already removed. ', { code: '/docs-digest create' }, ' sets one up.'],
]);

const notVisible = notVisibleMessage('digest');

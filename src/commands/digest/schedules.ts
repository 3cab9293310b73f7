import {
  type ScheduleRun,
  type ScheduleTransition,
  scheduleKind,
  scheduleRun,
  scheduleTransitions,
} from '../../jobs/digest/schedule/record.ts';
import {
  goesOnMessage,
  type ScheduleAction,
  scheduleButtons,
  scheduleEntry,
  scheduleLine,
} from '../../jobs/digest/schedule/view.ts';
import { filterVisible } from '../../jobs/visibility.ts';
import { personName } from '../../jobs/wording-view.ts';
import { compose, type Message, message, type Part } from '../../slack/blocks.ts';
import { cut, formatCount, singleLine } from '../../slack/text.ts';
import { type Caller, type CommandTools, retryStale, UserFacingError } from '../intake.ts';

/** More do not help, and each takes three of a message's 50 blocks; the rest is counted. */
const MAX_LISTED = 15;

/** Returns the schedules that this person may see, of a named project: this channel's first, then by due time. */
async function findSchedules(
  project: string | undefined,
  caller: Caller,
  { intake, isPublic }: CommandTools,
): Promise<ScheduleRun[]> {
  const all = await intake.read(caller, ({ runs }) => runs.activeOf(scheduleRun, 'digest-schedule'));
  const wanted = all.filter(
    (run) =>
      run.teamId === caller.teamId &&
      run.state !== 'removed' &&
      (project === undefined || run.project === project),
  );
  const visible = await filterVisible(wanted, scheduleKind.visible, caller, isPublic);
  const isElsewhere = ({ channel }: ScheduleRun) => Number(channel !== caller.channel.id);
  return visible.toSorted(
    (one, other) => isElsewhere(one) - isElsewhere(other) || one.nextAtMs - other.nextAtMs,
  );
}

/** Lists the schedules that this person may see; with `project`, only those of that project. */
export async function listSchedules(
  project: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const schedules = await findSchedules(project, caller, tools);
  return schedules.length === 0 ? noneVisible : scheduleList(schedules, caller);
}

const create = { code: '/docs-digest create' };

const noneVisible = message([
  ['There are no scheduled digests that you can see here. Set one up with ', create, '.'],
]);

/** With a `choice`, each entry has only the button of that action. */
function scheduleList(schedules: readonly ScheduleRun[], { user }: Caller, choice?: ScheduleAction): Message {
  const title: Part[][] = choice === undefined ? [] : [['Which one?']];
  const listed = schedules.slice(0, MAX_LISTED);
  const rest = schedules.length - listed.length;
  const more: Part[][] = rest > 0 ? [[`and ${formatCount(rest)} more; name the project to find them.`]] : [];
  return compose(
    [...title, ...listed.map((run) => scheduleLine(run, user.id)), ...more],
    [
      ...title.map((line) => message([line])),
      ...listed.map((run) =>
        scheduleEntry(run, user.id, choice && { buttons: scheduleButtons(run, choice) }),
      ),
      ...more.map((line) => message([line])),
    ],
  );
}

/** Continues with the schedule of this channel. If there are several, the person chooses one by a button of `action`. */
export async function withSchedule(
  project: string | undefined,
  action: ScheduleAction,
  caller: Caller,
  tools: CommandTools,
  run: (schedule: ScheduleRun) => Promise<Message | undefined>,
): Promise<Message | undefined> {
  const all = await findSchedules(project, caller, tools);
  const [schedule, ...others] = all.filter(({ channel }) => channel === caller.channel.id);
  if (schedule === undefined) return noneHere;
  return others.length === 0 ? run(schedule) : scheduleList([schedule, ...others], caller, action);
}

const noneHere = message([
  [
    'No digest is scheduled in this channel. ',
    { code: '/docs-digest list' },
    ' shows the others, and ',
    create,
    ' sets one up.',
  ],
]);

/** Returns the schedule of a button. Rejects with `UserFacingError` if this person has none there. */
export async function loadSchedule(
  id: string,
  caller: Caller,
  { intake }: CommandTools,
): Promise<ScheduleRun> {
  const schedule = await intake.loadVisible(id, scheduleKind, caller, removedAlready);
  if (schedule.state === 'removed') throw new UserFacingError(removedAlready);
  return schedule;
}

const removedAlready = message([['This digest was already removed. ', create, ' sets one up.']]);

/** Applies a button or subcommand to a schedule, and returns the reply. */
export async function applyToSchedule(
  name: ScheduleTransition,
  id: string,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const { schedule, isChanged } = await saveSchedule(id, caller, tools, {
    change: (latest) => scheduleTransitions[name](latest, caller.user, tools.now()),
    result: results[name],
  });
  return isChanged ? changedMessage(name, schedule) : unchangedMessage(name, schedule, caller);
}

const results: Record<ScheduleTransition, string> = {
  pause: 'paused',
  resume: 'resumed',
  remove: 'removed',
  takeOver: 'taken over',
};

/**
 * Saves the schedule after `change`, with `result` in the audit log; without a change, returns it as it is. With a
 * `responseUrl`, later answers go to this person.
 */
export async function saveSchedule(
  id: string,
  caller: Caller,
  tools: CommandTools,
  wanted: {
    change: (schedule: ScheduleRun) => ScheduleRun | undefined;
    result: string;
    responseUrl?: string | undefined;
  },
): Promise<{ schedule: ScheduleRun; isChanged: boolean }> {
  const saved = await retryStale('digest', async () => {
    const schedule = await loadSchedule(id, caller, tools);
    const next = wanted.change(schedule);
    if (next === undefined) return { schedule, isChanged: false };
    const acceptance = await tools.intake.resume(next, caller, { responseUrl: wanted.responseUrl });
    if (acceptance.kind === 'stale') return 'stale';
    await tools.audit({ subject: next.site, result: wanted.result });
    return { schedule: next, isChanged: true };
  });
  if ('text' in saved) throw new UserFacingError(saved);
  return saved;
}

function changedMessage(name: ScheduleTransition, schedule: ScheduleRun): Message {
  if (name === 'resume') return goesOnMessage(schedule);
  const { state, next } = {
    pause: { state: 'Paused', next: ['Paused until someone resumes it.'] },
    remove: { state: 'Removed', next: undefined },
    takeOver: { state: 'Yours now', next: ['You get a message if it cannot be posted.'] },
  }[name];
  const site = cut(singleLine(schedule.site), 80);
  return message(
    [
      [{ bold: state }, ` · the weekly digest of ${site} in `, { channel: schedule.channel }],
      ...(next ? [next] : []),
    ],
    name === 'pause' ? scheduleButtons(schedule, 'resume', 'remove') : [],
  );
}

/** Why nothing was done: it is done already, or not possible yet. */
function unchangedMessage(name: ScheduleTransition, schedule: ScheduleRun, { user }: Caller): Message {
  const { owner, state } = schedule;
  if (name === 'takeOver' && owner.id === user.id) return message([['This digest is already yours.']]);
  if (name === 'takeOver')
    return message([[`${personName(owner.name)} owns this digest and is still here.`]]);
  if (state === 'testing') return beingSetUp;
  if (name === 'pause') return message([['It is already paused.']], scheduleButtons(schedule, 'resume'));
  return goesOnMessage(schedule);
}

/** The reply to actions that need the schedule's first message. */
export const beingSetUp = message([['This digest is still being set up. Try again in a moment.']]);

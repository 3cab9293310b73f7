import {
  editionRun,
  isComplete,
  newEdition,
  permalinkOf,
  weeklyId,
} from '../../jobs/digest/edition/record.ts';
import {
  notSettledMessage,
  onItsWayMessage,
  postedAlreadyMessage,
  previewMessage,
  readingMessage,
} from '../../jobs/digest/edition/reply-view.ts';
import { SECTIONS } from '../../jobs/digest/model.ts';
import {
  type ScheduleRun,
  type ScheduleTransition,
  scheduleKind,
  scheduleRun,
  scheduleTransitions,
  sendByHand,
} from '../../jobs/digest/schedule/record.ts';
import {
  goesOnMessage,
  type ScheduleAction,
  scheduleButtons,
  scheduleEntry,
} from '../../jobs/digest/schedule/view.ts';
import { lastCompleteWeek, readRange, settledAtMs } from '../../jobs/digest/weeks.ts';
import { conversationOf, requestRunId } from '../../jobs/request.ts';
import { filterVisible } from '../../jobs/visibility.ts';
import { chooseProjectMessage, personName, unknownProjectText } from '../../jobs/wording-view.ts';
import { defaultDomain, type Project, projectNamed, projectsWithId, resolveProject } from '../../projects.ts';
import { compose, type Message, message } from '../../slack/blocks.ts';
import { cut, formatCount, singleLine } from '../../slack/text.ts';
import { idOf } from '../../store/keys.ts';
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
  const listed = schedules.slice(0, MAX_LISTED);
  const rest = schedules.length - listed.length;
  return compose([
    ...(choice === undefined ? [] : [message(['Which one?'])]),
    ...listed.map((run) => scheduleEntry(run, user.id, choice && { buttons: scheduleButtons(run, choice) })),
    ...(rest > 0 ? [message([`and ${formatCount(rest)} more; name the project to find them.`])] : []),
  ]);
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
const beingSetUp = message([['This digest is still being set up. Try again in a moment.']]);

/** Maximum pending digests that one person requested; each costs up to 20 of the hour's requests. */
const MAX_ASKED = 2;

/** Has the digest of the last complete week posted now; once, like any other of that week. */
export async function sendNow(schedule: ScheduleRun, caller: Caller, tools: CommandTools): Promise<Message> {
  if (schedule.state === 'testing') return beingSetUp;
  const { id, channel, site } = schedule;
  const nowMs = tools.now();
  const week = lastCompleteWeek(nowMs);
  const settledMs = settledAtMs(week.range);
  if (nowMs < settledMs) return notSettledMessage(week, settledMs);
  const known = await tools.intake.loadKnown(weeklyId(schedule, week.name), editionRun, caller);
  if (known !== undefined && isComplete(known))
    return postedAlreadyMessage(known, await permalinkOf(known, tools.outbox, tools.workspaceUrl));
  // The schedule's next step accepts the digest.
  await saveSchedule(id, caller, tools, {
    change: (latest) => sendByHand(latest, caller.user.id, nowMs),
    result: `sent now: ${week.name}`,
    responseUrl: caller.responseUrl,
  });
  return onItsWayMessage({ site, channel, range: week.range });
}

/** Sends the schedule's digest of the last complete week to this person only. */
export async function sendPreview(
  { project, site, channel, sections }: ScheduleRun,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const { range } = lastCompleteWeek(tools.now());
  const wanted = { project, site, channel, range, sections };
  await acceptAsked({ ...wanted, kind: 'preview', inDirectMessage: true }, caller, tools);
  return previewMessage({ site, range });
}

/** Posts a digest of typed dates here; if the app cannot post here, it uses the person's direct messages. */
export async function sendRange(
  typed: string,
  named: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const read = readRange(typed, tools.now());
  if (read.kind === 'unclear')
    return message([[read.problem], [{ code: '/docs-digest help' }, ' lists all commands.']]);
  const { channel, joinable } = conversationOf(caller.channel);
  const resolved = resolveDigestProject(named, channel, tools);
  if (resolved.kind === 'ask') {
    const command = `/docs-digest ${cut(singleLine(typed), 60)}`;
    const names = resolved.among.map(({ name }) => name);
    return chooseProjectMessage('Which project', names, command);
  }
  const { range, today } = read;
  const site = siteOf(resolved.project, tools);
  const wanted = { project: resolved.project.name, site, channel, range, today, sections: [...SECTIONS] };
  await acceptAsked({ ...wanted, kind: 'asked', inDirectMessage: !joinable }, caller, tools);
  return readingMessage({ site, range }, joinable);
}

/** Rejects with `UserFacingError` if this person has the maximum of pending digests. */
async function acceptAsked(
  wanted: Omit<Parameters<typeof newEdition>[0], 'id' | 'teamId' | 'owner'>,
  caller: Caller,
  tools: CommandTools,
): Promise<void> {
  const { teamId, user } = caller;
  const id = idOf('digest', requestRunId(caller));
  const owner = { id: user.id, name: user.name };
  const edition = newEdition({ ...wanted, id, teamId, owner }, tools.now());
  const quota = { name: ['digests', teamId, user.id].join(':'), max: MAX_ASKED };
  const acceptance = await tools.intake.start(edition, caller, [quota]);
  if (acceptance.kind !== 'full') return;
  await tools.audit({ subject: wanted.project, result: 'refused: too many at once' });
  throw new UserFacingError(
    message([[`${MAX_ASKED} of your digests are on their way. Ask again when they have arrived.`]]),
  );
}

/**
 * Returns the named project, else the channel's, else the only one with numbers; `ask`: several fit. Throws a
 * `UserFacingError` if there is none.
 */
export function resolveDigestProject(
  named: string | undefined,
  channel: string,
  { projects }: Pick<CommandTools, 'projects'>,
): { kind: 'project'; project: Project } | { kind: 'ask'; among: Project[] } {
  const known = projectsWithId(projects);
  if (known.length === 0) throw new UserFacingError(noNumbers);
  const resolved = resolveProject(known, { named, channel });
  if (resolved.kind === 'project' || resolved.kind === 'ask') return resolved;
  const name = named ?? '';
  const text =
    projectNamed(projects, name) === undefined
      ? unknownProjectText(name, resolved.known)
      : `My settings have no projectId for ${cut(singleLine(name), 60)}, so I can't read its numbers.`;
  throw new UserFacingError(message([[text]]));
}

const noNumbers = message([
  [
    "My settings have no projectId, so I can't read how many people read your docs. The people who run Docket have to add it.",
  ],
]);

/** The subject of a project's digest, for display. */
export function siteOf(
  { name, domains }: Project,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
) {
  const domain = defaultDomain(projects, { named: name, channel: '' }, docsDomain);
  // The environment's project has a name that nobody chose.
  return domain ?? (domains === undefined ? 'your docs' : name);
}

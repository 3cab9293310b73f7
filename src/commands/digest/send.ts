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
import { type ScheduleRun, sendByHand } from '../../jobs/digest/schedule/record.ts';
import { lastCompleteWeek, readRange, settledAtMs } from '../../jobs/digest/weeks.ts';
import { conversationOf, requestRunId } from '../../jobs/request.ts';
import { chooseProjectMessage, unknownProjectText } from '../../jobs/wording-view.ts';
import { defaultDomain, type Project, projectNamed, projectsWithId, resolveProject } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { idOf } from '../../store/keys.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import { beingSetUp, saveSchedule } from './schedules.ts';

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

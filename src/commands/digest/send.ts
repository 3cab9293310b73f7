import {
  type EditionRun,
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
import { lastCompleteWeek, settledAtMs } from '../../jobs/digest/weeks.ts';
import { conversationOf, requestRunId } from '../../jobs/request.ts';
import type { Project } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { idOf } from '../../store/keys.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import { siteOf } from './project.ts';
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
  // The schedule's next step accepts the digest. Later answers go to this person.
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
  await acceptAsked(
    { project, site, channel, range, kind: 'preview', inDirectMessage: true, sections },
    caller,
    tools,
  );
  return previewMessage({ site, range });
}

/** Posts a digest of these dates here; if the app cannot post here, it uses the person's direct messages. */
export async function sendRange(
  { range, today }: Pick<EditionRun, 'range' | 'today'>,
  project: Project,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const { channel, joinable } = conversationOf(caller.channel);
  const site = siteOf(project, tools);
  const wanted = { project: project.name, site, channel, range, today, sections: [...SECTIONS] };
  await acceptAsked({ ...wanted, kind: 'asked', inDirectMessage: !joinable }, caller, tools);
  return readingMessage({ site, range }, joinable);
}

/** Rejects with `UserFacingError` if this person has the maximum of pending digests. */
async function acceptAsked(
  wanted: Pick<EditionRun, 'project' | 'site' | 'channel' | 'range' | 'kind' | 'sections'> &
    Partial<EditionRun>,
  caller: Caller,
  tools: CommandTools,
): Promise<void> {
  const { teamId, user } = caller;
  const owner = { id: user.id, name: user.name };
  const edition = newEdition(
    { ...wanted, id: idOf('digest', requestRunId(caller)), teamId, owner },
    tools.now(),
  );
  const quota = { name: ['digests', teamId, user.id].join(':'), max: MAX_ASKED };
  const acceptance = await tools.intake.start(edition, caller, [quota]);
  if (acceptance.kind !== 'full') return;
  await tools.audit({ subject: wanted.project, result: 'refused: too many at once' });
  throw new UserFacingError(
    message([[`${MAX_ASKED} of your digests are on their way. Ask again when they have arrived.`]]),
  );
}

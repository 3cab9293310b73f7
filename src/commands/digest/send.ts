import { acceptWeekly, type EditionWrites, type WantedEdition } from '../../jobs/digest/edition/accept.ts';
import { type PlannedEdition, planAsked, planWeekly } from '../../jobs/digest/edition/new-edition.ts';
import { permalinkOf } from '../../jobs/digest/edition/permalink.ts';
import { type EditionRun, editionRun } from '../../jobs/digest/edition/record.ts';
import {
  notSettledMessage,
  onItsWayMessage,
  postedAlreadyMessage,
  previewMessage,
  readingMessage,
} from '../../jobs/digest/edition/reply-view.ts';
import { type FiguresRun, figuresRun } from '../../jobs/digest/figures/record.ts';
import { collectAgain } from '../../jobs/digest/figures/transitions.ts';
import { type DayRange, SECTIONS } from '../../jobs/digest/model.ts';
import type { ScheduleRun } from '../../jobs/digest/schedule/record.ts';
import { followEdition } from '../../jobs/digest/schedule/transitions.ts';
import { lastCompleteWeek, settledAtMs, type Week } from '../../jobs/digest/weeks.ts';
import { conversationOf } from '../../jobs/request.ts';
import type { Project } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import type { Quota } from '../../store/runs.ts';
import { type Caller, type CommandTools, retryStale, UserFacingError } from '../intake.ts';
import { beingSetUp, saveSchedule } from './change.ts';
import { siteOf } from './project.ts';

/** Maximum pending digests that one person requested; each costs up to 20 of the hour's requests. */
const MAX_ASKED = 2;

/** Posts the digest of the last complete week now; once, like any other of that week. */
export async function sendNow(schedule: ScheduleRun, caller: Caller, tools: CommandTools): Promise<Message> {
  if (schedule.state === 'testing') return beingSetUp;
  const nowMs = tools.now();
  const week = lastCompleteWeek(nowMs);
  const settledMs = settledAtMs(week.range);
  if (nowMs < settledMs) return notSettledMessage(week, settledMs);
  const sent = await sendWeekly(schedule, week, caller, tools);
  const isThere = sent.kind === 'there';
  // The schedule now waits for the following week, and records this digest's result.
  const posting = { run: sent.edition.id, week: week.name, by: isThere ? undefined : caller.user.id };
  if (!isThere || schedule.lastWeek !== week.name)
    await saveSchedule(schedule.id, caller, tools, {
      change: (latest) => followEdition(latest, posting, nowMs),
      result: `sent now: ${week.name}`,
    });
  if (isThere) {
    const permalink = await permalinkOf(sent.edition, tools.outbox, tools.workspaceUrl);
    return postedAlreadyMessage(sent.edition, permalink);
  }
  return onItsWayMessage(sent.edition);
}

async function sendWeekly(
  schedule: ScheduleRun,
  week: Week,
  caller: Caller,
  tools: CommandTools,
): Promise<WantedEdition> {
  const { intake } = tools;
  const nowMs = tools.now();
  const planned = planWeekly({ schedule, week, dueAtMs: nowMs, late: false }, nowMs);
  const writes: EditionWrites = {
    load: (id) => intake.loadKnown(id, editionRun, caller),
    collect: (figures) => collect(figures, caller, tools),
    start: (run) => intake.start(run, caller),
    resume: (run) => intake.resume(run, caller, false, [], caller.responseUrl),
  };
  const sent = await retryStale('digest', () => acceptWeekly(planned, writes, nowMs));
  if ('text' in sent) throw new UserFacingError(sent);
  return sent;
}

/** Sends the schedule's digest of the last complete week to this person only. */
export async function sendPreview(
  { project, site, channel, sections }: ScheduleRun,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const { range } = lastCompleteWeek(tools.now());
  const asked = { request: caller, project, site, channel, range, kind: 'preview' as const, sections };
  await acceptAsked(planAsked(asked, tools.now()), caller, tools);
  return previewMessage({ site, range });
}

/** Posts a digest of these dates here; if the app cannot post here, it uses the person's direct messages. */
export async function sendRange(
  { range, today }: { range: DayRange; today?: EditionRun['today'] },
  project: Project,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const { channel, joinable } = conversationOf(caller.channel);
  const site = siteOf(project, tools);
  const sections = [...SECTIONS];
  const asked = {
    request: caller,
    project: project.name,
    site,
    channel,
    range,
    sections,
    ...(today && { today }),
  };
  const planned = planAsked({ ...asked, kind: 'asked', inDirectMessage: !joinable }, tools.now());
  await acceptAsked(planned, caller, tools);
  return readingMessage({ site, range }, joinable);
}

/** Rejects with `UserFacingError` if this person has the maximum of pending digests. */
async function acceptAsked(
  { edition, figures }: PlannedEdition,
  caller: Caller,
  tools: CommandTools,
): Promise<void> {
  // A quota counts runs of one job: figures and digests of a person separately.
  const quota = (of: string) => [{ name: [of, caller.teamId, caller.user.id].join(':'), max: MAX_ASKED }];
  const [own, ...others] = figures;
  if (own === undefined) throw new Error('a digest needs figures');
  await collect([own], caller, tools, quota('digest-figures'));
  await collect(others, caller, tools);
  const acceptance = await tools.intake.start(edition, caller, quota('digests'));
  if (acceptance.kind === 'full') await refuseFull(edition, tools);
}

/** Starts collecting missing figures. */
async function collect(
  figures: readonly FiguresRun[],
  caller: Caller,
  tools: CommandTools,
  quotas: readonly Quota[] = [],
): Promise<void> {
  // Figures have no answer to a person.
  const request = { ...caller, responseUrl: undefined };
  for (const wanted of figures) {
    const acceptance = await tools.intake.start(wanted, request, quotas);
    if (acceptance.kind === 'full') await refuseFull(wanted, tools);
    if (acceptance.kind !== 'repeated') continue;
    const known = await tools.intake.loadKnown(wanted.id, figuresRun, caller);
    const again = known && collectAgain(known, wanted, tools.now());
    if (again === undefined) continue;
    const resumed = await tools.intake.resume(again, request, false, quotas);
    if (resumed.kind === 'full') await refuseFull(wanted, tools);
  }
}

async function refuseFull({ project }: Pick<EditionRun, 'project'>, tools: CommandTools): Promise<never> {
  await tools.audit({ subject: project, result: 'refused: too many at once' });
  throw new UserFacingError(
    message([[`${MAX_ASKED} of your digests are on their way. Ask again when they have arrived.`]]),
  );
}

import { z } from 'zod';
import { digestActions } from '../../jobs/digest/buttons.ts';
import {
  editionRun,
  isComplete,
  newEdition,
  permalinkOf,
  weeklyId,
} from '../../jobs/digest/edition/record.ts';
import { answerMessage, notFinalMessage } from '../../jobs/digest/edition/reply-view.ts';
import { SECTIONS } from '../../jobs/digest/model.ts';
import { post, type ScheduleRun } from '../../jobs/digest/schedule/record.ts';
import { finalAtMs, lastCompleteWeek, readRange } from '../../jobs/digest/weeks.ts';
import { conversationOf, requestRunId } from '../../jobs/shared/origin.ts';
import { chooseProjectMessage, unknownProjectText } from '../../jobs/shared/wording-view.ts';
import { type Project, resolveProject } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { idOf } from '../../store/keys.ts';
import { agentProjects } from '../agent/follow.ts';
import { defineCommand, helpMessage, optional, projectFlag, subcommand } from '../command.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import { defineButton, type Registry } from '../registry.ts';
import { zoneOf } from '../schedule.ts';
import { askAgentButton, askModals } from './ask.ts';
import { createModalView, digestSchedules, openChangeModal, scheduleModal, siteOf } from './modal.ts';

const flags = { project: projectFlag };

/** What the buttons of a schedule do. */
const actions = { preview: sendPreview, sendNow, change: openChangeModal, ...digestSchedules.actions };

const withProject = (
  verb: string,
  summary: string,
  run: (project: string | undefined, caller: Caller, tools: CommandTools) => Promise<Message | undefined>,
) =>
  subcommand({
    verb,
    flags,
    summary,
    example: `/docs-digest ${verb}`,
    run: ({ project }, caller, tools) => run(project, caller, tools),
  });

/** A subcommand for the schedule of the present channel. With several projects, the person chooses one from a list. */
const ofSchedule = (verb: string, summary: string, run?: Parameters<typeof digestSchedules.inChannel>[3]) =>
  withProject(verb, summary, async (project, caller, tools) =>
    digestSchedules.inChannel(await findSchedules(project, caller, tools), caller, tools, run),
  );

export const digestCommand = defineCommand({
  name: '/docs-digest',
  may: 'digest',
  subcommands: [
    withProject('create', 'Set up a weekly digest', create),
    withProject('list', 'List and change scheduled digests', async (project, caller, tools) =>
      digestSchedules.list(await findSchedules(project, caller, tools), caller),
    ),
    ofSchedule('preview', "Preview the channel's digest of last week, for you alone", sendPreview),
    ofSchedule('run', "Post the channel's digest of last week now", sendNow),
    ofSchedule('pause', "Pause the channel's digest", actions.pause),
    ofSchedule('resume', "Resume the channel's digest", actions.resume),
    ofSchedule('remove', "Remove the channel's digest", actions.askRemove),
    subcommand({
      args: { range: optional('text', '<range>') },
      flags,
      summary: 'Post a digest for any dates here',
      example: '/docs-digest 2026-11-01..2026-11-15',
      run: async ({ range, project }, caller, tools) =>
        range === undefined ? helpMessage(digestCommand) : sendRange(range, project, caller, tools),
    }),
  ],
});

/** Opens the modal for a new schedule; if only one project is possible, it is preselected. */
async function create(named: string | undefined, caller: Caller, tools: CommandTools) {
  const [sole, ...others] = digestProjects(named, caller.channel.id, tools);
  const project = others.length === 0 ? sole : undefined;
  const zone = await zoneOf(caller, tools);
  return tools.openModal(caller, createModalView({ project, zone }, caller, tools));
}

/** Returns the schedules that this person may see, of a typed project. */
function findSchedules(typed: string | undefined, caller: Caller, tools: CommandTools) {
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

/** Maximum pending digests that one person requested; each costs up to 20 of the hour's requests. */
const MAX_ASKED = 2;

/** Makes the schedule post the digest of the last complete week now, unless that week is posted already. */
async function sendNow(schedule: ScheduleRun, caller: Caller, tools: CommandTools): Promise<Message> {
  const { id, channel, site } = schedule;
  const nowMs = tools.now();
  const week = lastCompleteWeek(nowMs);
  const finalMs = finalAtMs(week.range);
  if (nowMs < finalMs) return notFinalMessage(week, finalMs);
  const known = await tools.intake.loadKnown(weeklyId(schedule, week.name), editionRun, caller);
  if (known !== undefined && isComplete(known))
    return answerMessage('postedAlready', known, await permalinkOf(known, tools.outbox, tools.workspaceUrl));
  // The schedule's next step accepts the digest. Its result is reported to all who sent it.
  const sent = (latest: ScheduleRun) => {
    const { posting } = latest;
    const isKnown = posting && lastCompleteWeek(posting.dueAtMs).name === week.name;
    const { dueAtMs, sentBy = [] } = isKnown ? posting : { dueAtMs: nowMs };
    return post(latest, { dueAtMs, sentBy: [...new Set([...sentBy, caller.user.id])] }, nowMs);
  };
  await digestSchedules.save(id, caller, tools, sent, `sent now: ${week.name}`, caller.responseUrl);
  return answerMessage('onItsWay', { site, channel, range: week.range });
}

/** Sends the schedule's digest of the last complete week to this person only. */
async function sendPreview(
  { project, site, channel, sections }: ScheduleRun,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const { range } = lastCompleteWeek(tools.now());
  const wanted = { project, site, channel, range, sections };
  await acceptAsked({ ...wanted, kind: 'preview', inDirectMessage: true }, caller, tools);
  return answerMessage('preview', { site, range });
}

/** Posts a digest of typed dates here; if the app cannot post here, it uses the person's direct messages. */
async function sendRange(typed: string, named: string | undefined, caller: Caller, tools: CommandTools) {
  const read = readRange(typed, tools.now());
  if ('problem' in read)
    return message([[read.problem], [{ code: '/docs-digest help' }, ' lists all commands.']]);
  const { channel, joinable } = conversationOf(caller.channel);
  const projects = digestProjects(named, channel, tools);
  const [project, ...others] = projects;
  if (project === undefined || others.length > 0) {
    const names = projects.map(({ name }) => name);
    const reply = chooseProjectMessage('Which project', names, `/docs-digest ${cut(singleLine(typed), 60)}`);
    throw new UserFacingError(reply, names);
  }
  const { range, today } = read;
  const site = siteOf(project, tools);
  const wanted = { project: project.name, site, channel, range, today, sections: [...SECTIONS] };
  await acceptAsked({ ...wanted, kind: 'asked', inDirectMessage: !joinable }, caller, tools);
  return answerMessage(joinable ? 'here' : 'direct', { site, range });
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
    message([`${MAX_ASKED} of your digests are on their way. Ask again when they have arrived.`]),
  );
}

/** [Set up a digest], on Home. */
const setUpButton = defineButton({
  action: digestActions.setUp,
  may: 'digest',
  value: z.object({ v: z.literal(1) }),
  run: (_value, caller, tools) => create(undefined, caller, tools),
});

export const digestCommands = {
  commands: [digestCommand],
  buttons: [setUpButton, ...digestSchedules.buttons('digest', digestActions, actions), askAgentButton],
  urlActions: [digestActions.openThread],
  modals: [scheduleModal, ...askModals],
} satisfies Partial<Registry>;

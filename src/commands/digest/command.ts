import { z } from 'zod';
import { digestActions } from '../../jobs/digest/buttons.ts';
import {
  editionRun,
  isComplete,
  newEdition,
  permalinkOf,
  scheduledId,
} from '../../jobs/digest/edition/record.ts';
import { answerMessage, notFinalMessage } from '../../jobs/digest/edition/reply-view.ts';
import { SECTIONS } from '../../jobs/digest/model.ts';
import { periodAt, post, type ScheduleRun } from '../../jobs/digest/schedule/record.ts';
import { finalAtMs, readRange } from '../../jobs/digest/weeks.ts';
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
import { pageNumbers, pageShortcut } from './page.ts';

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
    withProject('create', 'Set up a weekly or monthly digest', create),
    withProject('list', 'List and change scheduled digests', async (project, caller, tools) =>
      digestSchedules.list(await findSchedules(project, caller, tools), caller),
    ),
    ofSchedule(
      'preview',
      "Preview the channel's digest of the last week or month, for you alone",
      sendPreview,
    ),
    ofSchedule('run', "Post the channel's digest of the last week or month now", sendNow),
    ofSchedule('pause', "Pause the channel's digest", actions.pause),
    ofSchedule('resume', "Resume the channel's digest", actions.resume),
    ofSchedule('remove', "Remove the channel's digest", actions.askRemove),
    subcommand({
      verb: 'page',
      args: { page: optional('token', '<path or address>') },
      flags,
      summary: 'Show the numbers of one page, to you alone',
      example: '/docs-digest page /guides/sso',
      run: async ({ page, project }, caller, tools) =>
        page === undefined ? helpMessage(digestCommand) : showPage(page, project, caller, tools),
    }),
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

/** Answers about a typed page: an address says its project, of a path the person may have to. */
async function showPage(typed: string, named: string | undefined, caller: Caller, tools: CommandTools) {
  const { id } = caller.channel;
  if (typed.startsWith('/'))
    return pageNumbers([typed], [soleProject(named, id, `page ${typed}`, tools)], true, caller, tools);
  const projects = named === undefined ? agentProjects(tools.projects) : digestProjects(named, id, tools);
  return pageNumbers([/^https?:/i.test(typed) ? typed : `https://${typed}`], projects, true, caller, tools);
}

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

/** Returns the only possible project. Rejects with `UserFacingError` if the person has to choose; `typed` is their command. */
function soleProject(
  named: string | undefined,
  channel: string,
  typed: string,
  tools: CommandTools,
): Project {
  const projects = digestProjects(named, channel, tools);
  const [project, ...others] = projects;
  if (project !== undefined && others.length === 0) return project;
  const names = projects.map(({ name }) => name);
  const reply = chooseProjectMessage('Which project', names, `/docs-digest ${cut(singleLine(typed), 60)}`);
  throw new UserFacingError(reply, names);
}

/** Maximum pending digests that one person requested; each costs up to 20 of the hour's requests. */
const MAX_ASKED = 2;

/** Makes the schedule post the digest of its last complete week or month now, unless that is posted already. */
async function sendNow(schedule: ScheduleRun, caller: Caller, tools: CommandTools): Promise<Message> {
  const { id, channel, site } = schedule;
  const nowMs = tools.now();
  const period = periodAt(schedule, nowMs);
  const finalMs = finalAtMs(period.range);
  if (nowMs < finalMs) return notFinalMessage(period, finalMs);
  const known = await tools.intake.loadKnown(scheduledId(schedule, period.name), editionRun, caller);
  if (known !== undefined && isComplete(known, nowMs))
    return answerMessage('postedAlready', known, await permalinkOf(known, tools.outbox, tools.workspaceUrl));
  // The schedule's next step accepts the digest. Its result is reported to all who sent it.
  const sent = (latest: ScheduleRun) => {
    const { posting } = latest;
    const isKnown = posting && periodAt(latest, posting.dueAtMs).name === period.name;
    const { dueAtMs, sentBy = [] } = isKnown ? posting : { dueAtMs: nowMs };
    return post(latest, { dueAtMs, sentBy: [...new Set([...sentBy, caller.user.id])] }, nowMs);
  };
  await digestSchedules.save(id, caller, tools, sent, `sent now: ${period.name}`, caller.responseUrl);
  return answerMessage('onItsWay', { site, channel, range: period.range });
}

/** Sends the schedule's digest of its last complete week or month to this person only. */
async function sendPreview(schedule: ScheduleRun, caller: Caller, tools: CommandTools): Promise<Message> {
  const { project, site, channel, sections } = schedule;
  const { range } = periodAt(schedule, tools.now());
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
  const project = soleProject(named, channel, typed, tools);
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
  shortcuts: [pageShortcut],
} satisfies Partial<Registry>;

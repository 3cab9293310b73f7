import { isDeepStrictEqual } from 'node:util';
import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import {
  type ExportSchedule,
  exportNow,
  exportScheduleActions,
  exportScheduleKind,
  isExporting,
  labelAt,
} from '../../jobs/export-schedule/record.ts';
import { exportScheduleViews } from '../../jobs/export-schedule/view.ts';
import { changeTimetable } from '../../jobs/schedule/record.ts';
import { listNames } from '../../jobs/shared/wording-view.ts';
import { type Project, projectsWithId } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { checkboxField, formView } from '../../slack/modals.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { idOf } from '../../store/keys.ts';
import { asCode, invalid, ok, type Parsed, subcommand } from '../command.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { defineButton, type Modal, type SubmitResult } from '../registry.ts';
import {
  CANNOT_SEE,
  type DayChoices,
  mayUse,
  placeField,
  type RunSchedule,
  readTimetable,
  scheduleCommands,
  timetableFields,
  zoneOf,
} from '../schedule.ts';
import { exportFlags } from './args.ts';
import { contentFields, readTarget, siteFields, soleDomain } from './modal.ts';

const schedules = scheduleCommands<ExportSchedule>({
  kind: exportScheduleKind,
  views: exportScheduleViews,
  list: '/docs-export schedule list',
  short: 'export',
  more: 'their channels list them first',
  trouble: 'an export fails',
  limit: 'exportSchedulesPerPerson',
});

const CALLBACK_ID = 'export.schedule';

const DAYS: DayChoices = ['daily', 'weekdays', 'updates'];

type Settings = Pick<ExportSchedule, 'timetable' | 'version' | 'paths' | 'deployments'>;

/** Slack's maximum of checkboxes. */
const MAX_DEPLOYMENTS = 10;

/** Returns the fields of settings that can be changed. `mayDeploy`: the person may update deployments. */
function settingFields(
  { timetable, version, paths, deployments }: Settings,
  known: readonly Project[],
  mayDeploy: boolean,
): InputBlock[] {
  const projects = mayDeploy ? known : [];
  const isOne = projects.filter(({ deployments = [] }) => deployments.length > 0).length === 1;
  const choices = projects.flatMap(({ name: project, deployments = [] }) =>
    deployments.map(({ name }) => ({
      label: cut(isOne ? name : `${project} · ${name}`, SLACK_LIMITS.optionText),
      value: `${project} ${name}`,
    })),
  );
  return [
    ...timetableFields(timetable, projectsWithId(known).length > 0 ? DAYS : DAYS.slice(0, 2)),
    ...(choices.length === 0
      ? []
      : [
          checkboxField({
            block: 'deployments',
            label: 'Then deploy to',
            ...(choices.length > MAX_DEPLOYMENTS && {
              hint: `Only ${MAX_DEPLOYMENTS} fit here.${isOne ? '' : ' [Change] shows those of one project.'}`,
            }),
            choices: choices.slice(0, MAX_DEPLOYMENTS),
            initial: choices.map(({ value }) => value).filter((one) => deployments.includes(nameIn(one))),
          }),
        ]),
    ...contentFields({ version, paths }, 'Such as "nightly {date}". The day replaces {date}.'),
  ];
}

const nameIn = (value: string) => value.slice(value.indexOf(' ') + 1);

/** Asks for the settings of a new schedule. */
export function createScheduleView(
  zone: string,
  caller: Pick<Caller, 'channel'>,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
  mayDeploy: boolean,
): ModalView {
  const timetable = { time: '06:00', zone };
  return formView({
    title: titleOf('Schedule', soleDomain(projects) ?? 'an export'),
    submit: 'Schedule',
    callback: CALLBACK_ID,
    fields: [
      ...siteFields({ domain: docsDomain }, projects),
      placeField(caller, "I'll keep one message there up to date."),
      ...settingFields({ timetable, deployments: [] }, projects, mayDeploy),
    ],
  });
}

/** A title that names the site. */
const titleOf = (verb: string, site: string) => cut(`${verb} ${singleLine(site)}`, SLACK_LIMITS.modalTitle);

/** Asks for changes of a schedule. */
export const changeScheduleView = (
  run: ExportSchedule,
  projects: readonly Project[],
  mayDeploy = true,
): ModalView =>
  formView({
    title: titleOf('Change', run.site),
    submit: 'Change',
    callback: CALLBACK_ID,
    intro: message([[{ bold: cut(singleLine(run.site), 80) }, ' in ', { channel: run.channel }]]),
    fields: settingFields(
      run,
      projects.filter(({ name }) => name === run.project),
      mayDeploy,
    ),
  });

/** If a schedule deploys, only a person who may deploy can let it work. */
async function requireDeploy(run: Pick<ExportSchedule, 'site' | 'deployments'>, tools: CommandTools) {
  const why = `This schedule deploys to ${listNames([...new Set(run.deployments)])}.`;
  if (run.deployments.length > 0) await tools.requirePermission('deploy', run.site, why);
}

const forDeployers =
  (action: RunSchedule<ExportSchedule>): RunSchedule<ExportSchedule> =>
  async (run, caller, tools) => {
    await requireDeploy(run, tools);
    return action(run, caller, tools);
  };

async function openChange(run: ExportSchedule, caller: Caller, tools: CommandTools): Promise<undefined> {
  const mayDeploy = await tools.hasPermission('deploy');
  return tools.openModal(caller, changeScheduleView(run, tools.projects, mayDeploy), run.id);
}

/** Sets up a schedule. If `about` names one, changes that one. */
export const exportScheduleModal: Modal = {
  callbackId: CALLBACK_ID,
  may: 'export',

  async submit(values, caller, tools, { about, ticked }) {
    const problems: Record<string, string> = {};
    const known = typeof about === 'string' ? await schedules.load(about, caller, tools) : undefined;
    const { channel = '' } = values;
    if (!known && !(await mayUse(channel, caller, tools))) problems.channel = CANNOT_SEE;
    const { time, zone } = known?.timetable ?? {};
    // A form without a time is about updates of the site; if the person chooses a day there, the last time counts.
    const timetable = readTimetable({ time, zone, ...values }, problems, DAYS);
    const site = known && { domain: known.site, project: known.project };
    const isPrivate = known?.privately ?? !caller.user.fullMember;
    // The first export shows whether the platform knows the domain.
    const read = readTarget({ ...values, ...site }, isPrivate, caller, tools, true);
    const target = 'target' in read ? read.target : undefined;
    if ('problems' in read) Object.assign(problems, read.problems);
    if (target && timetable) {
      // The date that replaces `{date}` may make it too long.
      const label = exportFlags.version.read(labelAt({ ...target, timetable }, tools.now()));
      if (label.kind === 'unclear') problems.version = label.problem;
    }
    const isUpdated = projectsWithId(tools.projects).some(({ name }) => name === target?.project);
    if (target && timetable?.afterUpdates && !isUpdated)
      problems.day = "I can't update this site: my settings don't have its project's ID.";
    const chosen = ticked.deployments ?? [];
    const inSettings = tools.projects.find(({ name }) => name === target?.project)?.deployments ?? [];
    if (target && chosen.some((one) => !inSettings.some(({ name }) => one === `${target.project} ${name}`)))
      problems.deployments = `Choose deployments of ${cut(target.project, 40)}, the project of this site.`;
    // The form about a schedule has no field for its site.
    const ofSite = problems.domain ?? problems.project;
    if (known && ofSite) return { kind: 'closed', answer: message([ofSite]) };
    if (!target || !timetable || Object.keys(problems).length > 0) return { kind: 'problems', problems };
    // If the settings have no deployment left, the form has no field for them.
    const kept = known?.deployments.filter((one) => inSettings.some(({ name }) => name === one)) ?? [];
    const deployments = ticked.deployments?.map(nameIn) ?? kept;
    const { version, paths } = target;
    const settings = { timetable, version, paths, deployments };
    await requireDeploy(
      { site: target.domain, deployments: [...deployments, ...(known?.deployments ?? [])] },
      tools,
    );
    if (known) return change(known.id, settings, caller, tools);
    const { domain, project, privately } = target;
    // One for each site in a channel.
    const claim = idOf('export-schedule', caller.teamId, channel, project, domain);
    const wanted = { ...settings, project, site: domain, channel, claim, privately };
    return schedules.create(wanted, caller, tools);
  },
};

async function change(
  id: string,
  chosen: Settings,
  caller: Caller,
  tools: CommandTools,
): Promise<SubmitResult> {
  const changed = (latest: ExportSchedule): ExportSchedule => ({
    ...changeTimetable(latest, chosen.timetable, tools.now()),
    ...chosen,
    // If the choice of pages changes, the next export is not compared with the last one.
    ...(!isDeepStrictEqual(latest.paths, chosen.paths) &&
      latest.exported && { exported: { ...latest.exported, pages: undefined } }),
  });
  const { after } = await schedules.save(id, caller, tools, changed, 'changed');
  return { kind: 'closed', answer: after && exportScheduleViews.changed(after) };
}

async function runNow(run: ExportSchedule, caller: Caller, tools: CommandTools): Promise<Message> {
  const begin = (latest: ExportSchedule) =>
    isExporting(latest) || latest.ownerLeft ? undefined : exportNow(latest, tools.now());
  const { before, after } = await schedules.save(run.id, caller, tools, begin, 'run now');
  const place = [` · ${cut(singleLine(before.site), 80)}: see its message in `, { channel: before.channel }];
  if (after !== undefined) return message([[{ bold: 'On its way' }, ...place]]);
  return before.ownerLeft
    ? message(['Its owner has left. Take it over first.'], exportScheduleViews.buttons(before, 'takeOver'))
    : message([[{ bold: 'Exporting already' }, ...place]]);
}

const actions = {
  ...schedules.actions,
  runNow: forDeployers(runNow),
  change: forDeployers(openChange),
  resume: forDeployers(schedules.actions.resume),
  takeOver: forDeployers(schedules.actions.takeOver),
};
/** Opens the form of a new schedule. */
async function openNew(caller: Caller, tools: CommandTools) {
  const [zone, mayDeploy] = await Promise.all([zoneOf(caller, tools), tools.hasPermission('deploy')]);
  return tools.openModal(caller, createScheduleView(zone, caller, tools, mayDeploy));
}

/** [Schedule an export], on Home. */
const setUpButton = defineButton({
  action: exportScheduleActions.setUp,
  may: 'export',
  value: z.object({ v: z.literal(1) }),
  run: (_value, caller, tools) => openNew(caller, tools),
});

export const exportScheduleButtons = [
  setUpButton,
  ...schedules.buttons('export', exportScheduleActions, actions),
];

/** What a verb does to the channel's schedule. Before a removal, an answer asks. */
const { runNow: run, pause, resume, askRemove: remove } = actions;
const verbs = { list: undefined, run, pause, resume, remove };
const VERBS = Object.keys(verbs) as (keyof typeof verbs)[];

function readVerb(typed: string | undefined): Parsed<keyof typeof verbs | undefined> {
  const verb = VERBS.find((one) => one === typed?.toLowerCase());
  if (typed === undefined || verb !== undefined) return ok(verb);
  return invalid("I don't know ", asCode(typed), '. A form asks for the site: type ', {
    code: '/docs-export schedule',
  });
}

/** `/docs-export schedule`: alone, it opens a modal; a verb changes the schedule of the present channel. */
export const exportScheduleCommand = subcommand({
  verb: 'schedule',
  args: { verb: { takes: 'token', usage: `[${VERBS.join('/')}]`, read: readVerb } },
  summary: 'Export a site on schedule',
  example: '/docs-export schedule',
  async run({ verb }, caller, tools) {
    if (verb === undefined) return openNew(caller, tools);
    const visible = await schedules.find(caller, tools);
    if (verb === 'list') return schedules.list(visible, caller);
    return schedules.inChannel(visible, caller, tools, verbs[verb]);
  },
});

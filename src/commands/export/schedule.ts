import { isDeepStrictEqual } from 'node:util';
import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import {
  type ExportSchedule,
  exportNow,
  exportSchedule,
  exportScheduleActions,
  exportScheduleKind,
  exportSchedulesOf,
  isExporting,
  labelAt,
} from '../../jobs/export-schedule/record.ts';
import { exportScheduleViews } from '../../jobs/export-schedule/view.ts';
import { changeTimetable, newSchedule } from '../../jobs/schedule/record.ts';
import { isZone } from '../../jobs/schedule/timetable.ts';
import { parseJson } from '../../runtime/json.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { formView } from '../../slack/modals.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { idOf } from '../../store/keys.ts';
import { asCode, invalid, ok, type Parsed, subcommand } from '../command.ts';
import type { Caller, CommandTools } from '../intake.ts';
import type { Modal, ModalValues, SubmitResult } from '../registry.ts';
import {
  CANNOT_SEE,
  mayUse,
  placeField,
  readTimetable,
  scheduleCommands,
  timetableFields,
  zoneOf,
} from '../schedule.ts';
import { exportFlags, pathsOn } from './args.ts';
import { contentFields, readTarget, siteFields } from './modal.ts';

const schedules = scheduleCommands<ExportSchedule>({
  ...{ kind: exportScheduleKind, schedulesOf: exportSchedulesOf, views: exportScheduleViews },
  ...{ create: '/docs-export schedule', list: '/docs-export schedule list' },
  ...{ what: 'scheduled export', short: 'export' },
  more: 'their channels list them first',
  trouble: 'an export fails',
});

const CALLBACK_ID = 'export.schedule';

/** What a person chooses, and may change. */
const settings = exportSchedule.pick({ timetable: true, version: true, paths: true, deployments: true });
type Settings = z.infer<typeof settings>;

const settingFields = ({ timetable, version, paths }: Settings): InputBlock[] => [
  ...timetableFields(timetable, true),
  ...contentFields(
    { version, paths },
    'Such as "nightly {date}": the day of the export takes the place of {date}.',
  ),
];

/** Asks for the settings of a new schedule. */
export function createScheduleView(
  zone: string | undefined,
  caller: Pick<Caller, 'channel'>,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
): ModalView {
  const timetable = { time: '06:00', zone: zone !== undefined && isZone(zone) ? zone : 'UTC' };
  return formView({
    title: 'Schedule an export',
    submit: 'Schedule',
    callback: CALLBACK_ID,
    fields: [
      ...siteFields({ domain: docsDomain }, projects),
      placeField(caller, "I'll keep one message there up to date."),
      ...settingFields({ timetable, deployments: [] }),
    ],
  });
}

/** Asks for changes of a schedule. */
export const changeScheduleView = (run: ExportSchedule): ModalView =>
  formView({
    title: 'Change a schedule',
    submit: 'Change',
    callback: CALLBACK_ID,
    intro: message([[{ bold: cut(singleLine(run.site), 80) }, ' in ', { channel: run.channel }]]),
    fields: settingFields(run),
  });

/** The metadata of the change modal: the schedule, and a digest of its settings when the modal was opened. */
const changeAbout = z.object({ schedule: z.string(), shown: z.string() });

const digestOf = (run: Settings) => idOf(JSON.stringify(settings.parse(run)));

async function openChange(run: ExportSchedule, caller: Caller, tools: CommandTools): Promise<undefined> {
  const about: z.infer<typeof changeAbout> = { schedule: run.id, shown: digestOf(run) };
  await tools.openModal(caller, changeScheduleView(run), JSON.stringify(about));
  return undefined;
}

export const exportScheduleModal: Modal = {
  callbackId: CALLBACK_ID,
  may: 'export',

  async submit(values, caller, tools, { about }) {
    const problems: Record<string, string> = {};
    const timetable = readTimetable(values, problems, true);
    return about === undefined
      ? create(values, timetable, problems, caller, tools)
      : change(changeAbout.parse(parseJson(about)), values, timetable, problems, caller, tools);
  },
};

type Problems = Record<string, string>;
type Timetable = ReturnType<typeof readTimetable>;

/** Returns the problem with a label when the date stands in it. */
function labelProblem(settings: Pick<Settings, 'version' | 'timetable'>, nowMs: number): string | undefined {
  const read = exportFlags.version.read(labelAt(settings, nowMs));
  return read.kind === 'unclear' ? read.problem : undefined;
}

async function create(
  values: ModalValues,
  timetable: Timetable,
  problems: Problems,
  caller: Caller,
  tools: CommandTools,
): Promise<SubmitResult> {
  const { channel = '' } = values;
  const nowMs = tools.now();
  const isPrivate = tools.links === 'requester' || !caller.user.fullMember;
  // The first export shows whether the platform knows the domain.
  const read = readTarget(values, isPrivate, caller, tools, true);
  if ('problems' in read) Object.assign(problems, read.problems);
  if (!(await mayUse(channel, caller, tools))) problems.channel = CANNOT_SEE;
  const target = 'target' in read ? read.target : undefined;
  const label = target && timetable && labelProblem({ ...target, timetable }, nowMs);
  if (label !== undefined) problems.version = label;
  if (target === undefined || timetable === undefined || Object.keys(problems).length > 0)
    return { kind: 'problems', problems };
  const { project, domain: site, version, paths, privately } = target;
  const wanted = {
    ...{ job: 'export-schedule' as const, project, site, version, paths, privately, timetable, channel },
    // One for each site in a channel.
    claim: idOf('export-schedule', caller.teamId, channel, project, site),
    isPublic: await tools.isPublic(channel),
    deployments: [],
  };
  const acceptance = await tools.intake.start(newSchedule(wanted, caller, nowMs), caller);
  if (acceptance.kind !== 'claimed') return { kind: 'closed' };
  await tools.audit({ subject: site, result: 'scheduled already' });
  const text = `That channel already has a schedule of ${cut(singleLine(site), 40)}. Close this, type /docs-export schedule list, and choose [Change].`;
  return { kind: 'problems', problems: { channel: text } };
}

async function change(
  { schedule: id, shown }: z.infer<typeof changeAbout>,
  values: ModalValues,
  timetable: Timetable,
  problems: Problems,
  caller: Caller,
  tools: CommandTools,
): Promise<SubmitResult> {
  const nowMs = tools.now();
  const { site } = await schedules.load(id, caller, tools);
  const version = exportFlags.version.read(values.version);
  const typed = exportFlags.paths.read(values.paths);
  const paths = typed.kind === 'ok' && typed.value ? pathsOn(site, typed.value) : typed;
  if (version.kind === 'unclear') problems.version = version.problem;
  if (paths.kind === 'unclear') problems.paths = paths.problem;
  if (version.kind === 'unclear' || paths.kind === 'unclear' || timetable === undefined)
    return { kind: 'problems', problems };
  const chosen: Settings = { timetable, version: version.value, paths: paths.value, deployments: [] };
  const label = labelProblem(chosen, nowMs);
  if (label !== undefined) return { kind: 'problems', problems: { version: label } };
  const changed = (latest: ExportSchedule): ExportSchedule | undefined =>
    [shown, digestOf(chosen)].includes(digestOf(latest))
      ? {
          ...changeTimetable(latest, timetable, nowMs),
          ...chosen,
          // With other paths, the number of pages compares with none before.
          ...(!isDeepStrictEqual(latest.paths, chosen.paths) &&
            latest.exported && { exported: { atMs: latest.exported.atMs } }),
        }
      : undefined;
  const { after } = await schedules.save(id, caller, tools, changed, 'changed');
  if (after !== undefined) return { kind: 'message', message: exportScheduleViews.changed(after) };
  const text = 'It was changed in the meantime. Close this and choose [Change] again.';
  return { kind: 'problems', problems: { time: text } };
}

/** Exports now, unless an export of the schedule is running. */
async function runNow({ id }: ExportSchedule, caller: Caller, tools: CommandTools): Promise<Message> {
  const begin = (latest: ExportSchedule) =>
    isExporting(latest) || latest.ownerLeft ? undefined : exportNow(latest, tools.now());
  const { before, after } = await schedules.save(id, caller, tools, begin, 'run now');
  const place = [` · ${cut(singleLine(before.site), 80)}: see its message in `, { channel: before.channel }];
  if (after !== undefined) return message([[{ bold: 'On its way' }, ...place]]);
  return before.ownerLeft
    ? message(['Its owner has left. Take it over first.'], exportScheduleViews.buttons(before, 'takeOver'))
    : message([[{ bold: 'Exporting already' }, ...place]]);
}

/** What the buttons of a schedule do. */
const actions = { runNow, change: openChange, ...schedules.actions };
export const exportScheduleButtons = schedules.buttons('export', exportScheduleActions, actions);

const VERBS = ['list', 'run', 'pause', 'resume', 'remove'] as const;
type Verb = (typeof VERBS)[number];

function readVerb(typed: string | undefined): Parsed<Verb | undefined> {
  const verb = VERBS.find((one) => one === typed?.toLowerCase());
  if (typed === undefined || verb !== undefined) return ok(verb);
  return invalid("I don't know ", asCode(typed), '. A modal asks for the site: type ', {
    code: '/docs-export schedule',
  });
}

/** `/docs-export schedule`, alone or with what to do with the schedule of the present channel. */
export const exportScheduleCommand = subcommand({
  verb: 'schedule',
  args: { verb: { takes: 'token', usage: `[${VERBS.join('/')}]`, read: readVerb } },
  summary: 'Export a site on schedule',
  example: '/docs-export schedule',
  async run({ verb }, caller, tools) {
    if (verb === undefined) {
      await tools.openModal(caller, createScheduleView(await zoneOf(caller, tools), caller, tools));
      return undefined;
    }
    const visible = await schedules.find(caller, tools);
    if (verb === 'list') return schedules.list(visible, caller);
    // The button of a removal asks first.
    const known = { run: runNow, pause: actions.pause, resume: actions.resume, remove: undefined };
    return schedules.inChannel(visible, caller, tools, known[verb]);
  },
});

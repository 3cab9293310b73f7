import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { SECTIONS, type Section } from '../../jobs/digest/model.ts';
import { periodAt, type ScheduleRun, scheduleKind } from '../../jobs/digest/schedule/record.ts';
import { changedMessage, scheduleNotes } from '../../jobs/digest/schedule/view.ts';
import { earliestSafe } from '../../jobs/digest/weeks.ts';
import { changeTimetable } from '../../jobs/schedule/record.ts';
import { timetableText } from '../../jobs/schedule/timetable.ts';
import { defaultDomain, type Project, projectsWithId } from '../../projects.ts';
import { message } from '../../slack/blocks.ts';
import { checkboxField, formView } from '../../slack/modals.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { projectFields } from '../agent/modal.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { defineModal, type ModalValues, type SubmitResult } from '../registry.ts';
import {
  CANNOT_SEE,
  type DayChoices,
  mayUse,
  placeField,
  readTimetable,
  scheduleCommands,
  timetableFields,
} from '../schedule.ts';

export const digestSchedules = scheduleCommands<ScheduleRun>({
  kind: scheduleKind,
  views: scheduleNotes,
  list: '/docs-digest list',
  short: 'digest',
  more: 'name the project to find them',
  trouble: "a digest can't be posted",
});

/** The subject of a project's digest, for display. */
export function siteOf(
  { name, domains }: Project,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
) {
  const domain = defaultDomain(projects, { named: name, channel: '' }, docsDomain);
  // The environment's project has a name that nobody chose.
  return domain ?? (domains === undefined ? 'your docs' : name);
}

const CALLBACK_ID = 'digest.schedule';

const sectionLabels: Record<Section, string> = {
  pages: 'Pages',
  readers: 'What readers looked for',
  csv: 'CSV of all pages',
};

const UNUSUAL_DAYS = 'unusual';

/** Asks for the settings of a new schedule; `project` is preselected. */
export function createModalView(
  { project, zone }: { project: Project | undefined; zone: string },
  caller: Pick<Caller, 'channel'>,
  tools: Pick<CommandTools, 'projects' | 'now'>,
): ModalView {
  const known = projectsWithId(tools.projects);
  const usual = { weekday: 1, time: '09:00', zone };
  return formView({
    title: 'Set up a digest',
    submit: 'Set up',
    callback: CALLBACK_ID,
    fields: [
      ...projectFields(known, project?.name),
      placeField(caller, "I'll post a short hello to check that I can."),
      ...commonFields(
        {
          timetable: earliestSafe(usual, tools.now()) ?? usual,
          sections: [...SECTIONS],
          alerts: false,
        },
        DAYS,
      ),
    ],
  });
}

/** Asks for changes of a schedule. */
export const changeModalView = (schedule: ScheduleRun): ModalView =>
  formView({
    title: 'Change a digest',
    submit: 'Change',
    callback: CALLBACK_ID,
    intro: message([[{ bold: cut(singleLine(schedule.site), 80) }, ' in ', { channel: schedule.channel }]]),
    // A weekly one stays weekly, so that a channel has at most one of each kind.
    fields: commonFields(schedule, [schedule.timetable.monthly ? 'monthly' : 'weekdays']),
  });

type Settings = Pick<ScheduleRun, 'timetable' | 'sections' | 'alerts'>;

/** The subject of the change modal. */
const changeAbout = z.object({ schedule: z.string() });

/** Opens the modal that changes a schedule. */
export const openChangeModal = async (schedule: ScheduleRun, caller: Caller, tools: CommandTools) =>
  tools.openModal(caller, changeModalView(schedule), { schedule: schedule.id });

const DAYS: DayChoices = ['weekdays', 'monthly'];

function commonFields({ timetable, sections, alerts }: Settings, days: DayChoices): InputBlock[] {
  return [
    ...timetableFields(timetable, days),
    checkboxField({
      block: 'sections',
      label: 'Also include',
      choices: [
        ...(['readers', 'pages'] as const).map((value) => ({ label: sectionLabels[value], value })),
        // Only a weekly digest has these.
        ...(days.includes('weekdays')
          ? [{ label: 'A post about each unusual day', value: UNUSUAL_DAYS }]
          : []),
        { label: sectionLabels.csv, value: 'csv' },
      ],
      initial: [...sections, ...(alerts ? [UNUSUAL_DAYS] : [])],
    }),
  ];
}

export const scheduleModal = defineModal({
  callbackId: CALLBACK_ID,
  may: 'digest',
  about: changeAbout.optional(),

  async submit(values, caller, tools, { about, ticked: { sections: ticked = [] } }) {
    const problems: Record<string, string> = {};
    const timetable = readSafeTimetable(values, tools.now(), problems);
    const sections = SECTIONS.filter((section) => ticked.includes(section));
    const alerts = ticked.includes(UNUSUAL_DAYS);
    if (alerts && timetable?.monthly) problems.sections = 'Choose a day: unusual days need a weekly digest.';
    const choices = timetable && !problems.sections ? { timetable, sections, alerts } : undefined;
    if (about !== undefined)
      return choices ? change(about.schedule, choices, caller, tools) : { kind: 'problems', problems };
    const { project: named, channel = '' } = values;
    const known = projectsWithId(tools.projects);
    // Without a choice of projects there is no field for one.
    const [sole] = named === undefined && known.length === 1 ? known : [];
    const project = sole ?? known.find(({ name }) => name === named);
    if (!(await mayUse(channel, caller, tools))) problems.channel = CANNOT_SEE;
    else if (!project) problems[named === undefined ? 'channel' : 'project'] = 'Choose a project.';
    if (!project || !choices || problems.channel) return { kind: 'problems', problems };
    const wanted = { ...choices, project: project.name, site: siteOf(project, tools), channel };
    return digestSchedules.create(wanted, caller, tools);
  },
});

/** Returns the chosen timetable unless a week has not ended then, or adds the problem with it. */
function readSafeTimetable(values: ModalValues, nowMs: number, problems: Record<string, string>) {
  const timetable = readTimetable(values, problems, DAYS);
  // A monthly time comes after the month is final.
  const safe = timetable?.monthly ? undefined : timetable && earliestSafe(timetable, nowMs);
  if (safe === undefined) return timetable;
  problems.time = `The week ends on Monday at 00:00 UTC, and its numbers are final an hour later. Earliest: ${timetableText(safe)}.`;
  return undefined;
}

async function change(
  id: string,
  chosen: Settings,
  caller: Caller,
  tools: CommandTools,
): Promise<SubmitResult> {
  const { before, after = before } = await digestSchedules.save(
    id,
    caller,
    tools,
    (latest: ScheduleRun) =>
      latest.timetable.monthly === chosen.timetable.monthly
        ? {
            ...changeTimetable(latest, chosen.timetable, tools.now()),
            ...chosen,
            alert: chosen.alerts ? latest.alert : undefined,
          }
        : undefined,
    'changed',
  );
  // The digest of this week or month was next, and now a later one is.
  const period = periodAt(before, before.nextAtMs);
  const isLeftOut = after.state === 'active' && periodAt(after, after.nextAtMs).name > period.name;
  return { kind: 'closed', answer: changedMessage(after, isLeftOut ? period : undefined) };
}

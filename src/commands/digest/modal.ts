import { isDeepStrictEqual } from 'node:util';
import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { SECTIONS, type Section } from '../../jobs/digest/model.ts';
import {
  changeSchedule,
  leftOutWeek,
  newSchedule,
  type ScheduleRun,
  scheduleQuotas,
  scheduleRun,
} from '../../jobs/digest/schedule/record.ts';
import { goesOnMessage } from '../../jobs/digest/schedule/view.ts';
import {
  earliestSafe,
  isZone,
  type Timetable,
  timetable,
  timetableText,
  WEEKDAYS,
  zoneGroups,
} from '../../jobs/digest/schedule-times.ts';
import type { Week } from '../../jobs/digest/weeks.ts';
import { conversationOf } from '../../jobs/request.ts';
import { type Project, projectsWithId } from '../../projects.ts';
import { parseJson } from '../../runtime/json.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { message } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import {
  channelField,
  checkboxField,
  choiceField,
  formView,
  groupedChoiceField,
  timeField,
} from '../../slack/modals.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { projectFields } from '../agent/modal.ts';
import type { Caller, CommandTools } from '../intake.ts';
import type { Modal, ModalValues, SubmitResult } from '../registry.ts';
import { saveSchedule, siteOf } from './schedules.ts';

const CALLBACK_ID = 'digest.schedule';

/** Maximum delay of a modal by the look-up of a time zone, since its trigger expires soon; then it begins with UTC. */
const ZONE_TIMEOUT_MS = 400;

const sectionLabels: Record<Section, string> = {
  pages: 'Pages',
  readers: 'What readers looked for',
  csv: 'CSV of all pages',
};

const UNUSUAL_DAYS = 'unusual';

/** Opens the modal for a new schedule; `project` is preselected. */
export async function openCreateModal(
  project: Project | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<undefined> {
  const zone = await withTimeout(ZONE_TIMEOUT_MS, tools.personZone(caller.user.id)).catch(() => undefined);
  await tools.openModal(caller, createModalView({ project, zone }, caller, tools));
  return undefined;
}

/** Asks for the settings of a new schedule. */
export function createModalView(
  { project, zone }: { project: Project | undefined; zone: string | undefined },
  { channel }: Pick<Caller, 'channel'>,
  tools: Pick<CommandTools, 'projects' | 'now'>,
): ModalView {
  const known = projectsWithId(tools.projects);
  const { joinable } = conversationOf(channel);
  const usual = { weekday: 1, time: '09:00', zone: zone !== undefined && isZone(zone) ? zone : 'UTC' };
  return formView({
    title: 'Set up a weekly digest',
    submit: 'Set up',
    callback: CALLBACK_ID,
    fields: [
      ...projectFields(known, project?.name),
      channelField({
        block: 'channel',
        label: 'Channel',
        hint: "I'll post a short hello to check that I can. If I'm not in the channel, type /invite @Docket there first.",
        ...(joinable && { initial: channel.id }),
      }),
      ...commonFields({
        timetable: earliestSafe(usual, tools.now()) ?? usual,
        sections: [...SECTIONS],
        alerts: false,
      }),
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
    fields: commonFields(schedule),
  });

/** The metadata of the change modal: the schedule, and its settings when the modal was opened. */
const changeAbout = z.object({
  schedule: z.string(),
  shown: scheduleRun.pick({ timetable: true, sections: true, alerts: true }),
});
type ChangeAbout = z.infer<typeof changeAbout>;

const choicesOf = ({ timetable, sections, alerts }: Choices): Choices => ({ timetable, sections, alerts });

/** Opens the modal that changes a schedule. */
export async function openChangeModal(
  schedule: ScheduleRun,
  caller: Caller,
  tools: CommandTools,
): Promise<undefined> {
  const about: ChangeAbout = { schedule: schedule.id, shown: choicesOf(schedule) };
  await tools.openModal(caller, changeModalView(schedule), JSON.stringify(about));
  return undefined;
}

type Choices = Pick<ScheduleRun, 'timetable' | 'sections' | 'alerts'>;

function commonFields({ timetable: { weekday, time, zone }, sections, alerts }: Choices): InputBlock[] {
  return [
    choiceField({
      block: 'day',
      label: 'Day',
      choices: WEEKDAYS.map((label, index) => ({ label, value: String(index + 1) })),
      initial: String(weekday),
    }),
    timeField({
      block: 'time',
      label: 'Time',
      hint: 'Local time in the zone below; follows daylight saving.',
      initial: time,
    }),
    groupedChoiceField({
      block: 'zone',
      label: 'Time zone',
      groups: zoneGroups(zone).map(({ label, zones }) => ({
        label,
        choices: zones.map((name) => ({ label: name, value: name })),
      })),
      initial: zone,
    }),
    checkboxField({
      block: 'sections',
      label: 'Also include',
      choices: [
        ...SECTIONS.map((value) => ({ label: sectionLabels[value], value })),
        { label: 'A post about each unusual day', value: UNUSUAL_DAYS },
      ],
      initial: [...sections, ...(alerts ? [UNUSUAL_DAYS] : [])],
    }),
  ];
}

export const scheduleModal: Modal = {
  callbackId: CALLBACK_ID,
  may: 'digest',

  async submit(values, caller, tools, details) {
    const chosen = readTimetable(values, tools.now());
    const ticked = details.ticked.sections ?? [];
    const sections = SECTIONS.filter((section) => ticked.includes(section));
    const alerts = ticked.includes(UNUSUAL_DAYS);
    if (details.about !== undefined) {
      if (chosen.kind === 'problems') return chosen;
      const about = changeAbout.parse(parseJson(details.about));
      return change(about, { timetable: chosen.timetable, sections, alerts }, caller, tools);
    }
    const place = await readPlace(values, caller, tools);
    if (chosen.kind === 'problems' || place.kind === 'problems') {
      const problems = [chosen, place].map((read) => (read.kind === 'problems' ? read.problems : {}));
      return { kind: 'problems', problems: Object.assign({}, ...problems) };
    }
    return create({ ...place, timetable: chosen.timetable, sections, alerts }, caller, tools);
  },
};

type Problems = { kind: 'problems'; problems: Record<string, string> };

const problem = (field: string, text: string): Problems => ({
  kind: 'problems',
  problems: { [field]: cut(text, SLACK_LIMITS.modalFieldError) },
});

function readTimetable(
  { day, time, zone = '' }: ModalValues,
  nowMs: number,
): { kind: 'ok'; timetable: Timetable } | Problems {
  if (!isZone(zone)) return problem('zone', 'Choose a time zone.');
  const read = timetable.safeParse({ weekday: Number(day), time, zone });
  if (!read.success) return problem('time', 'Choose a day and a time.');
  const safe = earliestSafe(read.data, nowMs);
  if (safe === undefined) return { kind: 'ok', timetable: read.data };
  return problem(
    'time',
    `The week ends on Monday at 00:00 UTC, and its numbers are final an hour later. Earliest: ${timetableText(safe)}.`,
  );
}

const CANNOT_SEE =
  "I can't see you in that channel. Choose one that you are in; in a private one, first type /invite @Docket.";

/** Whether a person may have digests posted there. Only channel ids begin so. */
async function mayUse(channel: string, { user, ...caller }: Caller, tools: CommandTools): Promise<boolean> {
  if (!/^[CG]/.test(channel)) return false;
  if (channel === caller.channel.id) return true;
  if (user.fullMember && (await tools.isPublic(channel))) return true;
  return tools.isMember(channel, user.id);
}

async function readPlace(
  { project: named, channel }: ModalValues,
  caller: Caller,
  tools: CommandTools,
): Promise<{ kind: 'ok'; project: Project; channel: string } | Problems> {
  if (channel === undefined) return problem('channel', 'Choose a channel.');
  if (!(await mayUse(channel, caller, tools))) return problem('channel', CANNOT_SEE);
  // Without a choice of projects there is no field for one.
  const known = projectsWithId(tools.projects);
  const project = known.find(({ name }) => name === (named ?? known[0]?.name));
  if (project !== undefined && (named !== undefined || known.length === 1))
    return { kind: 'ok', project, channel };
  return problem(known.length > 1 ? 'project' : 'channel', 'Choose a project.');
}

async function create(
  { project, channel, ...choices }: Choices & { project: Project; channel: string },
  caller: Caller,
  tools: CommandTools,
): Promise<SubmitResult> {
  const place = { project: project.name, site: siteOf(project, tools), channel };
  const isPublic = await tools.isPublic(channel);
  const schedule = newSchedule({ ...place, isPublic, ...choices }, caller, tools.now());
  const acceptance = await tools.intake.start(schedule, caller, scheduleQuotas(schedule));
  if (acceptance.kind === 'full') {
    await tools.audit({ subject: schedule.site, result: 'refused: too many schedules' });
    return problem('channel', 'You have reached the limit of digests per person. Remove one first.');
  }
  if (acceptance.kind !== 'claimed') return { kind: 'closed' };
  await tools.audit({ subject: schedule.site, result: 'scheduled already' });
  const other = await tools.intake.loadKnown(acceptance.by, scheduleRun, caller);
  if (other === undefined || other.state === 'removed')
    return problem('channel', 'A digest was removed there a moment ago. Try again in a few seconds.');
  return problem(
    'channel',
    `That channel already has a digest of ${cut(singleLine(other.site), 40)}. Close this, type /docs-digest list, and choose [Change].`,
  );
}

async function change(
  { schedule: id, shown }: ChangeAbout,
  chosen: Choices,
  caller: Caller,
  tools: CommandTools,
): Promise<SubmitResult> {
  let leftOut: Week | undefined;
  let isOutdated = false;
  const { schedule } = await saveSchedule(id, caller, tools, {
    change(latest) {
      isOutdated = ![shown, chosen].some((known) => isDeepStrictEqual(known, choicesOf(latest)));
      const changed = isOutdated ? undefined : changeSchedule(latest, chosen, tools.now());
      leftOut = changed && leftOutWeek(latest, changed);
      return changed;
    },
    result: 'changed',
  });
  if (isOutdated)
    return problem('time', 'It was changed in the meantime. Close this and choose [Change] again.');
  return { kind: 'message', message: goesOnMessage(schedule, leftOut) };
}

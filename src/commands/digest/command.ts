import { z } from 'zod';
import { digestActions, scheduleButton } from '../../jobs/digest/buttons.ts';
import type { ScheduleRun, ScheduleTransition } from '../../jobs/digest/schedule/record.ts';
import { type ScheduleAction, scheduleButtons } from '../../jobs/digest/schedule/view.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { defineCommand, helpMessage, optional, projectFlag, subcommand } from '../command.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { defineButton, type Registry } from '../registry.ts';
import { askAgentButton, askModals } from './ask.ts';
import { openChangeModal, openCreateModal, scheduleModal } from './modal.ts';
import {
  applyToSchedule,
  listSchedules,
  loadSchedule,
  resolveDigestProject,
  sendNow,
  sendPreview,
  sendRange,
  withSchedule,
} from './schedules.ts';

const flags = { project: projectFlag };

type RunSchedule = (
  schedule: ScheduleRun,
  caller: Caller,
  tools: CommandTools,
) => Promise<Message | undefined>;

const apply =
  (name: ScheduleTransition): RunSchedule =>
  ({ id }, caller, tools) =>
    applyToSchedule(name, id, caller, tools);

/** What the buttons of a schedule do; a removal has a confirmation of its own. */
const actions: Record<ScheduleAction, RunSchedule> = {
  preview: sendPreview,
  sendNow,
  change: openChangeModal,
  pause: apply('pause'),
  resume: apply('resume'),
  remove: apply('remove'),
  takeOver: apply('takeOver'),
};

/** A subcommand for the schedule of the present channel. */
const ofSchedule = (verb: string, action: ScheduleAction, summary: string, run = actions[action]) =>
  subcommand({
    verb,
    args: {},
    flags,
    summary,
    example: `/docs-digest ${verb}`,
    run: ({ project }, caller, tools) =>
      withSchedule(knownProject(project, caller, tools), action, caller, tools, (schedule) =>
        run(schedule, caller, tools),
      ),
  });

export const digestCommand = defineCommand({
  name: '/docs-digest',
  summary: 'Weekly digest of how people and AI read your docs',
  may: 'digest',
  subcommands: [
    subcommand({
      verb: 'create',
      args: {},
      flags,
      summary: 'Set up a weekly digest',
      example: '/docs-digest create',
      run: create,
    }),
    subcommand({
      verb: 'list',
      args: {},
      flags,
      summary: 'List and change scheduled digests',
      example: '/docs-digest list',
      run: async ({ project }, caller, tools) =>
        listSchedules(knownProject(project, caller, tools), caller, tools),
    }),
    ofSchedule('preview', 'preview', "Preview the channel's next digest privately"),
    ofSchedule('run', 'sendNow', "Post the channel's digest of last week now"),
    ofSchedule('pause', 'pause', "Pause the channel's digest"),
    ofSchedule('resume', 'resume', "Resume the channel's digest"),
    ofSchedule('remove', 'remove', "Remove the channel's digest", confirmRemoval),
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

async function create(
  { project: named }: { project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const resolved = resolveDigestProject(named, caller.channel.id, tools);
  return openCreateModal(resolved.kind === 'project' ? resolved.project : undefined, caller, tools);
}

/** [Set up a digest], on Home. */
const setUpButton = defineButton({
  action: digestActions.setUp,
  may: 'digest',
  value: z.object({ v: z.literal(1) }),
  run: (_value, caller, tools) => create({ project: undefined }, caller, tools),
});

/** Returns the settings' name of a typed project. */
function knownProject(
  named: string | undefined,
  { channel }: Caller,
  tools: CommandTools,
): string | undefined {
  if (named === undefined) return undefined;
  const resolved = resolveDigestProject(named, channel.id, tools);
  return resolved.kind === 'project' ? resolved.project.name : undefined;
}

/** An action that cannot be undone asks first. */
async function confirmRemoval(schedule: ScheduleRun): Promise<Message> {
  const site = cut(singleLine(schedule.site), 80);
  return message(
    [[`Remove the weekly digest of ${site} from `, { channel: schedule.channel }, '?']],
    scheduleButtons(schedule, 'remove'),
  );
}

const scheduleButtonOf = ([name, run]: [string, RunSchedule]) =>
  defineButton({
    action: digestActions[name as ScheduleAction],
    may: 'digest',
    value: scheduleButton,
    run: async ({ schedule }, caller, tools) =>
      run(await loadSchedule(schedule, caller, tools), caller, tools),
  });

export const digestCommands = {
  commands: [digestCommand],
  buttons: [setUpButton, ...Object.entries(actions).map(scheduleButtonOf), askAgentButton],
  urlActions: [digestActions.openThread],
  modals: [scheduleModal, ...askModals],
} satisfies Partial<Registry>;

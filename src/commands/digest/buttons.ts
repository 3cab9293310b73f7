import { digestActions, scheduleButton } from '../../jobs/digest/buttons.ts';
import type { ScheduleRun } from '../../jobs/digest/schedule/record.ts';
import type { Message } from '../../slack/blocks.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { defineButton } from '../registry.ts';
import { openChangeModal } from './modal.ts';
import { applyToSchedule, loadSchedule } from './schedules.ts';
import { sendNow, sendPreview } from './send.ts';

/** Buttons that open or post something and leave the schedule unchanged. */
const openingButton = (
  action: string,
  run: (schedule: ScheduleRun, caller: Caller, tools: CommandTools) => Promise<Message | undefined>,
) =>
  defineButton({
    action,
    may: 'digest',
    value: scheduleButton,
    run: async ({ schedule }, caller, tools) =>
      run(await loadSchedule(schedule, caller, tools), caller, tools),
  });

export const scheduleButtons = [
  openingButton(digestActions.preview, sendPreview),
  openingButton(digestActions.sendNow, sendNow),
  openingButton(digestActions.change, async (schedule, caller, tools) => {
    await openChangeModal(schedule, caller, tools);
    return undefined;
  }),
  ...(['pause', 'resume', 'remove', 'takeOver'] as const).map((name) =>
    defineButton({
      action: digestActions[name],
      may: 'digest',
      value: scheduleButton,
      run: ({ schedule }, caller, tools) => applyToSchedule(name, schedule, caller, tools),
    }),
  ),
];

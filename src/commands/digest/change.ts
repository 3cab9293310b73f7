import type { ScheduleRun } from '../../jobs/digest/schedule/record.ts';
import { type ScheduleTransition, scheduleTransitions } from '../../jobs/digest/schedule/transitions.ts';
import { goesOnMessage, scheduleButtons } from '../../jobs/digest/schedule/view.ts';
import { personName } from '../../jobs/wording-view.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { type Caller, type CommandTools, retryStale } from '../intake.ts';
import { loadSchedule } from './schedules.ts';

/** Applies a button or subcommand to a schedule, and returns the reply. */
export async function applyToSchedule(
  name: ScheduleTransition,
  id: string,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const saved = await saveSchedule(id, caller, tools, {
    change: (schedule) => scheduleTransitions[name](schedule, caller.user, tools.now()),
    result: results[name],
  });
  switch (saved.kind) {
    case 'saved':
      return changedMessage(name, saved.schedule);
    case 'unchanged':
      return unchangedMessage(name, saved.schedule, caller);
    case 'none':
      return saved.message;
  }
}

const results: Record<ScheduleTransition, string> = {
  pause: 'paused',
  resume: 'resumed',
  remove: 'removed',
  takeOver: 'taken over',
};

type Saved = { kind: 'saved' | 'unchanged'; schedule: ScheduleRun } | { kind: 'none'; message: Message };

/** Saves the schedule after `change`, with `result` in the audit log; replies `unchanged` if there is no change. */
export async function saveSchedule(
  id: string,
  caller: Caller,
  tools: CommandTools,
  { change, result }: { change: (schedule: ScheduleRun) => ScheduleRun | undefined; result: string },
): Promise<Saved> {
  const saved = await retryStale('digest', async (): Promise<Saved | 'stale'> => {
    const found = await loadSchedule(id, caller, tools);
    if (found.kind === 'none') return found;
    const next = change(found.schedule);
    if (next === undefined) return { kind: 'unchanged', schedule: found.schedule };
    const acceptance = await tools.intake.resume(next, caller, false);
    if (acceptance.kind === 'stale') return 'stale';
    await tools.audit({ subject: next.site, result });
    return { kind: 'saved', schedule: next };
  });
  return 'kind' in saved ? saved : { kind: 'none', message: saved };
}

const site = ({ site }: ScheduleRun) => cut(singleLine(site), 80);

function changedMessage(name: ScheduleTransition, schedule: ScheduleRun): Message {
  const where = { channel: schedule.channel };
  switch (name) {
    case 'pause':
      return message(
        [
          [{ bold: 'Paused' }, ` · the weekly digest of ${site(schedule)} in `, where],
          ['Paused until someone resumes it.'],
        ],
        scheduleButtons(schedule, 'resume', 'remove'),
      );
    case 'resume':
      return goesOnMessage(schedule);
    case 'remove':
      return message([[{ bold: 'Removed' }, ` · the weekly digest of ${site(schedule)} in `, where]]);
    case 'takeOver':
      return message([
        [{ bold: 'Yours now' }, ` · the weekly digest of ${site(schedule)} in `, where],
        ['You get a message if it cannot be posted.'],
      ]);
  }
}

/** Why nothing was done: it is done already, or not possible yet. */
function unchangedMessage(name: ScheduleTransition, schedule: ScheduleRun, { user }: Caller): Message {
  if (name === 'takeOver')
    return message([
      [
        schedule.owner.id === user.id
          ? 'This digest is already yours.'
          : `${personName(schedule.owner.name)} owns this digest and is still here.`,
      ],
    ]);
  if (schedule.state === 'testing') return beingSetUp;
  if (name === 'pause') return message([['It is already paused.']], scheduleButtons(schedule, 'resume'));
  return goesOnMessage(schedule);
}

/** The reply to actions that need the schedule's first message. */
export const beingSetUp = message([['This digest is still being set up. Try again in a moment.']]);

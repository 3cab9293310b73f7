import { defineRestore } from '../../engine/restore.ts';
import { skipDue } from '../../schedule/restore.ts';
import { pagesKey, rootKey, weeklyId } from '../edition/record.ts';
import { lastCompleteWeek } from '../weeks.ts';
import { type ScheduleRun, scheduleRun } from './record.ts';

export const digestScheduleRestore = defineRestore<ScheduleRun>({
  job: 'digest-schedule',
  schema: scheduleRun,
  keys: ({ id }) => [`${id}.test`, `${id}.created`],

  async close({ run }, tools) {
    const due = skipDue(run, tools);
    if (due === undefined) return {};
    await tools.runs.saveStep({ ...due.next, alert: undefined });
    // A person may have sent it by hand.
    const { name, range } = lastCompleteWeek(due.next.nextAtMs);
    const edition = { id: weeklyId(run, name) };
    await tools.search(Date.parse(range.to), [rootKey(edition), pagesKey(edition)]);
    return { skipped: due.skipped };
  },
});

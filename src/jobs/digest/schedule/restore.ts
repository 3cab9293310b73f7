import { defineRestore } from '../../engine/restore.ts';
import { skipDue } from '../../schedule/restore.ts';
import { pagesKey, rootKey, scheduledId, sinceKey } from '../edition/record.ts';
import { periodAt, type ScheduleRun, scheduleRun } from './record.ts';

export const digestScheduleRestore = defineRestore<ScheduleRun>({
  job: 'digest-schedule',
  schema: scheduleRun,
  keys: ({ id }) => [`${id}.test`, `${id}.created`],

  async close({ run }, tools) {
    const due = skipDue(run, tools);
    if (due === undefined) return {};
    await tools.runs.saveStep({ ...due.next, alert: undefined });
    // A person may have sent these by hand, or do so now.
    for (const atMs of [tools.nowMs, due.next.nextAtMs]) {
      const { name, range } = periodAt(due.next, atMs);
      const edition = { id: scheduledId(run, name) };
      await tools.search(
        Date.parse(range.to),
        [rootKey, pagesKey, sinceKey].map((key) => key(edition)),
      );
    }
    return { skipped: due.skipped };
  },
});

import { defineRestore } from '../engine/restore.ts';
import { standingKey } from '../export/view.ts';
import { skipDue } from '../schedule/restore.ts';
import { type ExportSchedule, exportSchedule } from './record.ts';

export const exportScheduleRestore = defineRestore<ExportSchedule>({
  job: 'export-schedule',
  schema: exportSchedule,
  keys: ({ id }) => [standingKey(id), `${id}.created`],

  async close({ run, inbox }, tools) {
    const { next = run, skipped = 0 } = skipDue(run, tools) ?? {};
    // After the backup, the export may have been started. Nobody knows, so it is skipped.
    const latest = run.latest?.run === undefined ? undefined : run.latest;
    if (next !== run || latest !== run.latest || inbox.length > 0)
      await tools.runs.saveStep({ ...next, latest }, { consumed: inbox.length });
    return { skipped: skipped + inbox.length };
  },
});

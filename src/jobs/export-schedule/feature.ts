import { scheduleFeature } from '../schedule/feature.ts';
import { type ExportSchedule, exportScheduleKind, exportSchedulesOf } from './record.ts';
import { exportScheduleViews } from './view.ts';

export const exportScheduleFeature = scheduleFeature<ExportSchedule>({
  ...{ kind: exportScheduleKind, job: 'export-schedule', schedulesOf: exportSchedulesOf },
  ...{ title: 'Scheduled exports', statusTitle: 'Scheduled exports', what: 'scheduled export' },
  line: (run, userId) => ['Export · ', ...exportScheduleViews.line(run, userId)],
});

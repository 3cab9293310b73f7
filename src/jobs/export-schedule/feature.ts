import { scheduleFeature } from '../schedule/feature.ts';
import { type ExportSchedule, exportScheduleKind } from './record.ts';
import { exportScheduleViews } from './view.ts';

export const exportScheduleFeature = scheduleFeature<ExportSchedule>({
  ...{ kind: exportScheduleKind, views: exportScheduleViews },
  ...{ title: 'Scheduled exports', statusTitle: 'Scheduled exports', label: 'Export' },
});

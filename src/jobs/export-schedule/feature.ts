import { scheduleFeature } from '../schedule/feature.ts';
import type { Feature } from '../shared/feature.ts';
import { type ExportSchedule, exportScheduleActions, exportScheduleKind } from './record.ts';
import { exportScheduleViews } from './view.ts';

export const exportScheduleFeature: Feature = {
  permission: { name: 'export' },

  begin: {
    button: {
      label: 'Schedule an export',
      action: exportScheduleActions.setUp,
      value: JSON.stringify({ v: 1 }),
    },
    how: 'Schedule an export: every day, every week, or after each site update started in Slack.',
  },

  ...scheduleFeature<ExportSchedule>({
    kind: exportScheduleKind,
    views: exportScheduleViews,
    title: 'Scheduled',
    statusTitle: 'Scheduled exports',
    label: () => 'Export',
  }),
};

import type { Feature } from '../feature.ts';
import { statusLine } from '../wording-view.ts';

const schedules = [statusLine('Schedules', 'Nothing is scheduled.')];

export const statusFeature: Feature = {
  command: '/docs-status',
  permission: { name: 'admin', may: 'Administer Docket: read its audit log' },
  // No feature has schedules yet.
  status: { lines: async () => schedules, unknown: schedules },
};

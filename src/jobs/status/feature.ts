import type { Feature } from '../feature.ts';

export const statusFeature: Feature = {
  command: '/docs-status',
  permission: { name: 'admin', may: 'Administer Docket: read its audit log' },
};

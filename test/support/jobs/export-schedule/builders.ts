import type { ExportSchedule } from '../../../../src/jobs/export-schedule/record.ts';
import { NOW_MS } from '../../builders.ts';

/** An active schedule: every day 06:00 in Berlin, all pages, with no export yet. */
export const anExportSchedule = (changes: Partial<ExportSchedule> = {}): ExportSchedule => ({
  id: '5c5c1c2b4d5e6f708192a3b4',
  teamId: 'T0ACME',
  job: 'export-schedule',
  rev: 1,
  people: ['U0ANA'],
  permanent: true,
  project: 'default',
  site: 'docs.acme.com',
  channel: 'C0DOCS',
  isPublic: true,
  owner: { id: 'U0ANA', name: 'ana' },
  timetable: { time: '06:00', zone: 'Europe/Berlin' },
  privately: false,
  deployments: [],
  state: 'active',
  sinceMs: NOW_MS,
  nextAtMs: NOW_MS,
  failures: 0,
  ...changes,
});

import type { UpdateRun } from '../../../../src/jobs/deployment/record.ts';
import { NOW_MS } from '../../builders.ts';

/** Ana's update of production to an export, just asked for. */
export const anUpdate = (changes: Partial<UpdateRun> = {}): UpdateRun => ({
  id: '5c1d0a2b3e4f60718293a4b5',
  teamId: 'T0ACME',
  job: 'deployment',
  rev: 1,
  people: ['U0ANA'],
  exportRun: '0a1b2c3d4e5f60718293a4b5',
  project: 'acme',
  deployment: 'production',
  domain: 'docs.acme.com',
  version: '1.2',
  jobId: 'se_3f9a77bd04c24a06',
  pages: 412,
  sizeBytes: 18_350_080,
  under: '0a1b2c3d4e5f60718293a4b5.card',
  asked: { channel: 'C0DOCS', isPublic: true },
  inDirectMessage: false,
  changes: 0,
  by: { id: 'U0ANA', name: 'ana' },
  ...{ attempt: 1, renewal: 0, attemptAtMs: NOW_MS },
  ...{ state: 'accepted', sinceMs: NOW_MS, failures: 0, nextTryAtMs: NOW_MS },
  shows: 'line',
  ...changes,
});

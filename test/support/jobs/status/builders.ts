import type { SystemState } from '../../../../src/jobs/status/view.ts';
import { NOW_MS } from '../../builders.ts';

/** A Docket with which all is good. */
export const aState = (changes: Partial<SystemState> = {}): SystemState => ({
  docs: { answered: true, atMs: NOW_MS },
  slack: { answered: true, atMs: NOW_MS },
  missingScopes: [],
  connected: undefined,
  redisMs: 0.4,
  redisProblems: [],
  ownProblems: [],
  rejectedKeys: [],
  overdue: 0,
  queues: [{ queue: 'docs-export', waiting: 1, active: 2, delayed: 3000, failed: 0 }],
  running: [['Exports you can see here — none running']],
  featureLines: [['Agent threads — none followed'], ['Schedules — Nothing is scheduled.']],
  limits: ['status checks of exports: up to 5 a second', 'edits in Slack: up to 44 a minute'],
  waits: [],
  hasAdmins: true,
  contact: undefined,
  version: '1.2.3',
  role: 'all',
  upSinceMs: NOW_MS,
  ...changes,
});

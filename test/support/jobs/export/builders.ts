import type { StartedExport } from '../../../../src/docs-api/operations.ts';
import type { Ending, ExportRun } from '../../../../src/jobs/export/record.ts';
import { NOW_MS } from '../../builders.ts';

/** An export that runs, three minutes after it was asked for. */
export function aRun(changes: Partial<ExportRun> = {}): ExportRun {
  return {
    id: '3f9a1c2b4d5e6f708192a3b4',
    teamId: 'T0ACME',
    job: 'export',
    rev: 4,
    claim: 'c1a1',
    people: ['U0ANA'],
    project: 'default',
    domain: 'docs.acme.com',
    privately: false,
    joined: false,
    by: { id: 'U0ANA', name: 'ana' },
    watchers: [],
    asked: { channel: 'C0DOCS', joinable: true, isPublic: true },
    inDirectMessage: false,
    attempt: 1,
    resumed: 0,
    relinked: 0,
    state: 'watching',
    sinceMs: NOW_MS - 180_000,
    attemptAtMs: NOW_MS - 180_000,
    nextPollAtMs: NOW_MS,
    jobId: 'se_3f9a77bd04c24a06',
    startedAtMs: NOW_MS - 180_000,
    status: 'running',
    polls: 0,
    ...changes,
  };
}

export const anEnding: Record<Ending['kind'], Ending> = {
  done: { kind: 'done', link: 'run.1.0.0', linkEndsAtMs: NOW_MS + 1_800_000, sizeBytes: 18_400_000 },
  failed: { kind: 'failed', reason: 'Page guides/x failed to render' },
  notStarted: { kind: 'notStarted', why: 'domain', reason: 'Unknown domain' },
  lost: { kind: 'lost' },
  gaveUp: { kind: 'gaveUp', afterMs: 21_600_000 },
  noLink: { kind: 'noLink' },
  left: { kind: 'left' },
  noPlace: { kind: 'noPlace', code: 'not_in_channel' },
  broken: { kind: 'broken', ref: '7f3c1d' },
};

export const STATES = [
  'accepted',
  'postingCard',
  'starting',
  'watching',
  'bundling',
  'unknown',
  'ended',
] as const satisfies ExportRun['state'][];

export const REASONS_NOT_TO_START = [
  'domain',
  'plan',
  'key',
  'limit',
  'down',
  'project',
  'permission',
  'other',
] as const;

/** A run with its ending, in a thread that stays whatever that is. */
export const ended = (ending: Ending, changes: Partial<ExportRun> = {}) =>
  aRun({ state: 'ended', ending, kept: true, completedAtMs: NOW_MS, ...changes });

/** An export job as the platform reports it. */
export const anExportJob = (changes: Partial<StartedExport> = {}): StartedExport => {
  const status = changes.status ?? 'running';
  return { jobId: 'se_3f9a77bd04c24a06', status, rawStatus: status, ...changes };
};

/** Ben's own link to an export of Ana's, just asked for. */
export const aLinkRun = (changes: Partial<ExportRun> = {}): ExportRun =>
  aRun({
    id: '7a7a1c2b4d5e6f708192a3b4',
    job: 'link',
    rev: 1,
    people: [],
    claim: 'c2b2',
    project: 'acme',
    version: '1.2',
    by: { id: 'U0BEN', name: 'ben' },
    asked: { channel: '', joinable: false, isPublic: false },
    privately: true,
    joined: true,
    inDirectMessage: true,
    state: 'bundling',
    sinceMs: NOW_MS,
    nextPollAtMs: NOW_MS,
    ...changes,
  });

export const THREAD = 'https://acme.example/archives/C0DOCS/p1789914659000100';

export const REQUEST = '123.456.abcdef';

import {
  type ExportPlan,
  type ExportRecord,
  endExport,
  exportState,
  holdExport,
  newExport,
  releaseExport,
} from './export-jobs.ts';
import { addPlan, type Planned } from './plans.ts';

/** An export job that began, as it is now. */
export interface ExportNow {
  readonly jobId: string;
  readonly domain: string;
  readonly version?: string;
  readonly paths?: string[];
  readonly startedAtMs: number;
  /** As the API prints it. */
  readonly status: string;
  /** 0 to 1. */
  readonly fraction: number;
  readonly pagesDone: number;
}

/** Every export job that began, in order. */
export interface ExportStart {
  domain: string;
  version?: string;
  paths?: string[];
  jobId: string;
  atMs: number;
}

/**
 * Controls take a job id, or a domain for its newest job that has not ended, and throw when there is none.
 */
export interface ExportControls {
  readonly starts: ExportStart[];
  /** Jobs by id. */
  readonly exports: ReadonlyMap<string, ExportNow>;
  /** For one coming start. */
  plan(plan: ExportPlan): Planned;
  /**
   * Keeps a job at a fraction (default: where it is) until `release`, `finish` or `fail`. A domain without a job
   * that runs has its next start held there, by default at 0.
   */
  hold(domainOrJobId: string, fraction?: number): void;
  /** Ends a hold; the job goes on from where it is. */
  release(domainOrJobId: string): void;
  finish(domainOrJobId: string): void;
  /** `null` gives no reason. */
  fail(domainOrJobId: string, error?: string | null): void;
  /** The platform forgets the job: 404 from now on. Also takes the id of a job that has ended. */
  forget(domainOrJobId: string): void;
}

/** The part of the stand-in that keeps export jobs. */
export interface Exports extends ExportControls {
  find(jobId: string): ExportRecord | undefined;
  start(request: { domain: string; version?: string; paths?: string[] }): ExportRecord;
}

export function createExports(nowMs: () => number, newId: () => string, defaultPlan: ExportPlan): Exports {
  const records = new Map<string, ExportRecord>();
  const exports = new Map<string, ExportNow>();
  const starts: ExportStart[] = [];
  const plans: ExportPlan[] = [];
  const heldStarts = new Map<string, number>();

  function running(domainOrJobId: string): ExportRecord | undefined {
    return [...records.values()].findLast(
      (job) =>
        (job.jobId === domainOrJobId || job.domain === domainOrJobId) &&
        !['completed', 'failed'].includes(exportState(job, nowMs()).status),
    );
  }

  function mustRun(domainOrJobId: string): ExportRecord {
    const job = running(domainOrJobId);
    if (!job) throw new Error(`the stand-in has no running export ${domainOrJobId}`);
    return job;
  }

  function takePlan(domain: string): ExportPlan {
    const index = plans.findIndex((plan) => plan.domain === undefined || plan.domain === domain);
    return (index < 0 ? undefined : plans.splice(index, 1)[0]) ?? defaultPlan;
  }

  return {
    starts,
    exports,
    find: (jobId) => records.get(jobId),

    start(request) {
      const job = newExport({ jobId: newId(), ...request }, takePlan(request.domain), nowMs());
      const heldAt = heldStarts.get(request.domain);
      heldStarts.delete(request.domain);
      if (heldAt !== undefined) holdExport(job, nowMs(), heldAt);
      records.set(job.jobId, job);
      exports.set(job.jobId, asSeen(job, nowMs));
      starts.push({ jobId: job.jobId, atMs: nowMs(), ...request });
      return job;
    },

    plan: (plan) => addPlan(plans, plan),

    hold(domainOrJobId, fraction) {
      const job = running(domainOrJobId);
      if (job) holdExport(job, nowMs(), fraction);
      else if (records.has(domainOrJobId))
        throw new Error(`export ${domainOrJobId} of the stand-in has ended`);
      else heldStarts.set(domainOrJobId, fraction ?? 0);
    },
    release: (domainOrJobId) => releaseExport(mustRun(domainOrJobId), nowMs()),
    finish: (domainOrJobId) => endExport(mustRun(domainOrJobId), nowMs(), 'completed', null),
    fail(domainOrJobId, error = 'Page guides/x failed to render') {
      endExport(mustRun(domainOrJobId), nowMs(), 'failed', error);
    },

    forget(domainOrJobId) {
      const { jobId } = records.get(domainOrJobId) ?? mustRun(domainOrJobId);
      records.delete(jobId);
      exports.delete(jobId);
    },
  };
}

function asSeen(job: ExportRecord, nowMs: () => number): ExportNow {
  const { jobId, domain, version, paths, startedAtMs, plan } = job;
  return {
    jobId,
    domain,
    ...(version === undefined ? {} : { version }),
    ...(paths === undefined ? {} : { paths }),
    startedAtMs,
    get status() {
      const { status } = exportState(job, nowMs());
      return status === 'running' ? (plan.runningStatus ?? status) : status;
    },
    get fraction() {
      return exportState(job, nowMs()).fraction;
    },
    get pagesDone() {
      return exportState(job, nowMs()).pagesDone;
    },
  };
}

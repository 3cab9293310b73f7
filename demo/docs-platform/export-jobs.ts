/** How the stand-in spells `progress`. `stuck` stays at 10 %, `backwards` runs from high to low. */
export type ProgressShape =
  | 'percent'
  | 'fraction'
  | 'percent-text'
  | 'fraction-text'
  | 'object'
  | 'text'
  | 'none'
  | 'stuck'
  | 'backwards';

/** How the stand-in spells a moment. */
export type DateShape = 'iso' | 'seconds' | 'ms' | 'none';

/** What the next export job does. All of it is a function of the clock; nothing happens by itself. */
export interface ExportPlan {
  /** Only a start of this domain takes the plan; without it, the next start of any domain. */
  domain?: string;
  /** Default 0. */
  queuedMs?: number;
  /** From the start of running to the end. Default 1000. */
  durationMs?: number;
  /** Pages of the site. Default 12. */
  pages?: number;
  /** Fraction (0 to 1) at which the job fails. */
  failAt?: number;
  /** Why it fails; `null` gives no reason. */
  error?: string | null;
  /** Fraction at which the job stays until `release`, `finish` or `fail`. */
  holdAt?: number;
  /** Default `percent`. */
  progress?: ProgressShape;
  /** Default `number`. */
  pageCount?: 'number' | 'text' | 'none';
  /** Printed instead of `running`, such as `packaging`. */
  runningStatus?: string;
  /** Of `createdAt`, `updatedAt` and `expiresAt`. Default `iso`. */
  dates?: DateShape;
}

/** An export job that began. Its state is a pure function of this record and the clock. */
export interface ExportRecord {
  readonly jobId: string;
  readonly domain: string;
  readonly version?: string;
  readonly paths?: string[];
  readonly startedAtMs: number;
  readonly plan: ExportPlan;
  /** Where the job runs on from: `fraction` was reached at `atMs`. */
  anchor: { fraction: number; atMs: number };
  /** The job stays when it reaches this fraction. */
  holdAt: number | undefined;
  ended: { status: 'completed' | 'failed'; atMs: number; fraction: number; error: string | null } | undefined;
}

export interface ExportState {
  status: 'queued' | 'running' | 'completed' | 'failed';
  /** 0 to 1. */
  fraction: number;
  pagesDone: number;
  /** When the job last changed. */
  updatedAtMs: number;
  error: string | null;
}

const DEFAULT_DURATION_MS = 1000;
const DEFAULT_PAGES = 12;

export function newExport(
  request: { jobId: string; domain: string; version?: string; paths?: string[] },
  plan: ExportPlan,
  nowMs: number,
): ExportRecord {
  return {
    ...request,
    plan,
    startedAtMs: nowMs,
    anchor: { fraction: 0, atMs: nowMs + (plan.queuedMs ?? 0) },
    holdAt: plan.holdAt,
    ended: undefined,
  };
}

/** Pages that the job exports in all. */
export function pagesOf({ paths, plan }: ExportRecord): number {
  return paths?.length ?? plan.pages ?? DEFAULT_PAGES;
}

export function exportState(job: ExportRecord, nowMs: number): ExportState {
  const { plan, anchor, holdAt, ended } = job;
  const done = (fraction: number) => Math.floor(pagesOf(job) * fraction);
  if (ended) {
    const { status, fraction, atMs, error } = ended;
    return { status, fraction, pagesDone: done(fraction), updatedAtMs: atMs, error };
  }
  if (nowMs < anchor.atMs) {
    return { status: 'queued', fraction: 0, pagesDone: 0, updatedAtMs: job.startedAtMs, error: null };
  }
  const durationMs = plan.durationMs ?? DEFAULT_DURATION_MS;
  const free = durationMs <= 0 ? 1 : Math.min(1, anchor.fraction + (nowMs - anchor.atMs) / durationMs);
  const fraction = Math.min(free, Math.max(holdAt ?? 1, anchor.fraction));
  const reachedAtMs = anchor.atMs + (fraction - anchor.fraction) * durationMs;
  const state = {
    fraction,
    pagesDone: done(fraction),
    updatedAtMs: Math.min(nowMs, Math.round(reachedAtMs)),
  };
  if (plan.failAt !== undefined && fraction >= plan.failAt) {
    const error = plan.error === undefined ? 'Page guides/x failed to render' : plan.error;
    return { ...state, status: 'failed', fraction: plan.failAt, pagesDone: done(plan.failAt), error };
  }
  const completed = fraction >= 1 && holdAt === undefined;
  return { ...state, status: completed ? 'completed' : 'running', error: null };
}

/** Keeps the job at a fraction from now on; without one, where it is. */
export function holdExport(
  job: ExportRecord,
  nowMs: number,
  fraction = exportState(job, nowMs).fraction,
): void {
  job.anchor = { fraction, atMs: nowMs };
  job.holdAt = fraction;
}

/** Lets a held job run on from where it is. */
export function releaseExport(job: ExportRecord, nowMs: number): void {
  const { status, fraction } = exportState(job, nowMs);
  if (status !== 'queued') job.anchor = { fraction, atMs: nowMs };
  job.holdAt = undefined;
}

export function endExport(
  job: ExportRecord,
  nowMs: number,
  status: 'completed' | 'failed',
  error: string | null,
): void {
  const fraction = status === 'completed' ? 1 : exportState(job, nowMs).fraction;
  job.ended = { status, atMs: nowMs, fraction, error };
}

/** The job record as the API prints it. `additions` off: only what the contract shows. */
export function exportBody(job: ExportRecord, nowMs: number, additions: boolean): Record<string, unknown> {
  const { jobId, plan } = job;
  const state = exportState(job, nowMs);
  const status = state.status === 'running' ? (plan.runningStatus ?? 'running') : state.status;
  const live = {
    ...spelledProgress(plan.progress ?? 'percent', state.fraction, pagesOf(job)),
    ...spelledPageCount(plan.pageCount ?? 'number', state.pagesDone),
  };
  const ended = state.status === 'completed' || state.status === 'failed';
  if (!additions) return { status, ...(ended ? {} : live) };
  const dates = plan.dates ?? 'iso';
  return {
    jobId,
    status,
    ...live,
    ...spelledDate('createdAt', job.startedAtMs, dates),
    ...spelledDate('updatedAt', state.updatedAtMs, dates),
    error: state.error,
  };
}

function spelledProgress(shape: ProgressShape, fraction: number, pages: number): { progress?: unknown } {
  const percent = Math.round(fraction * 1000) / 10;
  switch (shape) {
    case 'percent':
      return { progress: percent };
    case 'fraction':
      return { progress: fraction };
    case 'percent-text':
      return { progress: `${percent}%` };
    case 'fraction-text':
      return { progress: fraction.toFixed(2) };
    case 'object':
      return { progress: { done: Math.floor(pages * fraction), total: pages } };
    case 'text':
      return { progress: fraction < 0.9 ? 'rendering pages' : 'packaging' };
    case 'stuck':
      return { progress: 10 };
    case 'backwards':
      return { progress: Math.round(100 - percent) };
    case 'none':
      return {};
  }
}

function spelledPageCount(shape: 'number' | 'text' | 'none', pagesDone: number): { pageCount?: unknown } {
  if (shape === 'none') return {};
  return { pageCount: shape === 'text' ? String(pagesDone) : pagesDone };
}

/** One field with a moment in it, or no field. */
export function spelledDate(name: string, atMs: number, shape: DateShape): Record<string, unknown> {
  if (shape === 'none') return {};
  if (shape === 'seconds') return { [name]: Math.floor(atMs / 1000) };
  return { [name]: shape === 'ms' ? atMs : new Date(atMs).toISOString() };
}

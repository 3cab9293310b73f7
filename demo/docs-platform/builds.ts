import { addPlan, type Planned } from './plans.ts';

/** What a coming build does. All of it is a function of the clock; nothing happens by itself. */
export interface BuildPlan {
  /** Default 0. */
  queuedMs?: number;
  /** From its start to its end. Default 1000. */
  durationMs?: number;
  /** It fails, with these logs. */
  logs?: string[];
  /** It stays at work until `finish` or `fail`. */
  hold?: boolean;
  /** What its last commit changed. */
  filesChanged?: unknown;
  /** Addresses of pictures of the result. */
  screenshots?: { screenshot?: string; screenshotLight?: string; screenshotDark?: string };
  /** Printed as the address of a preview. Default: a page of the stand-in. */
  previewUrl?: string;
}

/** A preview of a branch, or without one an update of the site, that the platform took. */
export interface Build {
  readonly statusId: string;
  readonly branch: string | undefined;
  readonly atMs: number;
}

export interface BuildControls {
  /** Every one that was taken, in order. */
  readonly builds: readonly Build[];
  /** For one coming build. */
  plan(plan: BuildPlan): Planned;
  /** Ends the newest build. */
  finish(): void;
  fail(logs: string[], summary?: string): void;
  /** The platform forgets the newest build: 404 from now on. */
  forget(): void;
  /** As if there had never been any build or plan. */
  clear(): void;
}

interface BuildRecord extends Build {
  plan: BuildPlan;
  ended?: { atMs: number; logs?: string[]; summary?: string };
}

/** The part of the stand-in that builds previews and updates. */
export interface Builds extends BuildControls {
  start(branch: string | undefined): BuildRecord;
  /** Its status as the API prints it; undefined if there is no such build. */
  status(statusId: string): Record<string, unknown> | undefined;
}

export function createBuilds(nowMs: () => number, newId: () => string, usual: BuildPlan = {}): Builds {
  const records: BuildRecord[] = [];
  const plans: BuildPlan[] = [];

  function newest(): BuildRecord {
    const last = records.at(-1);
    if (!last) throw new Error('the stand-in has no build');
    return last;
  }

  return {
    builds: records,
    plan: (plan) => addPlan(plans, plan),
    start(branch) {
      const record = { statusId: newId(), branch, atMs: nowMs(), plan: plans.shift() ?? usual };
      records.push(record);
      return record;
    },
    finish() {
      newest().ended = { atMs: nowMs() };
    },
    fail(logs, summary) {
      newest().ended = { atMs: nowMs(), logs, ...(summary === undefined ? {} : { summary }) };
    },
    forget: () => void records.pop(),
    clear() {
      records.splice(0);
      plans.splice(0);
    },
    status(statusId) {
      const record = records.find((one) => one.statusId === statusId);
      return record && bodyOf(record, nowMs());
    },
  };
}

const LOGS = ['Fetching the branch', 'Building 12 pages: introduction.mdx, guides/quickstart.mdx and more'];

function bodyOf(record: BuildRecord, nowMs: number): Record<string, unknown> {
  const { statusId, branch, atMs, plan } = record;
  const startMs = atMs + (plan.queuedMs ?? 0);
  const endMs = plan.hold ? Number.POSITIVE_INFINITY : startMs + (plan.durationMs ?? 1000);
  const planned = { atMs: endMs, ...(plan.logs && { logs: plan.logs }) };
  const ended = record.ended ?? (nowMs >= endMs ? planned : undefined);
  const status = ended ? (ended.logs ? 'failure' : 'success') : nowMs < startMs ? 'queued' : 'in_progress';
  return {
    _id: statusId,
    createdAt: new Date(atMs).toISOString(),
    ...(ended && { endedAt: new Date(ended.atMs).toISOString() }),
    status,
    summary: ended ? (record.ended?.summary ?? (ended.logs ? 'The build failed' : 'Deployed')) : '',
    logs: status === 'queued' ? [] : [...LOGS, ...(ended?.logs ?? [])],
    commit: {
      sha: '1f0c2e4a9b7d',
      ref: branch ?? 'main',
      message: 'Write the quickstart',
      ...(plan.filesChanged !== undefined && { filesChanged: plan.filesChanged }),
    },
    ...(status === 'success' && plan.screenshots),
    source: 'api',
  };
}

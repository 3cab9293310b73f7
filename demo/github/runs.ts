/** What the next dispatched run does. All of it is a function of the clock. */
export interface RunPlan {
  /** Until the list of runs has it. Default 0. */
  listedAfterMs?: number;
  /** Default 0. */
  queuedMs?: number;
  /** From its start to its end. Default 1000. Infinity: until `finish`. */
  durationMs?: number;
  /** Default `success`. */
  conclusion?: Conclusion;
}

export type Conclusion = 'success' | 'failure' | 'cancelled' | 'timed_out';

export interface Run {
  readonly id: number;
  readonly number: number;
  /** owner/name */
  readonly repository: string;
  /** File name of the workflow. */
  readonly workflow: string;
  readonly workflowId: number;
  readonly event: 'workflow_dispatch' | 'repository_dispatch';
  readonly branch: string;
  readonly atMs: number;
  readonly plan: RunPlan;
  /** The `inputs` or the `client_payload` it was dispatched with. */
  readonly given: Record<string, unknown>;
  ended?: { conclusion: Conclusion; atMs: number };
}

const DEFAULT_DURATION_MS = 1000;

/** Status and conclusion of a run as GitHub names them. */
export function runState(
  { atMs, plan, ended }: Run,
  nowMs: number,
): { status: 'queued' | 'in_progress' | 'completed'; conclusion: Conclusion | null; updatedAtMs: number } {
  if (ended) return { status: 'completed', conclusion: ended.conclusion, updatedAtMs: ended.atMs };
  const startMs = atMs + (plan.queuedMs ?? 0);
  const endMs = startMs + (plan.durationMs ?? DEFAULT_DURATION_MS);
  if (nowMs >= endMs)
    return { status: 'completed', conclusion: plan.conclusion ?? 'success', updatedAtMs: endMs };
  if (nowMs >= startMs) return { status: 'in_progress', conclusion: null, updatedAtMs: startMs };
  return { status: 'queued', conclusion: null, updatedAtMs: atMs };
}

/** A run as the API prints it, with the fields that clients read. */
export function runBody(run: Run, nowMs: number, urls: { api: string; web: string }): object {
  const { id, number, repository, workflow, workflowId, event, branch, atMs } = run;
  const { status, conclusion, updatedAtMs } = runState(run, nowMs);
  return {
    id,
    name: workflow,
    display_title: workflow,
    path: `.github/workflows/${workflow}`,
    head_branch: branch,
    run_number: number,
    run_attempt: 1,
    event,
    status,
    conclusion,
    workflow_id: workflowId,
    url: `${urls.api}/repos/${repository}/actions/runs/${id}`,
    html_url: `${urls.web}/${repository}/actions/runs/${id}`,
    created_at: spelled(atMs),
    updated_at: spelled(updatedAtMs),
    run_started_at: spelled(atMs),
  };
}

/** GitHub's times have no fractions of a second. */
const spelled = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** Whether a run began in the range of a `created` filter, such as `>=2026-09-21T12:00:00Z`; undefined: no such filter. */
export function isCreatedIn(filter: string, { atMs }: Run): boolean | undefined {
  const ms = Math.floor(atMs / 1000) * 1000;
  const [from = '', to] = filter.split('..');
  if (to !== undefined) return bounded(from, to, (min, max) => ms >= min && ms <= max);
  const [, sign = '', date = ''] = /^(>=|<=|>|<|)(.+)$/.exec(filter) ?? [];
  return bounded(date, date, (at) => {
    if (sign === '>=') return ms >= at;
    if (sign === '<=') return ms <= at;
    if (sign === '>') return ms > at;
    if (sign === '<') return ms < at;
    return date.length > 10 ? ms === at : ms >= at && ms < at + 86_400_000;
  });
}

function bounded(from: string, to: string, isIn: (min: number, max: number) => boolean): boolean | undefined {
  const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?$/;
  if (!date.test(from) || !date.test(to)) return undefined;
  return isIn(Date.parse(from), Date.parse(to));
}

import { DocsApiError } from '../../../docs-api/errors.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { nextFailure, type PollFailure } from '../../retry.ts';
import { defineRunJob, markIdle, type StepResult, saveAs } from '../../run-job.ts';
import { isRefusal, type PlatformCause } from '../model.ts';
import { type AnalyticsLimits, limitsOf } from './limits.ts';
import { causeOf, type FiguresRun, figuresRun } from './record.ts';
import { leaveOut, type NextRequest, nextRequest, supportKey } from './requests.ts';

const HOUR_MS = 3_600_000;

/** Collecting gives up after this long: a digest is caught up within two days; a person waits for minutes. */
const GIVE_UP_MS = 48 * HOUR_MS;
const URGENT_GIVE_UP_MS = 5 * 60_000;
/** A project missing from the settings does not return by itself: its owner is informed sooner. */
const PROJECT_GIVE_UP_MS = HOUR_MS;
/** How long a person's request waits for the hourly limit. */
const URGENT_LIMIT_MS = 2 * HOUR_MS;

/** After this many consecutive failures, an optional part is left out. */
const MAX_PART_FAILURES = 3;

/** The longest wait before the next request, whatever the platform says: its limit is hourly. */
const LONGEST_WAIT_MS = HOUR_MS;
/** The longest pause between failures: each of them takes a request of the hour. */
const LONGEST_BACKOFF_MS = HOUR_MS / 2;

/** The pause after a 429 without `Retry-After`; the limit is hourly. */
const DEFAULT_LIMIT_MS = 60_000;

/** Collects figures within the hourly limit, one request per step, and resumes at the same place. */
export const figuresJob = defineRunJob({
  name: 'digest-figures',
  queue: 'docs-analytics',
  concurrency: 20,
  schema: figuresRun,
  step: async ({ run }, context) => (run.state === 'ended' ? markIdle(run, context) : step(run, context)),
  giveUp: async ({ run }) => end(run, 'platform'),
});

const end = (
  run: FiguresRun,
  failed?: FiguresRun['failed'],
  cause: PlatformCause | undefined = causeOf(run),
) =>
  saveAs({
    ...run,
    state: 'ended' as const,
    failed,
    cause: failed && cause,
    pollFailure: undefined,
    limitedUntilMs: undefined,
  });

async function step(run: FiguresRun, context: JobContext): Promise<StepResult<FiguresRun>> {
  const { now, rateLimiter, figures } = context;
  const waitMs = run.nextMs - now();
  if (waitMs > 0) return runAgainIn(waitMs);
  const request = nextRequest(run);
  // Parts that exceed the request budget are reported as missing.
  if (request === undefined)
    return end(
      run.pages?.state === 'collecting' ? { ...run, pages: { ...run.pages, state: 'tooMany' } } : run,
    );
  const known = await request.take(figures);
  if (known !== undefined) return saveAs(known);

  const docs = context.docs(run.project);
  const projectId = context.projectId(run.project);
  if (docs === undefined || projectId === undefined) return handleTrouble(run, request, 'project', context);
  const source = { docs, projectId, signal: context.stopping };
  const limits = limitsOf(run, docs, context);
  const inMs = await takeSlots(run, limits, context);
  if (inMs > 0) return waitForLimit(run, inMs, context);
  try {
    const next = await request.send(source, figures, now());
    const requests = run.requests + 1;
    return saveAs({ ...next, requests, pollFailure: undefined, limitedUntilMs: undefined });
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return runAgainIn(0);
    if (error.kind === 'rate_limited')
      await rateLimiter.hold(limits.all, error.retryAfterMs ?? DEFAULT_LIMIT_MS);
    return handleTrouble(run, request, error, context);
  }
}

/** A request keeps its slot id until it is sent. A retry gets a new id, since both requests were sent. */
const slotId = ({ id, sinceMs, requests }: FiguresRun) => `${id} ${sinceMs} ${requests}`;

/** Returns 0 if the request may be made, else the milliseconds until the next try. */
async function takeSlots(
  run: FiguresRun,
  { needed }: AnalyticsLimits,
  { rateLimiter }: JobContext,
): Promise<number> {
  for (const limit of needed) {
    const inMs = await rateLimiter.takeSlot(limit, { id: slotId(run) });
    if (inMs > 0) return inMs;
  }
  return 0;
}

/** Records a noticeable wait, so that messages can show it. It is limited in time like any other failure. */
function waitForLimit(run: FiguresRun, inMs: number, { now }: JobContext): StepResult<FiguresRun> {
  if (now() - run.sinceMs >= (run.urgent ? URGENT_LIMIT_MS : GIVE_UP_MS))
    return end(run, 'platform', { kind: 'limit' });
  const untilMs = now() + inMs;
  const isSaid = Math.abs((run.limitedUntilMs ?? 0) - untilMs) < 60_000;
  return isSaid || inMs < 10_000 ? runAgainIn(inMs) : saveAs({ ...run, limitedUntilMs: untilMs }, { inMs });
}

/** How long an optional part is left out: a day if the platform lacks it, an hour if the platform refuses it. */
const LEFT_OUT_MS: Partial<Record<DocsApiError['kind'], number>> = {
  not_found: 24 * HOUR_MS,
  unsupported: 24 * HOUR_MS,
  forbidden: HOUR_MS,
  bad_request: HOUR_MS,
};

async function handleTrouble(
  run: FiguresRun,
  request: NextRequest,
  error: DocsApiError | 'project',
  context: JobContext,
): Promise<StepResult<FiguresRun>> {
  const { now, alertAdmins, figures } = context;
  const failure = nextFailure(run.pollFailure, error, context);
  const isProject = error === 'project';
  const tried = isProject ? run : { ...run, requests: run.requests + 1 };
  const { part } = request;
  if (part !== undefined && !isProject) {
    const leftOutMs = LEFT_OUT_MS[error.kind];
    if (leftOutMs !== undefined) await figures.markUnsupported(supportKey(run, part), leftOutMs);
    if (leftOutMs !== undefined || (failure.kind === 'down' && failure.inARow >= MAX_PART_FAILURES))
      return saveAs(leaveOut(tried, part));
  }
  if (!isProject && (failure.kind === 'key' || error.kind === 'forbidden'))
    await alertAdmins(run.teamId, run.project, error);
  const isNew = isProject && run.pollFailure?.kind !== 'project';
  const sinceMs = (isNew ? undefined : run.pollFailure?.sinceMs) ?? now();
  const failing = {
    ...failure,
    sinceMs,
    ...(!isProject && { status: error.status, said: error.platformMessage }),
  };
  const giveUpMs = isProject ? PROJECT_GIVE_UP_MS : GIVE_UP_MS;
  const urgentMs = isRefusal(failure) ? 0 : URGENT_GIVE_UP_MS;
  if (now() - sinceMs >= (run.urgent ? urgentMs : giveUpMs))
    return end(tried, isProject ? 'project' : 'platform', causeOf({ pollFailure: failing }));
  const dueMs = Math.max(failure.nextMs, now() + backgroundPauseMs(run, failure, context));
  const nextMs = Math.min(dueMs, now() + LONGEST_WAIT_MS);
  const limitedUntilMs = failure.kind === 'limit' ? nextMs : undefined;
  return saveAs(
    { ...tried, limitedUntilMs, nextMs, pollFailure: failing },
    { inMs: Math.max(1, nextMs - now()) },
  );
}

/** For background runs, pauses double up to half an hour, so that failures leave the hour's requests to others. */
function backgroundPauseMs(
  { urgent }: FiguresRun,
  { kind, inARow }: PollFailure,
  context: JobContext,
): number {
  const isLimit = kind === 'limit';
  // At the first refusal, the platform's own time counts.
  if (urgent || kind === 'project' || (isLimit && inARow === 1)) return 0;
  const retryMinMs = isLimit ? DEFAULT_LIMIT_MS : context.timing.retryMinMs;
  return backoffMs({ retryMinMs, retryMaxMs: LONGEST_BACKOFF_MS }, inARow, context.random());
}

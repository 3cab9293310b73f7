import type { DocsApi } from '../../../docs-api/client.ts';
import { DocsApiError } from '../../../docs-api/errors.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { nextFailure } from '../../retry.ts';
import { defineRunJob, markIdle, type StepResult, saveAs } from '../../run-job.ts';
import { isRefusal } from '../model.ts';
import { type FiguresRun, figuresRun } from './record.ts';
import { leaveOut, nextRequest, supportKey, takeStored } from './requests.ts';

const HOUR_MS = 3_600_000;

/** Requests per hour reserved for people, which digests in the background leave free. */
const KEPT_FOR_PEOPLE = 20;

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

/**
 * Returns the name of the budget for analytics requests. The platform counts them per organization; if the settings
 * name none, the API key stands for it. `keyId` identifies the key without revealing it.
 */
export const analyticsBudget = (organization: string | undefined, keyId: string): string =>
  organization === undefined ? keyId : `organization:${organization}`;

/** Returns the limit of all analytics requests from one budget. */
export const analyticsLimit = (budget: string, perHour: number): RateLimit => ({
  name: `analytics:${budget}`,
  count: perHour,
  windowMs: HOUR_MS,
  perId: true,
});

/** Returns the part of that limit for collecting in the background. */
export const backgroundLimit = (budget: string, perHour: number): RateLimit => ({
  name: `analytics-background:${budget}`,
  count: Math.max(1, perHour - Math.min(KEPT_FOR_PEOPLE, Math.floor(perHour / 5))),
  windowMs: HOUR_MS,
  perId: true,
});

/** Collects figures within the hourly limit, one request per step, and resumes at the same place. */
export const figuresJob = defineRunJob({
  name: 'digest-figures',
  queue: 'docs-analytics',
  concurrency: 20,
  schema: figuresRun,
  step: async ({ run }, context) => (run.state === 'ended' ? markIdle(run, context) : step(run, context)),
  giveUp: async ({ run }) => end(run, 'platform'),
});

const end = (run: FiguresRun, failed?: FiguresRun['failed']) =>
  saveAs({
    ...run,
    state: 'ended' as const,
    failed,
    pollFailure: failed && run.pollFailure,
    limitedUntilMs: undefined,
  });

async function step(stored: FiguresRun, context: JobContext): Promise<StepResult<FiguresRun>> {
  const { now, rateLimiter, figures } = context;
  const waitMs = stored.nextMs - now();
  if (waitMs > 0) return runAgainIn(waitMs);
  const run = stored.requests === 0 ? await takeStored(stored, figures) : stored;
  const request = nextRequest(run);
  // Parts that exceed the request budget are reported as missing.
  if (request === undefined)
    return end(
      run.pages?.state === 'collecting' ? { ...run, pages: { ...run.pages, state: 'tooMany' } } : run,
    );
  const docs = context.docs(run.project);
  const projectId = context.projectId(run.project);
  if (docs === undefined || projectId === undefined) return retryLater(run, 'project', context);
  const limits = limitsOf(run, docs, context);
  for (const limit of run.urgent ? [limits.all] : [limits.background, limits.all]) {
    // A request keeps its slot until it is sent. A retry takes a new one, since both requests were sent.
    const inMs = await rateLimiter.takeSlot(limit, { id: `${run.id} ${run.sinceMs} ${run.requests}` });
    if (inMs > 0) return waitForLimit(run, inMs, context);
  }
  const sent = { ...run, requests: run.requests + 1 };
  try {
    const next = await request.send({ docs, projectId, signal: context.stopping }, figures, now());
    return saveAs({ ...next, requests: sent.requests, pollFailure: undefined, limitedUntilMs: undefined });
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return runAgainIn(0);
    if (error.kind === 'rate_limited')
      await rateLimiter.hold(limits.all, error.retryAfterMs ?? DEFAULT_LIMIT_MS);
    const { part } = request;
    const leftOutMs = LEFT_OUT_MS[error.kind];
    if (part !== undefined && leftOutMs !== undefined)
      await figures.markUnsupported(supportKey(run, part), leftOutMs);
    const { kind, inARow } = nextFailure(run.pollFailure, error, context);
    const isLeftOut = leftOutMs !== undefined || (kind === 'down' && inARow >= MAX_PART_FAILURES);
    return part !== undefined && isLeftOut ? saveAs(leaveOut(sent, part)) : retryLater(sent, error, context);
  }
}

/** Returns the limits of a run's requests. Urgent ones may use the whole limit. */
function limitsOf(
  run: FiguresRun,
  { keyId }: Pick<DocsApi, 'keyId'>,
  { limits, projects }: Pick<JobContext, 'limits' | 'projects'>,
) {
  const project = projects.find(({ name }) => name === run.project);
  const budget = analyticsBudget(project?.organization, keyId);
  const perHour = limits.analyticsPerHour;
  return { all: analyticsLimit(budget, perHour), background: backgroundLimit(budget, perHour) };
}

/** Records a noticeable wait, so that messages can show it. It is limited in time like any other failure. */
function waitForLimit(run: FiguresRun, inMs: number, { now }: JobContext): StepResult<FiguresRun> {
  const nowMs = now();
  if (nowMs - run.sinceMs >= (run.urgent ? URGENT_LIMIT_MS : GIVE_UP_MS)) {
    const pollFailure = { kind: 'limit' as const, inARow: 1, nextMs: nowMs, sinceMs: nowMs };
    return end({ ...run, pollFailure }, 'platform');
  }
  const untilMs = nowMs + inMs;
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

/** Retries after a growing pause, or gives up. */
async function retryLater(
  run: FiguresRun,
  error: DocsApiError | 'project',
  context: JobContext,
): Promise<StepResult<FiguresRun>> {
  const { now, timing, random, alertAdmins } = context;
  const { urgent, pollFailure: before } = run;
  const isProject = error === 'project';
  const next = nextFailure(before, error, context);
  if (!isProject && (next.kind === 'key' || error.kind === 'forbidden'))
    await alertAdmins(run.teamId, run.project, error);
  const isNew = isProject && before?.kind !== 'project';
  const sinceMs = (isNew ? undefined : before?.sinceMs) ?? now();
  const platform = isProject ? {} : { status: error.status, said: error.platformMessage };
  // In the background, pauses grow to half an hour. At the first refusal, the platform's own time counts.
  const isOwn = !urgent && !isProject && (next.kind !== 'limit' || next.inARow > 1);
  const retryMinMs = next.kind === 'limit' ? DEFAULT_LIMIT_MS : timing.retryMinMs;
  const pauseMs = isOwn
    ? backoffMs({ retryMinMs, retryMaxMs: LONGEST_BACKOFF_MS }, next.inARow, random())
    : 0;
  const nextMs = Math.min(Math.max(next.nextMs, now() + pauseMs), now() + LONGEST_WAIT_MS);
  const pollFailure = { ...next, sinceMs, ...platform };
  const urgentMs = isRefusal(next) ? 0 : URGENT_GIVE_UP_MS;
  const giveUpMs = urgent ? urgentMs : isProject ? PROJECT_GIVE_UP_MS : GIVE_UP_MS;
  if (now() - sinceMs >= giveUpMs) return end({ ...run, pollFailure }, isProject ? 'project' : 'platform');
  const limitedUntilMs = next.kind === 'limit' ? nextMs : undefined;
  return saveAs({ ...run, limitedUntilMs, nextMs, pollFailure }, { inMs: Math.max(1, nextMs - now()) });
}

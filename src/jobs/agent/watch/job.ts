import { DocsApiError } from '../../../docs-api/errors.ts';
import type { AgentJob } from '../../../docs-api/schemas.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../context.ts';
import { nextPollMs } from '../../export/polling.ts';
import { done, pollInMs, runAgainIn } from '../../job.ts';
import { defineRunJob, type StepResult } from '../../run-job.ts';
import { agentPollLimit } from './poll-slots.ts';
import { type WatchRun, watchRun } from './record.ts';
import { applyPoll, giveUpRound, markChanged, markNotFound } from './rules.ts';

/** Polls wait for the platform most of the time, and a platform that hangs must not keep replies waiting. */
const CONCURRENCY = 200;

/** Answers "not found" in a row before a job counts as unknown: a new job may not be known everywhere at once. */
const NOT_FOUND_AFTER = 3;

/** How often it is tried again while an operator has to act. */
const OPERATOR_RETRY_MS = 60_000;

/** Polls one agent job while a round is open or somebody waits for a poll, and wakes the threads that follow it. */
export const watchJob = defineRunJob({
  name: 'agent-watch',
  queue: 'docs-agent',
  concurrency: CONCURRENCY,
  schema: watchRun,
  maxSteps: 20,
  step: ({ run, wakes }, context) => runStep(run, wakes, context),
  giveUp: ({ run }, context) => save(markChanged(giveUpRound(run, context.now())), context),
});

function runStep(run: WatchRun, wakes: number, context: JobContext): Promise<StepResult> {
  if (run.untold) return wakeThreads(run, context);
  if (run.round === undefined && !run.lookWanted) return markIdle(run, wakes, context);
  return poll(run, context);
}

/** A thread that is not told now is never told: only when all have been woken is it forgotten that they were to be. */
async function wakeThreads(run: WatchRun, context: JobContext): Promise<StepResult> {
  for (const id of run.threads) {
    if (id === run.knownBy) continue;
    await context.runs.wake('agent-thread', id);
    await context.wake({ job: 'agent-thread', id });
  }
  return save({ ...run, untold: false, knownBy: undefined }, context);
}

async function markIdle(run: WatchRun, wakes: number, context: JobContext): Promise<StepResult> {
  return (await context.runs.markIdle(run, false, wakes)) ? done : 'next';
}

async function poll(run: WatchRun, context: JobContext): Promise<StepResult> {
  const { now, timing } = context;
  const polledAtMs = now();
  if (run.round !== undefined && polledAtMs - run.round.sentAtMs >= timing.watchMs)
    return save(giveUpRound(run, polledAtMs), context);
  // How long trouble lasts, the platform may say.
  const longestMs = run.trouble === undefined ? timing.pollMaxMs : Infinity;
  const plannedInMs = pollInMs(run.nextLookAtMs, polledAtMs, longestMs);
  if (plannedInMs > 0) return runAgainIn(plannedInMs);

  const docs = context.docs(run.project);
  const projectId = context.projectId(run.project);
  if (docs === undefined || projectId === undefined)
    return saveTrouble(run, 'project', OPERATOR_RETRY_MS, context);
  const rateLimit = agentPollLimit(docs.keyId, context.limits.exportStatusPerSecond);
  // Where somebody waits for the answer, it comes first.
  const rank = run.lookWanted ? 0 : 1;
  const slotInMs = await context.rateLimiter.takeSlot(rateLimit, {
    id: run.id,
    rank,
    sinceMs: run.nextLookAtMs,
  });
  if (slotInMs > 0) return runAgainIn(slotInMs);
  let job: AgentJob;
  try {
    job = await docs.getAgentJob({ projectId, jobId: run.agentJobId }, { signal: context.stopping });
  } catch (error) {
    return handlePollError(run, error, rateLimit, context);
  }
  const next = applyPoll(run, job, polledAtMs, timing.graceMs);
  const bounds = { minMs: timing.pollMinMs, maxMs: timing.pollMaxMs };
  const sinceMs = next.round?.sinceMs ?? polledAtMs;
  const inMs = nextPollMs([], sinceMs, now(), bounds, context.random());
  return save({ ...next, nextLookAtMs: now() + inMs }, context);
}

async function handlePollError(
  run: WatchRun,
  error: unknown,
  rateLimit: RateLimit,
  context: JobContext,
): Promise<StepResult> {
  if (!(error instanceof DocsApiError)) throw error;
  const { kind, retryAfterMs = 0 } = error;
  const { random, timing, now } = context;
  const pauseMs = (inARow: number) => Math.max(retryAfterMs, backoffMs(timing, inARow, random()));
  switch (kind) {
    case 'aborted':
      return runAgainIn(0);
    case 'key_rejected':
      context.log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
      await context.alertAdmins(run.teamId, run.project);
      return saveTrouble(run, 'key', OPERATOR_RETRY_MS, context);
    case 'forbidden':
    case 'bad_request':
      return saveTrouble(run, 'forbidden', OPERATOR_RETRY_MS, context);
    case 'rate_limited': {
      // The limit is that of the key: no other job is polled with it meanwhile.
      const waitMs = pauseMs(failuresInARow(run, 'limit'));
      await context.rateLimiter.hold(rateLimit, waitMs);
      return saveTrouble(run, 'limit', waitMs, context);
    }
    case 'not_found': {
      const inARow = failuresInARow(run, 'lost');
      // A job that was there is not gone because the platform forgets it for a moment.
      const longEnough =
        run.seen === undefined || now() - troubleSinceMs(run, 'lost', now()) >= timing.graceMs;
      if (inARow >= NOT_FOUND_AFTER && longEnough) return save(markNotFound(run, now()), context);
      return saveTrouble(run, 'lost', pauseMs(inARow), context);
    }
    default:
      return saveTrouble(run, 'down', pauseMs(failuresInARow(run, 'down')), context);
  }
}

type Trouble = NonNullable<WatchRun['trouble']>;

const failuresInARow = ({ trouble: before }: WatchRun, kind: Trouble['kind']) =>
  before?.kind === kind ? before.inARow + 1 : 1;

const troubleSinceMs = ({ trouble: before }: WatchRun, kind: Trouble['kind'], nowMs: number) =>
  before?.kind === kind ? before.sinceMs : nowMs;

/** Threads are told of every failed look: which of them people hear of, they decide. */
function saveTrouble(
  run: WatchRun,
  kind: Trouble['kind'],
  inMs: number,
  context: JobContext,
): Promise<StepResult> {
  const nowMs = context.now();
  const nextMs = nowMs + inMs;
  const next = { kind, inARow: failuresInARow(run, kind), sinceMs: troubleSinceMs(run, kind, nowMs), nextMs };
  return save(markChanged({ ...run, trouble: next, nextLookAtMs: nextMs }), context);
}

/** The next step finds what was saved, or what somebody else did meanwhile. */
async function save(run: WatchRun, context: JobContext): Promise<StepResult> {
  const saved = await context.runs.save(run);
  if (saved === undefined) context.log.debug({ run: run.id }, 'the watch was changed meanwhile');
  return 'next';
}

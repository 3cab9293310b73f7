import type { AgentJob } from '../../../docs-api/schemas.ts';
import type { RateLimit } from '../../../store/rate-limit.ts';
import type { JobContext } from '../../context.ts';
import { done, runAgainIn } from '../../job.ts';
import { failureOfPoll, nextPollMs, pollInMs, pollRateLimit } from '../../polling.ts';
import { nextFailure } from '../../retry.ts';
import { defineRunJob, type StepResult, saveAs } from '../../run-job.ts';
import { type WatchRun, watchRun } from './record.ts';
import { applyFailure, applyPoll, giveUpRound, markChanged, markNotFound } from './transitions.ts';

/** Polls mostly wait for the platform, and a platform that hangs must not delay replies. */
const CONCURRENCY = 200;

/** Consecutive "not found" answers before a job counts as unknown: a new job may not be known everywhere at once. */
const NOT_FOUND_AFTER = 3;

/** Polls one agent job while a round is open or a person waits for a poll, and wakes its threads. */
export const watchJob = defineRunJob({
  name: 'agent-watch',
  queue: 'docs-agent',
  concurrency: CONCURRENCY,
  schema: watchRun,
  async step({ run, wakes }, context) {
    if (run.untold) return wakeThreads(run, context);
    if (run.round !== undefined || run.pollRequested) return poll(run, context);
    return (await context.runs.markIdle(run, false, wakes)) ? done : 'next';
  },
  giveUp: async ({ run }, context) => saveAs(markChanged(giveUpRound(run, context.now()))),
});

/** Wakes the threads, then clears the mark. If the process dies in between, another one repeats it. */
async function wakeThreads(run: WatchRun, context: JobContext): Promise<StepResult<WatchRun>> {
  for (const id of run.threads) {
    if (id === run.knownBy) continue;
    await context.runs.markDue('agent-thread', id);
    await context.wake({ job: 'agent-thread', id });
  }
  return saveAs({ ...run, untold: false, knownBy: undefined });
}

async function poll(run: WatchRun, context: JobContext): Promise<StepResult<WatchRun>> {
  const { now, random, timing, rateLimiter, limits } = context;
  const polledAtMs = now();
  if (run.round !== undefined && polledAtMs - run.round.sentAtMs >= timing.watchMs)
    return saveAs(giveUpRound(run, polledAtMs));
  const inMs = pollInMs(run, polledAtMs, timing);
  if (inMs > 0) return runAgainIn(inMs);

  const docs = context.docs(run.project);
  const projectId = context.projectId(run.project);
  if (docs === undefined || projectId === undefined)
    return saveAs(applyFailure(run, nextFailure(run.pollFailure, 'project', context), now()));
  const rateLimit = pollRateLimit('agent-status', docs.keyId, limits.exportStatusPerSecond);
  // A poll that a person asked for has priority.
  const priority = run.pollRequested ? 'interactive' : 'low';
  const slotInMs = await rateLimiter.takeSlot(rateLimit, { id: run.id, priority });
  if (slotInMs > 0) return runAgainIn(slotInMs);
  let job: AgentJob;
  try {
    job = await docs.getAgentJob({ projectId, jobId: run.agentJobId }, { signal: context.stopping });
  } catch (error) {
    return handlePollError(run, error, rateLimit, context);
  }
  const next = applyPoll(run, job, polledAtMs, timing.graceMs);
  const nextMs = nextPollMs({ startedAtMs: next.round?.sinceMs ?? polledAtMs }, now(), timing, random());
  return saveAs({ ...next, nextPollAtMs: now() + nextMs });
}

/** Saves a failed poll and wakes the threads, which decide whether to show it. */
async function handlePollError(
  run: WatchRun,
  error: unknown,
  rateLimit: RateLimit,
  context: JobContext,
): Promise<StepResult<WatchRun>> {
  const { now, timing } = context;
  const failed = await failureOfPoll(run, error, rateLimit, context);
  if (failed === undefined) return runAgainIn(0);
  const { trouble } = failed;
  const next = applyFailure(run, trouble, now());
  // The platform may not find a job for a moment that it knew before.
  const isLost = run.seen === undefined || now() - (next.pollFailure?.sinceMs ?? 0) >= timing.graceMs;
  if (trouble.kind === 'lost' && trouble.inARow >= NOT_FOUND_AFTER && isLost)
    return saveAs(markNotFound(run, now()));
  return saveAs(next);
}

import type { AgentJob } from '../../../docs-api/schemas.ts';
import type { JobContext } from '../../context.ts';
import { defineRunJob, idle, type StepResult, save, wait } from '../../job.ts';
import { failureOfPoll, nextFailure, nextPollMs, pollInMs, pollRateLimit } from '../../polling.ts';
import type { ThreadRun } from '../thread/record.ts';
import {
  applyFailure,
  applyPoll,
  giveUp,
  markNotFound,
  newWatch,
  type PollResult,
  removeThread,
  type WatchRun,
  watchId,
  watchRun,
} from './record.ts';

/** Polls mostly wait for the platform, and a platform that hangs must not delay replies. */
const CONCURRENCY = 200;

/**
 * Consecutive "not found" answers before a job counts as unknown, within half a minute: a new job may not be known
 * everywhere at once, and the platform may not find an old one for a moment.
 */
const NOT_FOUND_AFTER = 6;

/** Polls one agent job while the agent works or a person waits for a poll. Each thread gets the result as an event. */
export const watchJob = defineRunJob({
  name: 'agent-watch',
  queue: 'docs-agent',
  concurrency: CONCURRENCY,
  schema: watchRun,
  async step({ run }, context) {
    if (run.open !== undefined || run.pollRequested) return poll(run, context);
    return idle;
  },
  giveUp: ({ run }, context) => tellThreads(giveUp(run, context.now()), context),
});

/**
 * Appends the event to the inbox of each thread, then returns the save. If the process dies in between, the job is
 * polled again; a thread may apply the same news twice.
 */
async function tellThreads({ watch, event }: PollResult, context: JobContext): Promise<StepResult<WatchRun>> {
  if (event === undefined) return save(watch);
  for (const id of watch.threads) {
    // A key for each of thousands of polls would stay for a week.
    await context.runs.appendToInbox('agent-thread', id, { event });
    await context.wake({ job: 'agent-thread', id });
  }
  return save(watch);
}

async function poll(run: WatchRun, context: JobContext): Promise<StepResult<WatchRun>> {
  const { now, random, timing, rateLimiter, limits } = context;
  const polledAtMs = now();
  if (run.open !== undefined && polledAtMs - run.open.sentAtMs >= timing.watchMs)
    return tellThreads(giveUp(run, polledAtMs), context);
  const inMs = pollInMs(run, polledAtMs, timing);
  if (inMs > 0) return wait(inMs);

  const docs = context.docs(run.project);
  const projectId = context.projectId(run.project);
  if (docs === undefined || projectId === undefined) {
    const failure = nextFailure(run.pollFailure, 'project', context);
    return tellThreads(applyFailure(run, failure, now()), context);
  }
  const rateLimit = pollRateLimit('agent-status', docs.keyId, limits.exportStatusPerSecond);
  // A poll that a person asked for has priority.
  const priority = run.pollRequested ? 'interactive' : 'low';
  const slotInMs = await rateLimiter.takeSlot(rateLimit, { id: run.id, priority });
  if (slotInMs > 0) return wait(slotInMs);
  let job: AgentJob;
  try {
    job = await docs.getAgentJob({ projectId, jobId: run.agentJobId }, { signal: context.stopping });
  } catch (error) {
    const failed = await failureOfPoll(run, error, rateLimit, context);
    if (failed === undefined) return wait(0);
    const { trouble } = failed;
    const isGone = trouble.kind === 'lost' && trouble.inARow >= NOT_FOUND_AFTER;
    return tellThreads(isGone ? markNotFound(run, now()) : applyFailure(run, trouble, now()), context);
  }
  const { watch, event } = applyPoll(run, job, polledAtMs, timing.graceMs);
  const nextMs = nextPollMs({ startedAtMs: watch.open?.sinceMs ?? polledAtMs }, now(), timing, random());
  return tellThreads({ watch: { ...watch, nextPollAtMs: now() + nextMs }, event }, context);
}

type WatchContext = Pick<JobContext, 'runs' | 'wake' | 'now'>;

/**
 * Changes the watch of a thread's job, creates it if it is missing, and wakes it. Several threads and the watch's own
 * step may change it concurrently: a conflict is retried.
 */
export async function updateWatch(
  { teamId, project, agentJobId }: ThreadRun,
  transition: (watch: WatchRun) => WatchRun,
  { runs, wake, now }: WatchContext,
): Promise<void> {
  if (agentJobId === undefined) throw new Error('a thread that is watched has an agent job');
  const id = watchId(teamId, project, agentJobId);
  for (;;) {
    const watch = await runs.load(id, watchRun);
    if (watch === undefined) {
      await runs.accept(newWatch(teamId, project, agentJobId, now()));
      continue;
    }
    const next = transition(watch);
    if (next !== watch && (await runs.save(next)) === undefined) continue;
    await runs.markDue(watch.job, id);
    await wake(watch);
    return;
  }
}

/** Takes a thread out of the watch of its job. A damaged watch is left as it is. */
export async function leaveWatch(thread: ThreadRun, { runs }: Pick<JobContext, 'runs'>): Promise<void> {
  const { id: threadId, teamId, project, agentJobId } = thread;
  if (agentJobId === undefined) return;
  for (;;) {
    const watch = await runs.load(watchId(teamId, project, agentJobId), watchRun).catch(() => undefined);
    if (!watch?.threads.includes(threadId) || (await runs.save(removeThread(watch, threadId)))) return;
  }
}

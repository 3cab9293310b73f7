import type { DocsApi } from '../../../docs-api/client.ts';
import type { Timing } from '../../../runtime/timing.ts';
import type { JobContext } from '../../engine/context.ts';
import { save } from '../../engine/job.ts';
import { isUnknownJob, nextPollMs, pollJob } from '../../engine/polling.ts';
import { hasPreviews, markPreviewOlder } from './previews.ts';
import { isWaitingForTurn, openRoundOf, type ThreadRun, unresolvedSendOf } from './record.ts';
import { applyPoll, stopPolls } from './rounds.ts';
import type { StrandResult } from './strand.ts';
import { askAboutTurn } from './turns.ts';

/**
 * Consecutive "not found" answers before a job counts as unknown, within half a minute: a new job may not be known
 * everywhere at once, and the platform may not find an old one for a moment.
 */
const NOT_FOUND_AFTER = 6;

function pollAgentJob(thread: ThreadRun, context: JobContext) {
  const { project, agentJobId: jobId = '' } = thread;
  const projectId = context.platform.projectId(project) ?? '';
  const docs = projectId === '' ? undefined : context.platform.docs(project);
  const get = (api: DocsApi) => api.getAgentJob({ projectId, jobId }, { signal: context.stopping });
  return pollJob(thread, 'agent-status', docs, get, context);
}

/** Returns whether the platform knows the job that a person named; a job that Docket makes needs no look-up. */
export async function isKnownJob(thread: ThreadRun, context: JobContext): Promise<boolean> {
  if (thread.agentJobId === undefined) return true;
  return !isUnknownJob(await pollAgentJob({ ...thread, pollRequested: true }, context));
}

/** How much slower a job is polled once its agent has worked for too long, and requests still wait for it. */
const SLOWER = 10;

/** Polls the job while a round is open, or a person waits. */
export async function watch(thread: ThreadRun, context: JobContext): StrandResult {
  const { now, timing } = context;
  const round = openRoundOf(thread);
  if (thread.agentJobId === undefined || thread.state === 'ended') return undefined;
  if (!round && !thread.pollRequested) return undefined;
  const polledAtMs = now();
  const isLong = round !== undefined && polledAtMs - round.sentAtMs >= timing.watchMs;
  if (isLong && !isWaitingForTurn(thread)) return save(stopPolls(thread, 'gaveUp', polledAtMs));
  // A send of unknown result comes first: people are asked about that.
  if (isLong && thread.turn?.workedMs === undefined && !unresolvedSendOf(thread)) {
    const keptAtMs = thread.turn?.keptAtMs ?? 0;
    if (polledAtMs - keptAtMs >= timing.watchMs) return save(askAboutTurn(thread, round, polledAtMs));
  }
  const pace = isLong ? { ...timing, pollMaxMs: timing.pollMaxMs * SLOWER } : timing;
  return save(await pollOnce(thread, context, pace));
}

/** Returns the thread after a poll. Throws `Later` until that is due. */
export async function pollOnce(thread: ThreadRun, context: JobContext, timing: Timing): Promise<ThreadRun> {
  const { now, random } = context;
  const polledAtMs = now();
  const poll = await pollAgentJob(thread, { ...context, timing });
  if ('failure' in poll) {
    const { failure } = poll;
    const isGone = failure.kind === 'lost' && failure.inARow >= NOT_FOUND_AFTER;
    if (isGone) return stopPolls(thread, 'gone', now());
    return { ...thread, pollFailure: failure, nextPollAtMs: failure.nextMs };
  }
  const next = applyPoll(thread, poll.job, polledAtMs, timing.graceMs);
  const startedAtMs = openRoundOf(next)?.sinceMs ?? polledAtMs;
  const nextPollAtMs = now() + nextPollMs({ startedAtMs }, now(), timing, random());
  if (poll.job.status === 'active') return { ...next, nextPollAtMs };
  // A round that was given up may be found ended, without ever being open again.
  const last = next.rounds.at(-1);
  if (last?.ending && last !== thread.rounds.at(-1)) await markPreviewOlder(next, last.n, context);
  return { ...next, previews: await hasPreviews(next, context), nextPollAtMs };
}

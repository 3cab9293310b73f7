import { SlackApiError } from '../../../slack/errors.ts';
import type { JobContext } from '../../context.ts';
import { done, runAgainIn } from '../../job.ts';
import { slackRetryMs } from '../../retry.ts';
import { type LoadedRun, type StepResult, saveAs } from '../../run-job.ts';
import { auditChanges } from './audit.ts';
import { compactIdle, markFinal, withoutFinal } from './compact.ts';
import { ephemeralMessage } from './ephemeral-view.ts';
import { leaveLine } from './follow-up-limit.ts';
import { showReactions } from './reactions.ts';
import type { Ephemeral, ThreadRun } from './record.ts';
import { threadMessages } from './view.ts';

// What the steps of a followed thread share.

/** A thread as a step finds it, with the events since, oldest first. */
export interface LoadedThread extends LoadedRun<ThreadRun> {
  inbox: unknown[];
}

export type ThreadStepResult = StepResult<ThreadRun, LoadedThread>;

/** Ephemerals that are posted in one step: instructions are sent in between. */
const EPHEMERALS_PER_STEP = 3;

/** Has a thread saved after what changed is audited, and the instructions that no longer wait have left the line. */
export async function saveChanges(
  before: ThreadRun,
  after: ThreadRun,
  consumed: number,
  context: JobContext,
): Promise<StepResult<ThreadRun>> {
  await recordChanges(before, after, context);
  return saveAs(after, { consumed });
}

/** The part of `saveChanges` before the save, for changes that are saved together with the intent of a send. */
export async function recordChanges(before: ThreadRun, after: ThreadRun, context: JobContext): Promise<void> {
  await auditChanges(before, after, context);
  await leaveLine(before, after, context);
}

/** Publishes all messages of a thread as they are to look now. */
export async function publishThread(run: ThreadRun, { outbox }: JobContext): Promise<void> {
  const published = threadMessages(withoutFinal(run)).map((message) =>
    outbox.publish(run.teamId, { by: message.fallbackRecipient ?? run.owner.id, ...message }, run.rev),
  );
  await Promise.all(published);
}

/**
 * Publishes everything, posts ephemerals and changes reactions. Then waits for the first of `delaysMs`, or until the
 * thread is woken.
 */
export async function publishAndWait(
  run: ThreadRun,
  wakes: number,
  delaysMs: readonly number[],
  context: JobContext,
): Promise<StepResult<ThreadRun>> {
  const { runs, now } = context;
  await publishThread(run, context);
  const ephemerals = await postEphemerals(run, context);
  if (ephemerals !== run.ephemerals) return saveAs({ ...run, ephemerals });
  const { thread, retryInMs } = await showReactions(run, context);
  const next = compactIdle(markFinal(thread), now());
  if (next !== run) return saveAs(next);
  const ephemeralsInMs = ephemerals.map(({ notBeforeMs = 0 }) => Math.max(0, notBeforeMs - now()));
  const waitMs = Math.min(...delaysMs, ...ephemeralsInMs, retryInMs);
  if (waitMs !== Infinity) return runAgainIn(waitMs);
  return (await runs.markIdle(run, run.state === 'ended', wakes)) ? done : 'next';
}

/** Posts some of the ephemerals that are due. Returns those that are left: the same list when none was tried. */
async function postEphemerals(thread: ThreadRun, context: JobContext): Promise<Ephemeral[]> {
  const isDue = ({ notBeforeMs = 0 }: Ephemeral) => notBeforeMs <= context.now();
  let left = thread.ephemerals;
  for (const ephemeral of thread.ephemerals.filter(isDue).slice(0, EPHEMERALS_PER_STEP)) {
    const retryInMs = await postEphemeral(thread, ephemeral, context);
    // What Slack does not take of one, it takes of none.
    if (retryInMs !== undefined)
      return left.map((one) => ({ ...one, notBeforeMs: context.now() + retryInMs }));
    left = left.filter((one) => one !== ephemeral);
  }
  return left;
}

/** Returns in how many milliseconds to try again; nothing when the ephemeral is posted, or cannot be. */
async function postEphemeral(
  thread: ThreadRun,
  ephemeral: Ephemeral,
  context: JobContext,
): Promise<number | undefined> {
  const { asked, place } = thread;
  const { channel } = place ?? asked;
  // In a thread without a reply Slack shows nobody an ephemeral; where none was followed, there may be no reply.
  const threadTs = place?.rootTs ?? (asked.rootTs === asked.ts ? undefined : asked.rootTs);
  const to = { channel, user: ephemeral.to, ...(threadTs !== undefined && { threadTs }) };
  const outcome = await context.callOnceInSlack(thread.id, `note.${ephemeral.id}`, () =>
    context.slack.postEphemeralTo(to, ephemeralMessage(thread, ephemeral)),
  );
  if (outcome.kind === 'done' || outcome.kind === 'unknown') return undefined;
  if (outcome.kind === 'inFlight') return outcome.forMs;
  const { error } = outcome;
  if (!(error instanceof SlackApiError)) throw error;
  context.log.warn({ run: thread.id, code: error.code }, 'Slack refused an ephemeral');
  return slackRetryMs(error, context);
}

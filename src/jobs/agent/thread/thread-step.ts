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

// Shared by the steps of a followed thread.

/** A thread as a step loads it, with its new events, oldest first. */
export interface LoadedThread extends LoadedRun<ThreadRun> {
  inbox: unknown[];
}

export type ThreadStepResult = StepResult<ThreadRun, LoadedThread>;

/** Ephemerals posted in one step; instructions are sent in between. */
const EPHEMERALS_PER_STEP = 3;

/** Audits the changes, removes instructions that no longer wait from the line, then returns the save. */
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

/** Publishes all messages of a thread in their present form. */
export async function publishThread(run: ThreadRun, { outbox }: JobContext): Promise<void> {
  const published = threadMessages(withoutFinal(run)).map((message) =>
    outbox.publish(run.teamId, { by: message.fallbackRecipient ?? run.owner.id, ...message }, run.rev),
  );
  await Promise.all(published);
}

/**
 * Publishes everything, posts ephemerals and sets reactions. Then waits for the shortest of `delaysMs`, or until the
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

/** Posts some of the due ephemerals. Returns the remaining ones: the same list if none was tried. */
async function postEphemerals(thread: ThreadRun, context: JobContext): Promise<Ephemeral[]> {
  const isDue = ({ notBeforeMs = 0 }: Ephemeral) => notBeforeMs <= context.now();
  let left = thread.ephemerals;
  for (const ephemeral of thread.ephemerals.filter(isDue).slice(0, EPHEMERALS_PER_STEP)) {
    const retryInMs = await postEphemeral(thread, ephemeral, context);
    // If Slack delays one ephemeral, it delays them all.
    if (retryInMs !== undefined)
      return left.map((one) => ({ ...one, notBeforeMs: context.now() + retryInMs }));
    left = left.filter((one) => one !== ephemeral);
  }
  return left;
}

/** Returns the milliseconds until a retry; undefined if the ephemeral is posted, or cannot be. */
async function postEphemeral(
  thread: ThreadRun,
  ephemeral: Ephemeral,
  context: JobContext,
): Promise<number | undefined> {
  const { asked, place } = thread;
  const { channel } = place ?? asked;
  // Slack shows no ephemeral in a thread without replies; a thread that was not followed may have none.
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

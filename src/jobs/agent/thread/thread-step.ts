import { UnreadableRun } from '../../../store/runs.ts';
import type { JobContext } from '../../context.ts';
import { done, runAgainIn } from '../../job.ts';
import type { LoadedRun, StepResult } from '../../run-job.ts';
import { compactIdle, markFinal, withoutFinal } from './compact.ts';
import { postNotes } from './notes-step.ts';
import type { ThreadRun } from './record.ts';
import { reactionsOf, threadMessages } from './view.ts';

/** A thread as a step finds it, with the events since, oldest first. */
export interface LoadedThread extends LoadedRun<ThreadRun> {
  inbox: unknown[];
}

/** The next step finds what was saved, or what somebody else did meanwhile. */
export async function save(run: ThreadRun, consumed: number, { threads }: JobContext): Promise<StepResult> {
  await threads.save(run, consumed);
  return 'next';
}

/** Says and shows all there is to say, then waits for the first of `waits`, or until somebody wakes the thread. */
export async function publishAndWait(
  run: ThreadRun,
  wakes: number,
  delaysMs: number[],
  context: JobContext,
): Promise<StepResult> {
  await publishThread(run, context);
  const notes = await postNotes(run, context);
  if (notes !== run.notes) return save({ ...run, notes }, 0, context);
  delaysMs.push(...notes.map(({ notBeforeMs = 0 }) => Math.max(0, notBeforeMs - context.now())));
  const next = compactIdle(markFinal(run), context.now());
  if (next !== run) return save(next, 0, context);
  if (delaysMs.length > 0) return runAgainIn(Math.min(...delaysMs));
  return (await context.runs.markIdle(run, run.state === 'ended', wakes)) ? done : 'next';
}

/** Shows everything as it should look now. */
export async function publishThread(run: ThreadRun, { outbox }: JobContext): Promise<void> {
  const { teamId, id: runId, place } = run;
  const published = threadMessages(withoutFinal(run)).map((message) =>
    outbox.publish(teamId, { by: message.otherwise ?? run.owner.id, ...message }, run.rev),
  );
  const reacted =
    place && outbox.publishReactions({ teamId, runId, channel: place.channel }, reactionsOf(run), run.rev);
  await Promise.all([...published, reacted]);
}

/** Answers whether it could be done: not while only a newer Docket can read the watch of the job. */
export async function ifReadable(action: () => Promise<unknown>, { log }: JobContext): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    if (!(error instanceof UnreadableRun)) throw error;
    log.error({ err: error }, 'the watch of an agent job cannot be read');
    return false;
  }
}

import { UnreadableRun } from '../../../store/runs.ts';
import { done, lookAgainIn, type Outcome } from '../../job.ts';
import { idling } from './compact-idle.ts';
import type { AgentContext } from './context.ts';
import { told, untold } from './final.ts';
import { sayNotes } from './notes-step.ts';
import { reactionsOf } from './reactions.ts';
import type { ThreadRun } from './record.ts';
import { threadMessages } from './view.ts';

/** A thread as a step finds it: what happened to it since, oldest first, and how often it has been woken. */
export interface Opened {
  run: ThreadRun;
  heard: unknown[];
  wakes: number;
}

/** What one step of a look came to: another step follows at once, or the look is over. */
export type Step = 'next' | Outcome;

/** The next step finds what was saved, or what somebody else did meanwhile. */
export async function save(run: ThreadRun, taken: number, { threads }: AgentContext): Promise<Step> {
  await threads.save(run, taken);
  return 'next';
}

/** Says and shows all there is to say, then waits for the first of `waits`, or until somebody wakes the thread. */
export async function tell(
  run: ThreadRun,
  wakes: number,
  waits: number[],
  context: AgentContext,
): Promise<Step> {
  await show(run, context);
  const notes = await sayNotes(run, context);
  if (notes !== run.notes) return save({ ...run, notes }, 0, context);
  waits.push(...notes.map(({ notBeforeMs = 0 }) => Math.max(0, notBeforeMs - context.now())));
  const next = idling(told(run), context.now());
  if (next !== run) return save(next, 0, context);
  if (waits.length > 0) return lookAgainIn(Math.min(...waits));
  return (await context.runs.settle(run, run.state === 'ended', wakes)) ? done : 'next';
}

/** Shows everything as it should look now. */
export async function show(run: ThreadRun, { outbox, reactions }: AgentContext): Promise<void> {
  const { teamId, id: runId, place } = run;
  const shown = threadMessages(untold(run)).map((message) =>
    outbox.show(teamId, { by: message.otherwise ?? run.owner.id, ...message }, run.rev),
  );
  const reacted =
    place && reactions.show({ teamId, runId, channel: place.channel }, reactionsOf(run), run.rev);
  await Promise.all([...shown, reacted]);
}

/** Answers whether it could be done: not while only a newer Docket can read the watch of the job. */
export async function whileReadable(run: () => Promise<unknown>, { log }: AgentContext): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (!(error instanceof UnreadableRun)) throw error;
    log.error({ err: error }, 'the watch of an agent job cannot be read');
    return false;
  }
}

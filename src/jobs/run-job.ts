import { z } from 'zod';
import { type RunBase, UnreadableRun } from '../store/runs.ts';
import type { JobContext } from './context.ts';
import { done, type Job, type Outcome, type QueueName, runAgainIn } from './job.ts';

/** How often a record that cannot be read is tried again. */
export const UNREADABLE_RETRY_MS = 60_000;

/** What a step came to: another one is to follow at once, or an outcome. */
export type StepResult = 'next' | Outcome;

/** A run as a step finds it. `wakes`: how often it has been woken, for `markIdle`. */
export interface LoadedRun<R extends RunBase> {
  run: R;
  wakes: number;
}

/** A job that takes runs of one kind from accepted to ended, one step at a time. */
export interface RunJob<R extends RunBase, Loaded extends LoadedRun<R>, Execution> {
  /** The `job` of its runs. */
  name: R['job'];
  queue: QueueName;
  concurrency: number;
  schema: z.ZodType<R>;
  /** Loads a run with whatever else a step needs; without it, the run alone. Throws `UnreadableRun`. */
  load?(runId: string, context: JobContext): Promise<Loaded | undefined>;
  /** Steps of one execution, 1 when missing; then other runs have their turn. */
  maxSteps?: number;
  /** Makes what the steps of one execution share. */
  newExecution?(context: JobContext): Execution;
  /** One step: publish, do one thing, save. Safe to repeat at any point, since a process may die at any point. */
  step(loaded: Loaded, context: JobContext, execution: Execution): Promise<StepResult>;
  /** After a defect of ours, again and again: ends the run, and tells people `ref`, which the log has too. */
  giveUp(loaded: Loaded, context: JobContext, ref: string): Promise<unknown>;
}

/**
 * Returns the job of one kind of runs. When the record of a run is gone, the run is taken off the list; when it cannot
 * be read, a newer Docket wrote it, and it is left to that one as it is.
 */
export function defineRunJob<
  R extends RunBase,
  Loaded extends LoadedRun<R> = LoadedRun<R>,
  Execution = undefined,
>(definition: RunJob<R, Loaded, Execution>): Job<{ runId: string }, JobContext> {
  const { name, queue, concurrency, schema, maxSteps = 1 } = definition;

  async function withRun(
    runId: string,
    context: JobContext,
    use: (loaded: Loaded) => Promise<StepResult>,
  ): Promise<StepResult> {
    let loaded: Loaded | undefined;
    try {
      // Without a `load`, `Loaded` is what the store gives.
      loaded = definition.load
        ? await definition.load(runId, context)
        : ((await context.runs.loadWithWakes(runId, schema)) as Loaded | undefined);
    } catch (error) {
      if (!(error instanceof UnreadableRun)) throw error;
      context.log.info(
        { run: runId, job: name, err: error },
        'a run cannot be read, and is left to a newer Docket',
      );
      return runAgainIn(UNREADABLE_RETRY_MS);
    }
    if (loaded !== undefined) return use(loaded);
    await context.runs.unlist(name, runId);
    return done;
  }

  return {
    name,
    queue,
    list: 'runs',
    concurrency,
    data: z.object({ runId: z.string() }),

    async run({ runId }, context) {
      const execution = definition.newExecution?.(context) as Execution;
      for (let steps = 0; steps < maxSteps; steps += 1) {
        const result = await withRun(runId, context, (loaded) => definition.step(loaded, context, execution));
        if (result !== 'next') return result;
      }
      return runAgainIn(0);
    },

    async giveUp({ runId }, context, ref) {
      await withRun(runId, context, async (loaded) => {
        await definition.giveUp(loaded, context, ref);
        return done;
      });
    },
  };
}

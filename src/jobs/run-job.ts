import { z } from 'zod';
import type { OutboxMessage } from '../slack/outbox.ts';
import type { AuditEntry } from '../store/audit.ts';
import type { RunBase } from '../store/runs.ts';
import type { JobContext } from './context.ts';
import type { RunNeeds } from './feature.ts';
import { done, type Job, type Outcome, runAgainIn } from './job.ts';
import { usersToRefresh, withNeeds } from './needs.ts';
import type { QueueName } from './queue.ts';

/** Maximum steps of one execution; after that, the worker slot goes to another run. */
export const MAX_STEPS = 40;

/**
 * The next state of a run to save; the next step is due after `inMs`. `audit` is the result for an audit line;
 * `consumed`: the save drops that many of the oldest inbox entries.
 */
interface Save<R> {
  kind: 'save';
  run: R;
  inMs: number;
  audit: string | undefined;
  consumed: number;
}

/** The step saved the run itself; the next step follows at once with this. */
interface Saved<Loaded> {
  kind: 'saved';
  loaded: Loaded;
}

/** A step's result: the next step follows at once, the run is saved first, or an outcome. */
export type StepResult<R, Loaded = never> =
  | 'next'
  | Save<R>
  | ([Loaded] extends [never] ? never : Saved<Loaded>)
  | Outcome;

export const saveAs = <R>(
  run: R,
  options: { inMs?: number; audit?: string; consumed?: number } = {},
): Save<R> => ({
  kind: 'save',
  run,
  inMs: options.inMs ?? 0,
  audit: options.audit,
  consumed: options.consumed ?? 0,
});

/** Marks a finished run idle until it is woken, and releases its claim. */
export async function markIdle(run: RunBase, { runs }: Pick<JobContext, 'runs'>): Promise<Outcome> {
  await runs.markIdle(run, true);
  return done;
}

/** A run as a step loads it. `wakes` counts its wakes, for `markIdle`. */
export interface LoadedRun<R extends RunBase> {
  run: R;
  wakes: number;
}

interface SteppedRun extends RunBase {
  state?: string;
  needs?: string[] | undefined;
}

/** A job that takes runs of one kind from accepted to ended, one step at a time. */
export interface RunJob<R extends SteppedRun, Loaded extends LoadedRun<R>, Execution> {
  /** The `job` of its runs. */
  name: R['job'];
  queue: QueueName;
  concurrency: number;
  schema: z.ZodType<R>;
  /** Loads a run with any further data for a step; without it, the run alone. */
  load?(runId: string, context: JobContext): Promise<Loaded | undefined>;
  /**
   * Saves a run and drops the oldest `consumed` entries of its inbox; without it, the run alone is saved. Returns what
   * `load` would return now; undefined if `run` was not the latest revision.
   */
  save?(run: R, consumed: number, context: JobContext): Promise<Loaded | undefined>;
  /** Every message of a run in its present form, published before each step and before each pause. */
  messages?(run: R): OutboxMessage[];
  /** Whether the save of a run releases its claim, if there is no `save`. */
  hasEnded?(run: R): boolean;
  /** The open questions of a run; the Home tabs of the people asked are refreshed when they change. */
  needs?: RunNeeds<R>['of'];
  auditLine?(run: R): Omit<AuditEntry, 'atMs' | 'result'>;
  /** Creates the data that the steps of one execution share. */
  newExecution?(context: JobContext): Execution;
  /** Does one thing. Safe to repeat at any point, since a process may die at any point. */
  step(loaded: Loaded, context: JobContext, execution: Execution): Promise<StepResult<R, Loaded>>;
  /** After repeated errors of our own: ends the run, and shows people `ref`, which the log has as well. */
  giveUp(loaded: Loaded, context: JobContext, ref: string): Promise<StepResult<R, Loaded>>;
}

/** The next step follows at once. `loaded`: its input, if the save returned it. */
interface Next<Loaded> {
  kind: 'next';
  loaded: Loaded | undefined;
}

/** Returns the job of one kind of runs. If a run's record is missing or damaged, the run leaves the due list. */
export function defineRunJob<
  R extends SteppedRun,
  Loaded extends LoadedRun<R> = LoadedRun<R>,
  Execution = undefined,
>(definition: RunJob<R, Loaded, Execution>): Job<{ runId: string }, JobContext> {
  const { name, queue, concurrency, schema } = definition;

  /** Loads the run, or returns an outcome if there is none to step. */
  async function load(runId: string, context: JobContext): Promise<Loaded | Outcome> {
    try {
      // Without a `load`, `Loaded` is the store's type.
      const loaded = definition.load
        ? await definition.load(runId, context)
        : ((await context.runs.loadWithWakes(runId, schema)) as Loaded | undefined);
      if (loaded !== undefined) return loaded;
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      context.log.error({ run: runId, job: name, err: error }, 'the record of a run is damaged');
      await context.runs.abandon(name, runId);
      return done;
    }
    await context.runs.unlist(name, runId);
    return done;
  }

  /** Steps a run by `makeStep`, and saves the result. */
  async function stepRun(
    loaded: Loaded,
    context: JobContext,
    makeStep: (loaded: Loaded) => Promise<StepResult<R, Loaded>>,
  ): Promise<Next<Loaded> | Outcome> {
    const result = await makeStep(loaded);
    if (result === 'next') return { kind: 'next', loaded: undefined };
    if (result.kind === 'saved') return { kind: 'next', loaded: result.loaded };
    return result.kind === 'save' ? saveAndPublish(result, loaded.run, context) : result;
  }

  async function saveAndPublish(
    { run, inMs, audit, consumed }: Save<R>,
    before: R,
    context: JobContext,
  ): Promise<Next<Loaded> | Outcome> {
    // Before the save: after a crash a line may be in the audit log twice, but is never missing.
    if (audit !== undefined && definition.auditLine) {
      const line = { ...definition.auditLine(run), atMs: context.now(), result: audit };
      await context.audit.add(run.teamId, line);
    }
    // The claim is released before people see the ending, so that they can repeat the request at once.
    const loaded = definition.save
      ? await definition.save(run, consumed, context)
      : ((await context.runs.saveWithWakes(run, definition.hasEnded?.(run) ?? false)) as Loaded | undefined);
    const about = { run: run.id, job: name, rev: run.rev, state: run.state, audit };
    if (loaded === undefined) {
      // This process may have been taken for dead: then its BullMQ job is gone.
      context.log.info(about, 'run changed concurrently, skipping');
      await context.wake(run);
      return done;
    }
    const people = usersToRefresh(before, loaded.run);
    if (people.length > 0) await context.refreshHomes(run.teamId, people);
    if (run.state !== before.state) context.log.info(about, 'a run has a new state');
    if (inMs <= 0) return { kind: 'next', loaded };
    await publish(loaded.run, context);
    return runAgainIn(inMs);
  }

  async function publish(run: R, context: JobContext): Promise<void> {
    const messages = definition.messages?.(run) ?? [];
    await Promise.all(messages.map((message) => context.outbox.publish(run.teamId, message, run.rev)));
  }

  async function execute(runId: string, context: JobContext, known?: Loaded): Promise<Outcome> {
    const execution = definition.newExecution?.(context) as Execution;
    let found = known;
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const loaded = found ?? (await load(runId, context));
      if (!('run' in loaded)) return loaded;
      const result = await stepRun(loaded, context, async ({ run }) => {
        await publish(run, context);
        const changed = definition.needs && withNeeds(run, definition.needs(run));
        if (changed !== undefined) return saveAs(changed);
        return definition.step(loaded, context, execution);
      });
      if (result.kind !== 'next') return result;
      found = result.loaded;
    }
    return runAgainIn(0);
  }

  return {
    name,
    queue,
    list: 'runs',
    concurrency,
    data: z.object({ runId: z.string() }),
    run: ({ runId }, context) => execute(runId, context),

    async giveUp({ runId }, context, ref) {
      const loaded = await load(runId, context);
      if (!('run' in loaded)) return;
      const result = await stepRun(loaded, context, () => definition.giveUp(loaded, context, ref));
      // The remaining work of an ended run.
      if (result.kind === 'next') await execute(runId, context, result.loaded);
    },
  };
}

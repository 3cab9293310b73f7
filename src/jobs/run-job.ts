import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { OutboxMessage } from '../slack/outbox.ts';
import type { AuditEntry } from '../store/audit.ts';
import type { LoadedRun, RunBase } from '../store/runs.ts';
import type { JobContext } from './context.ts';
import { questionId, type RunNeeds } from './feature.ts';
import { done, type Job, type Outcome, runAgainIn } from './job.ts';
import type { QueueName } from './queue.ts';

/** Maximum steps of one execution; after that, the worker slot goes to another run. */
const MAX_STEPS = 40;

/** The next state of a run to save. */
interface Save<R> extends SaveOptions {
  kind: 'save';
  run: R;
}

interface SaveOptions {
  /** The next step is due after this time; by default at once. */
  inMs?: number;
  /** The result for an audit line. */
  audit?: string;
  /** The save drops that many of the oldest inbox entries. */
  consumed?: number;
}

/** A step's result: the next step follows at once, the run is saved first, or an outcome. */
export type StepResult<R> = 'next' | Save<R> | Outcome;

export const saveAs = <R>(run: R, options: SaveOptions = {}): Save<R> => ({ kind: 'save', run, ...options });

/** Marks a finished run idle until it is woken, and releases its claim. */
export async function markIdle(run: RunBase, { runs }: Pick<JobContext, 'runs'>): Promise<Outcome> {
  await runs.markIdle(run, true);
  return done;
}

interface SteppedRun extends RunBase {
  state?: string;
  needs?: string[] | undefined;
}

/** Returns the people whose open questions changed. */
function usersToRefresh(before: SteppedRun, after: SteppedRun): string[] {
  const [was, is] = [before.needs ?? [], after.needs ?? []];
  const changed = [...was.filter((one) => !is.includes(one)), ...is.filter((one) => !was.includes(one))];
  return [...new Set(changed.map((one) => one.slice(0, one.indexOf(' '))))];
}

/** A job that takes runs of one kind from accepted to ended, one step at a time. */
export interface RunJob<R extends SteppedRun> {
  /** The `job` of its runs. */
  name: R['job'];
  queue: QueueName;
  concurrency: number;
  schema: z.ZodType<R>;
  /** Every message of a run in its present form, published before each step and before each pause. */
  messages?(run: R): OutboxMessage[];
  /** Whether the save of a run releases its claim. */
  hasEnded?(run: R): boolean;
  /** The open questions of a run; the Home tabs of the people asked are refreshed when they change. */
  needs?: RunNeeds<R>['of'];
  auditLine?(run: R): Omit<AuditEntry, 'atMs' | 'result'>;
  /** Does one thing. Safe to repeat at any point, since a process may die at any point. */
  step(loaded: LoadedRun<R>, context: JobContext): Promise<StepResult<R>>;
  /** After repeated errors of our own: ends the run, and shows people `ref`, which the log has as well. */
  giveUp(loaded: LoadedRun<R>, context: JobContext, ref: string): Promise<StepResult<R>>;
}

/** Returns the job of one kind of runs. If a run's record is missing or damaged, the run leaves the due list. */
export function defineRunJob<R extends SteppedRun>(definition: RunJob<R>): Job {
  const { name, queue, concurrency, schema } = definition;

  /** Loads the run; undefined if there is none to step. */
  async function load(runId: string, { runs, log }: JobContext): Promise<LoadedRun<R> | undefined> {
    try {
      const loaded = await runs.loadWithInbox(runId, schema);
      if (loaded === undefined) await runs.unlist({ job: name, id: runId });
      return loaded;
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error({ run: runId, job: name, err: error }, 'the record of a run is damaged');
      await runs.unlist({ job: name, id: runId }, true);
      return undefined;
    }
  }

  /** Returns the saved run if the next step follows at once, else an outcome. */
  async function saveAndPublish(
    { run, inMs = 0, audit, consumed = 0 }: Save<R>,
    before: R,
    context: JobContext,
  ): Promise<LoadedRun<R> | Outcome> {
    // Before the save: after a crash a line may be in the audit log twice, but is never missing.
    if (audit !== undefined && definition.auditLine) {
      const line = { ...definition.auditLine(run), atMs: context.now(), result: audit };
      await context.audit.add(run.teamId, line);
    }
    // The claim is released before people see the ending, so that they can repeat the request at once.
    const release = definition.hasEnded?.(run) ?? false;
    const saved = await context.runs.saveStep(run, { consumed, release });
    const about = { run: run.id, job: name, rev: run.rev, state: run.state, audit };
    if (saved === undefined) {
      // This process may have been taken for dead: then its BullMQ job is gone.
      context.log.info(about, 'run changed concurrently, skipping');
      await context.wake(run);
      return done;
    }
    const people = usersToRefresh(before, saved.run);
    if (people.length > 0) await context.refreshHomes(run.teamId, people);
    if (run.state !== before.state) context.log.info(about, 'a run has a new state');
    if (inMs <= 0) return saved;
    await publish(saved.run, context);
    return runAgainIn(inMs);
  }

  async function publish(run: R, context: JobContext): Promise<void> {
    const messages = definition.messages?.(run) ?? [];
    await Promise.all(messages.map((message) => context.outbox.publish(run.teamId, message, run.rev)));
  }

  async function step(loaded: LoadedRun<R>, context: JobContext): Promise<StepResult<R>> {
    const { run } = loaded;
    await publish(run, context);
    const needs = definition.needs?.(run).map(questionId) ?? [];
    if (!isDeepStrictEqual(needs, run.needs ?? [])) return saveAs({ ...run, needs });
    return definition.step(loaded, context);
  }

  async function execute(runId: string, context: JobContext): Promise<Outcome> {
    let next: LoadedRun<R> | undefined;
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const loaded = next ?? (await load(runId, context));
      if (loaded === undefined) return done;
      next = undefined;
      const result = await step(loaded, context);
      if (result === 'next') continue;
      if (result.kind !== 'save') return result;
      const saved = await saveAndPublish(result, loaded.run, context);
      if (!('run' in saved)) return saved;
      next = saved;
    }
    return runAgainIn(0);
  }

  return {
    name,
    queue,
    concurrency,
    run: execute,

    async giveUp(runId, context, ref) {
      const loaded = await load(runId, context);
      if (loaded === undefined) return;
      const result = await definition.giveUp(loaded, context, ref);
      if (result !== 'next' && result.kind !== 'save') return;
      if (result !== 'next') await saveAndPublish(result, loaded.run, context);
      // An ended run still has work.
      await context.wake(loaded.run);
    },
  };
}

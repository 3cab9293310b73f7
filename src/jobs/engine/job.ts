import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { orWait, type Wait, wait } from '../../runtime/later.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import type { AuditEntry } from '../../store/audit.ts';
import type { LoadedRun, RunBase } from '../../store/runs.ts';
import { questionId, type RunNeeds } from '../shared/feature.ts';
import type { JobContext } from './context.ts';
import type { QueueName } from './queue.ts';
import type { EventsOf, Sent } from './send-event.ts';

/** A kind of background work. Its subject (`id`) has at most one BullMQ job at a time. */
export interface Job<Context = JobContext> {
  /** Name in logs, metrics and records. */
  name: string;
  queue: QueueName;
  /** Maximum number that one process runs at once; jobs that share a queue share the largest number. */
  concurrency: number;
  /**
   * One execution: one or a few steps. Safe to repeat at any point, since a process may die at any point. It never waits
   * for the next step: it returns, or throws as `Later`, when that is due; undefined if there is none.
   */
  run(id: string, context: Context): Promise<Wait | undefined>;
  /** The schema of its records, if it has any. */
  schema?: z.ZodType;
  /** Returns the workspace of a subject without a record. */
  teamOf?(id: string): string | undefined;
  /** After repeated errors of our own: shows people `ref`, which the log has as well. */
  giveUp?(id: string, context: Context, ref: string): Promise<void>;
}

/** Executes a job, and returns when its next step is due; undefined if there is none. */
export const runOnce = <Context>(job: Job<Context>, id: string, context: Context) =>
  orWait(job.run(id, context));

/** Maximum steps of one execution; after that, the worker slot goes to another run. */
const MAX_STEPS = 40;

/** Runs whose published revision a process remembers. */
const MAX_PUBLISHED = 10_000;

interface SaveOptions {
  /** The next step is due after this time; by default at once. */
  inMs?: number;
  /** The result for an audit line. */
  audit?: string;
  /** How many of the events it was given the step has taken; by default none. */
  taken?: number;
}

/** The next state of a run. */
export type Save<R> = { kind: 'save'; run: R } & SaveOptions;

/** A step's result: the run is saved, waits, is idle until it is woken, or is loaded again for its next step. */
export type StepResult<R> = Save<R> | Wait | { kind: 'idle'; release: boolean } | 'next';

/** Saves the next state of the run. */
export const save = <R>(run: R, options: SaveOptions = {}): Save<R> => ({ kind: 'save', run, ...options });

/** Nothing is due until the run is woken. Its claim is released, or kept. */
export const idle = { kind: 'idle' as const, release: true };
export const idleWithClaim = { kind: 'idle' as const, release: false };

function usersToRefresh(before: RunBase, after: RunBase): string[] {
  const changed = new Set(before.needs ?? []).symmetricDifference(new Set(after.needs ?? []));
  return [...new Set([...changed].map((one) => one.slice(0, one.indexOf(' '))))];
}

/** A job that takes runs of one kind from accepted to ended, one step at a time. */
export interface RunJob<R extends RunBase, Event extends object = never>
  extends Pick<Job, 'queue' | 'concurrency'> {
  /** The `job` of its runs. */
  name: R['job'];
  schema: z.ZodType<R>;
  /** Every message of a run in its present form, published before a step and before a pause if the run has changed. */
  messages?(run: R, context: JobContext): OutboxMessage[];
  /** What other runs learn from its present form. It is sent together with the messages; each key only once. */
  sends?(run: R, context: JobContext): Sent[] | Promise<Sent[]>;
  /** Whether the save of a run releases its claim. */
  releasesClaim?(run: R): boolean;
  /** The open questions of a run; the Home tabs of the people asked are refreshed when they change. */
  needs?: RunNeeds<R>['of'];
  auditLine?(run: R): Omit<AuditEntry, 'atMs' | 'result'>;
  /** The events that its runs take. A damaged one is logged and left out. */
  events?: EventsOf<Event>;
  /** Returns the run after these events; undefined while they have to wait. Without it, `step` takes them. */
  apply?(run: R, events: readonly Event[], nowMs: number): R | undefined;
  /** Returns the final form of each save. What it does outside comes before the save, and may be repeated. */
  beforeSave?(before: R, next: Save<R>, context: JobContext): Save<R> | Promise<Save<R>>;
  /** Does one thing. Safe to repeat at any point, since a process may die at any point. */
  step(run: R, context: JobContext, events: readonly Event[]): Promise<StepResult<R>>;
  /** After repeated errors of our own: ends a run that has not ended, and shows people `ref`, which the log has too. */
  giveUp(run: R, context: JobContext, ref: string): Promise<StepResult<R>>;
}

/** Returns the job of one kind of runs. If a run's record is missing or damaged, the run leaves the due list. */
export function defineRunJob<R extends RunBase, Event extends object = never>(
  definition: RunJob<R, Event>,
): Job {
  const { name, queue, concurrency, schema, events: ofEvents } = definition;

  /** Loads the run; undefined if there is none to step. */
  async function load(id: string, { log, store: { runs } }: JobContext): Promise<LoadedRun<R> | undefined> {
    try {
      const loaded = await runs.loadWithInbox(id, schema);
      if (loaded === undefined) await runs.unlist({ job: name, id });
      return loaded;
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      log.error({ run: id, job: name, err: error }, 'the record of a run is damaged');
      await runs.unlist({ job: name, id }, true);
      return undefined;
    }
  }

  const read = (entry: unknown) => ofEvents?.schema.safeParse(entry);
  const eventsOf = (inbox: readonly unknown[]): Event[] => inbox.flatMap((entry) => read(entry)?.data ?? []);

  /** Returns how many entries of an inbox have these many events, and the damaged ones among and behind them. */
  function entriesOf(taken: number, { run, inbox }: LoadedRun<R>, { log }: JobContext): number {
    let events = 0;
    for (const [at, entry] of inbox.entries()) {
      const result = read(entry);
      if (result?.success && events === taken) return at;
      if (result?.success) events += 1;
      else log.error({ run: run.id, job: name, err: result?.error }, 'an event of a run is damaged');
    }
    return inbox.length;
  }

  /** Applies a step's result. Returns the run if its next step follows at once, else what `Job.run` returns. */
  async function apply(result: StepResult<R>, loaded: LoadedRun<R>, context: JobContext) {
    const { run: before, wakes } = loaded;
    const { runs, audit: auditLog } = context.store;
    if (result === 'next') return load(before.id, context);
    if (result.kind === 'wait') return result;
    if (result.kind === 'idle') {
      const isIdle = await runs.markIdle(before, result.release, wakes);
      return isIdle ? undefined : load(before.id, context);
    }
    const next = (await definition.beforeSave?.(before, result, context)) ?? result;
    const { run, inMs = 0, audit, taken } = next;
    // Before the save: after a crash a line may be in the audit log twice, but is never missing.
    if (audit !== undefined && definition.auditLine)
      await auditLog.add(run.teamId, { ...definition.auditLine(run), atMs: context.now(), result: audit });
    // The claim is released before people see the ending, so that they can repeat the request at once.
    const release = definition.releasesClaim?.(run) ?? false;
    const consumed = taken === undefined ? 0 : entriesOf(taken, loaded, context);
    const saved = await runs.saveStep(run, { consumed, release });
    const about = { run: run.id, job: name, rev: run.rev, state: run.state, audit };
    if (saved === undefined) {
      // This process may have been taken for dead: then its BullMQ job is gone.
      context.log.info(about, 'run changed concurrently, skipping');
      await context.wake(run);
      return undefined;
    }
    const people = usersToRefresh(before, saved.run);
    if (people.length > 0) await context.refreshHomes(run.teamId, people);
    if (run.state !== before.state) context.log.info(about, 'a run has a new state');
    if (inMs <= 0) return saved;
    await publish(saved.run, context);
    return wait(inMs);
  }

  async function publish(run: R, context: JobContext): Promise<void> {
    const { outbox, published } = context;
    if (published.get(run.id) === run.rev) return;
    const messages = definition.messages?.(run, context) ?? [];
    await Promise.all(messages.map((message) => outbox.publish(run.teamId, message, run.rev)));
    for (const { job, id, event, dedupeKey, isPatient } of (await definition.sends?.(run, context)) ?? [])
      await context.sendEvent<object>({ job }, id, event, dedupeKey, isPatient);
    if (published.size >= MAX_PUBLISHED) published.clear();
    published.set(run.id, run.rev);
  }

  async function step({ run, inbox }: LoadedRun<R>, context: JobContext): Promise<StepResult<R>> {
    const needs = definition.needs?.(run).map(questionId) ?? [];
    if (!isDeepStrictEqual(needs, run.needs ?? [])) return save({ ...run, needs });
    const events = eventsOf(inbox);
    if (inbox.length > 0) {
      const applied = events.length === 0 ? run : definition.apply?.(run, events, context.now());
      if (applied) return save(applied, { taken: events.length });
    }
    return definition.step(run, context, events);
  }

  return {
    name,
    queue,
    concurrency,
    schema,

    async run(id, context) {
      let next: LoadedRun<R> | Wait | undefined = await load(id, context);
      for (let steps = 0; steps < MAX_STEPS && next && 'run' in next; steps += 1) {
        // The call of a step does not wait for the messages, but its result does.
        const published = publish(next.run, context);
        published.catch(() => {});
        const result = await step(next, context).finally(() => published);
        next = await apply(result, next, context);
      }
      return next && 'run' in next ? wait(0) : next;
    },

    async giveUp(id, context, ref) {
      const loaded = await load(id, context);
      if (loaded === undefined) return;
      const { run } = loaded;
      const result = run.state === 'ended' ? idle : await definition.giveUp(run, context, ref);
      await apply(result, loaded, context);
      // An ended run still has work.
      if (result === 'next' || result.kind === 'save') await context.wake(run);
    },
  };
}

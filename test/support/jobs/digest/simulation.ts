import { editionJob } from '../../../../src/jobs/digest/edition/job.ts';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { rowJob } from '../../../../src/jobs/digest/row/job.ts';
import { scheduleJob } from '../../../../src/jobs/digest/schedule/job.ts';
import type { JobContext } from '../../../../src/jobs/engine/context.ts';
import type { RunRef } from '../../../../src/store/run-scripts.ts';
import { stepJob } from '../world.ts';

/** What ends a step as a kill of its process does. */
class Killed extends Error {}

/** Returns the store, or whatever has functions of this kind, whose calls die before or after they have had their effect. */
export const mortal = <Store extends object>(store: Store, dies: () => boolean): Store =>
  Object.fromEntries(
    Object.entries(store).map(([name, call]) => [
      name,
      // The sweeper asks for the active runs.
      name === 'active' || call.constructor.name === 'AsyncGeneratorFunction'
        ? call
        : async (...args: unknown[]) => {
            if (dies()) throw new Killed(name);
            const result = await call.apply(store, args);
            if (dies()) throw new Killed(name);
            return result;
          },
    ]),
  ) as Store;

/** The sweeper finds work whose wake was lost after this time. */
const SWEEP_MS = 5000;

/** Steps the runs of digests whenever they are due, at a clock of their own. `wake` is the one of their context. */
export function simulation(clock: { nowMs: number }) {
  const jobs = new Map([scheduleJob, editionJob, figuresJob, rowJob].map((job) => [job.name, job]));
  const due = new Map<string, { job: string; atMs: number }>();

  async function step(id: string, job: string, context: JobContext): Promise<number | undefined> {
    const known = jobs.get(job);
    try {
      return known && (await stepJob(known, id, context));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      context.published.clear();
      for (const run of await context.store.runs.active())
        due.set(run.id, { job: run.job, atMs: clock.nowMs + SWEEP_MS });
      return 0;
    }
  }

  return {
    async wake({ job, id }: RunRef) {
      due.set(id, { job, atMs: clock.nowMs });
    },
    /** Goes on to `endMs`. `passTo` moves the clock, perhaps further; no pause is shorter than `minPauseMs` says. */
    async goOn(
      endMs: number,
      context: JobContext,
      passTo: (ms: number) => unknown = (ms) => {
        clock.nowMs = ms;
      },
      minPauseMs: (job: string) => number = () => 1,
    ) {
      for (;;) {
        let first: [id: string, { job: string; atMs: number }] | undefined;
        for (const one of due) if (first === undefined || one[1].atMs < first[1].atMs) first = one;
        if (first === undefined || first[1].atMs >= endMs) return;
        const [id, { job, atMs }] = first;
        if (atMs > clock.nowMs) await passTo(atMs);
        due.delete(id);
        const inMs = await step(id, job, context);
        if (inMs === undefined || due.has(id)) continue;
        due.set(id, { job, atMs: clock.nowMs + Math.max(minPauseMs(job), inMs) });
      }
    },
  };
}

import { ReplyError } from 'ioredis';
import type { z } from 'zod';
import type { Log } from '../runtime/log.ts';
import { within } from '../runtime/within.ts';
import { message } from '../slack/blocks.ts';
import { type Acceptance, type Quota, type RunBase, type RunStore, UnreadableRun } from '../store/runs.ts';
import type { Happening, ThreadStore } from '../store/threads.ts';
import { TellUser } from './user-facing-error.ts';

/**
 * Where requests become runs. What it refuses has not happened and will not; what it is in doubt about it says so,
 * and that goes on if it was kept. Both come as `TellUser`.
 */
export interface Intake {
  /** Keeps a new run and queues it. */
  start(run: RunBase, request: IntakeRequest, quotas?: readonly Quota[]): Promise<Acceptance>;
  /**
   * The same for a run that a person changed; it carries the revision that was read. With `claims` it keeps others
   * from starting the same, as a start does.
   */
  resume(
    run: RunBase,
    request: IntakeRequest,
    claims: boolean,
    quotas?: readonly Quota[],
  ): Promise<Acceptance>;
  /** Keeps what happened to a run, once, and has it looked at. `gone`: there is no such run. */
  tell(
    job: string,
    runId: string,
    what: Happening,
    request: IntakeRequest,
  ): Promise<'kept' | 'repeated' | 'gone'>;
  /** The run that has this further name. */
  byAlias(name: string, request: IntakeRequest): Promise<string | undefined>;
  /** What is listed of followed threads, the latest first; without those that only a newer Docket can read. */
  followed<T>(teamId: string, schema: z.ZodType<T>, request: IntakeRequest): Promise<T[]>;
  /** Reads runs, in the order of their ids; without those that are gone or that only a newer Docket can read. */
  loadAll<R extends RunBase>(
    runIds: readonly string[],
    schema: z.ZodType<R>,
    request: IntakeRequest,
  ): Promise<R[]>;
  /** The runs of a job that a worker has to look at, oldest first. Unreadable ones are left out. */
  active<R extends RunBase>(schema: z.ZodType<R>, job: string, request: IntakeRequest): Promise<R[]>;
  /** Reads a run. */
  load<R extends RunBase>(
    runId: string,
    schema: z.ZodType<R>,
    request: IntakeRequest,
  ): Promise<R | undefined>;
}

export interface IntakeRequest {
  responseUrl: string | undefined;
  receivedAtMs: number;
}

export interface IntakeParts {
  runs: RunStore;
  threads: Pick<ThreadStore, 'post' | 'followedIndex'>;
  /** Has a worker look at the run at once. */
  wake: (run: Pick<RunBase, 'job' | 'id'>) => Promise<void>;
  /** From the receipt of a request to the moment a write is refused, and how long a claim lasts at most. */
  limitMs: number;
  claimMs: number;
  monotonicMs: () => number;
  log: Log;
}

/** How long queueing may delay the answer; the run is kept by then, and the sweeper queues what is not. */
const QUEUE_MS = 400;

const cannotKeepTrack = message([
  ["I can't keep track of work right now, so I start nothing I might lose. Try again in a minute."],
]);

const inDoubt = message([
  [
    "My store stopped answering, so I can't tell whether I kept this. If nothing shows here within a minute, try again.",
  ],
]);

export function createIntake(parts: IntakeParts): Intake {
  const { runs, threads, wake, limitMs, claimMs, monotonicMs, log } = parts;

  const leftMs = ({ receivedAtMs }: IntakeRequest) => receivedAtMs + limitMs - monotonicMs();

  /** Redis' own clock; an answer also shows that Redis is there, before anything is sent that could be in doubt. */
  async function redisNowMs(request: IntakeRequest): Promise<number> {
    try {
      return await within(leftMs(request), runs.timeMs());
    } catch (error) {
      throw refused(error);
    }
  }

  /** `write` gets a deadline on Redis' own clock, so that a Redis that wakes up late refuses by itself. */
  async function inTime<T>(
    runId: string,
    request: IntakeRequest,
    write: (deadlineMs: number) => Promise<T>,
  ): Promise<T> {
    const deadlineMs = (await redisNowMs(request)) + leftMs(request);
    return within(leftMs(request), write(deadlineMs)).catch((error: unknown) => {
      if (error instanceof ReplyError) throw refused(error);
      log.warn({ err: error, run: runId }, 'a request in doubt: the answer to its write did not come');
      throw new TellUser(inDoubt);
    });
  }

  async function take(
    run: RunBase,
    request: IntakeRequest,
    write: (deadlineMs: number) => Promise<Acceptance>,
  ): Promise<Acceptance> {
    const answer = await inTime(run.id, request, write);
    if (answer.kind === 'late') throw late();
    if (answer.kind === 'accepted' || answer.kind === 'repeated') await queue(run);
    return answer;
  }

  async function read<T>(answer: Promise<T>, request: IntakeRequest): Promise<T> {
    try {
      return await within(leftMs(request), answer);
    } catch (error) {
      throw refused(error);
    }
  }

  function refused(error: unknown): TellUser {
    log.warn({ err: error }, 'a request was refused: Redis did not take it');
    return new TellUser(cannotKeepTrack);
  }

  const late = () => refused(new Error('Redis came to it too late'));

  async function queue(run: Pick<RunBase, 'job' | 'id'>) {
    try {
      await within(QUEUE_MS, wake(run));
    } catch (error) {
      log.warn({ err: error, run: run.id }, 'kept, but not queued yet; the sweeper does it');
    }
  }

  return {
    start: (run, request, quotas) =>
      take(run, request, (deadlineMs) => runs.accept(run, deadlineMs, claimMs, request.responseUrl, quotas)),
    resume: (run, request, claims, quotas) =>
      take(run, request, (deadlineMs) => runs.resume(run, deadlineMs, claims ? claimMs : 0, quotas)),
    async tell(job, runId, what, request) {
      const answer = await inTime(runId, request, (deadlineMs) => threads.post(job, runId, what, deadlineMs));
      if (answer === 'late') throw late();
      if (answer !== 'gone') await queue({ job, id: runId });
      return answer;
    },
    byAlias: (name, request) => read(runs.byAlias(name), request),
    async followed(teamId, schema, request) {
      const listed = await read(threads.followedIndex(teamId), request);
      return listed.flatMap((one) => {
        const known = schema.safeParse(one);
        return known.success ? [known.data] : [];
      });
    },
    loadAll: (runIds, schema, request) => read(runs.loadAll(runIds, schema), request),
    active: (schema, job, request) => read(runs.activeOf(schema, job), request),
    async load(runId, schema, request) {
      try {
        return await within(leftMs(request), runs.load(runId, schema));
      } catch (error) {
        // A record that cannot be read is a defect of ours, not of the moment.
        if (error instanceof UnreadableRun) throw error;
        throw refused(error);
      }
    },
  };
}

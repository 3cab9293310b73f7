import type { Log } from '../log.ts';
import { message } from '../slack/blocks.ts';
import type { Acceptance, RunBase, RunStore } from '../store/runs.ts';
import { within } from '../within.ts';
import { TellUser } from './tell-user.ts';

/** Where requests become runs. What it refuses has not happened and will not. */
export interface Intake {
  /** Keeps a new run and queues it. Throws `TellUser` when Redis does not take it in time. */
  start(run: RunBase, request: IntakeRequest): Promise<Acceptance>;
  /** The same for a run that a person set going again: `next` follows `previous`. */
  resume(previous: RunBase, next: RunBase, request: IntakeRequest): Promise<Acceptance>;
}

export interface IntakeRequest {
  responseUrl: string;
  receivedAtMs: number;
}

export interface IntakeParts {
  runs: RunStore;
  /** Has a worker look at the run at once. */
  wake: (run: RunBase) => Promise<void>;
  /** From the receipt of a request to the moment a write is refused, and how long a claim lasts at most. */
  limitMs: number;
  claimMs: number;
  monotonicMs: () => number;
  log: Log;
}

/** How long queueing may delay the answer; the run is kept by then, and the sweeper queues what is not. */
const QUEUE_MS = 400;

const UNDO_EVERY_MS = 250;
const UNDO_TRIES = 2400;

export const cannotKeepTrack = message([
  ["I can't keep track of work right now, so I start nothing I might lose. Try again in a minute."],
]);

export function createIntake(parts: IntakeParts): Intake {
  const { runs, wake, limitMs, claimMs, monotonicMs, log } = parts;

  /** `write` gets a deadline on Redis' own clock, so that a Redis that wakes up late refuses by itself. */
  async function take(
    run: RunBase,
    { receivedAtMs }: IntakeRequest,
    write: (deadlineMs: number) => Promise<Acceptance>,
    undo: () => Promise<void>,
  ): Promise<Acceptance> {
    const giveUpAtMs = receivedAtMs + limitMs;
    const left = () => giveUpAtMs - monotonicMs();
    let sent = false;
    try {
      const redisNowMs = await within(left(), runs.timeMs());
      const deadlineMs = redisNowMs + left();
      sent = true;
      const answer = await within(left(), write(deadlineMs));
      if (answer.kind === 'late') throw new Error('Redis came to it too late');
      if (answer.kind === 'accepted' || answer.kind === 'repeated') await queue(run);
      return answer;
    } catch (error) {
      log.warn({ err: error, run: run.id }, 'a request was refused: Redis did not take it');
      // The write may have been done with its answer lost. It was refused to the person, so it is taken back.
      if (sent) undoUntilDone(undo, log);
      throw new TellUser(cannotKeepTrack);
    }
  }

  async function queue(run: RunBase) {
    try {
      await within(QUEUE_MS, wake(run));
    } catch (error) {
      log.warn({ err: error, run: run.id }, 'kept, but not queued yet; the sweeper does it');
    }
  }

  return {
    start: (run, request) =>
      take(
        run,
        request,
        (deadlineMs) => runs.accept(run, deadlineMs, claimMs, request.responseUrl),
        () => runs.revoke(run),
      ),
    resume: (previous, next, request) =>
      take(
        next,
        request,
        (deadlineMs) => runs.resume(next, deadlineMs, claimMs, request.responseUrl),
        async () => {
          const restored = await runs.save({ ...previous, rev: previous.rev + 1 });
          if (restored) await runs.settle(restored, true);
        },
      ),
  };
}

function undoUntilDone(undo: () => Promise<void>, log: Log, tries = UNDO_TRIES) {
  undo().catch((error: unknown) => {
    if (tries === 0) return log.error({ err: error }, 'could not take back a refused request');
    setTimeout(() => undoUntilDone(undo, log, tries - 1), UNDO_EVERY_MS).unref();
  });
}

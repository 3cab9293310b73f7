import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ModalView } from '@slack/types';
import { ReplyError } from 'ioredis';
import { z } from 'zod';
import type { Limits } from '../jobs/shared/limits.ts';
import {
  type ConversationReaders,
  canSee,
  type RunRequest,
  type VisibleKind,
} from '../jobs/shared/origin.ts';
import { personName } from '../jobs/shared/wording-view.ts';
import type { createSystemStatus } from '../jobs/status/status.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Permission } from '../permissions.ts';
import type { Project } from '../projects.ts';
import { type Log, logScope } from '../runtime/log.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { type Message, message } from '../slack/blocks.ts';
import type { Mentions, Names } from '../slack/markdown/inline.ts';
import type { Outbox } from '../slack/outbox.ts';
import type { AuditLines } from '../store/audit.ts';
import type { FiguresStore } from '../store/figures.ts';
import { refusalOf } from '../store/redis/client.ts';
import type { InboxEntry, RunRef } from '../store/run-scripts.ts';
import type { AcceptOptions, Quota, RunBase, RunStore } from '../store/runs.ts';
import type { ThreadStore } from '../store/threads.ts';

/** The person, conversation and request of a call. */
export interface Caller extends RunRequest {
  /** Opens one modal, within 3 s. */
  triggerId: string;
  /** The modal of the click: its answer replaces the modal. */
  modalId?: string;
  /** A secret. Missing for modals whose command was long ago. */
  responseUrl: string | undefined;
  /** On the monotonic clock, in milliseconds. */
  receivedAtMs: number;
}

export interface CommandTools extends ConversationReaders {
  intake: ReturnType<typeof createIntake>;
  outbox: Pick<Outbox, 'deliveryState'>;
  projects: readonly Project[];
  limits: Limits;
  /** Returns names for the mentions in a message. Rejects if Slack does not answer. */
  names: (mentions: Mentions) => Promise<Names>;
  now: () => number;
  /** The default domain of a request, if no project has a better one. */
  docsDomain: string | undefined;
  /** Who gets download links: everybody in the thread, or only the requester, by direct message. */
  links: 'thread' | 'requester';
  /** The default for which replies in a thread are instructions; people there can change it. */
  replyMode: 'auto' | 'all' | 'mention';
  /** Whether authors are asked if the messages above go along. */
  backgroundMode: 'ask' | 'never';
  /** Returns a presigned link by its name; undefined after it has expired. A secret. */
  loadLink: (name: string) => Promise<string | undefined>;
  /** Opens a modal or replaces the clicked one; its submission has `about`. Rejects with `UserFacingError`. */
  openModal: (caller: Caller, view: ModalView, about?: unknown) => Promise<undefined>;
  /** Returns a person's time zone, an IANA name; undefined if Slack shows none. */
  personZone: (userId: string) => Promise<string | undefined>;
  /** Adds an audit line about this request; never rejects. `subject` is a domain or a job id. */
  audit: (line: { subject: string; job?: string | undefined; result: string }) => Promise<void>;
  /** Rejects with `UserFacingError`, `why` and the refusal, after an audit line about `subject`, if this person lacks a permission. */
  requirePermission: (permission: Permission, subject: string, why?: string) => Promise<void>;
  /** Returns whether this person has a further permission, if Slack answers in time; adds no audit line. */
  hasPermission: (permission: Permission) => Promise<boolean>;
  /** Returns the latest lines of the audit log, `count` of each kind. */
  auditLines: (teamId: string, count: number) => Promise<AuditLines>;
  /** Returns the message of `/docs-status` to a reader, within `timeoutMs`; never rejects. */
  systemStatus: ReturnType<typeof createSystemStatus>;
  /** Slack's user id of the app. */
  botUserId: string;
  /** The workspace's address, with a slash at its end. */
  workspaceUrl: string;
}

/** An error whose message is for the requester. All other errors show only a reference. */
export class UserFacingError extends Error {
  override readonly name = 'UserFacingError';
  readonly reply: Message;
  /** The projects of which a command has to name one; `reply` says how. */
  readonly projects: readonly string[];

  constructor(reply: Message, projects: readonly string[] = []) {
    super(reply.text);
    this.reply = reply;
    this.projects = projects;
  }
}

export interface IntakeParts extends ConversationReaders {
  runs: RunStore;
  threads: Pick<ThreadStore, 'isClosed'>;
  figures: Pick<FiguresStore, 'pages'>;
  wake: Wake;
  /** From the receipt of a request until its writes are refused, and the maximum duration of a claim. */
  timeoutMs: number;
  claimMs: number;
  monotonicMs: () => number;
  metrics: Pick<Metrics, 'refusals'>;
  log: Log;
}

/** Answers to requests that Redis did not take, or may have taken. */
export const intakeAnswers = {
  storeUnavailable:
    "I can't keep track of work right now, so I start nothing I might lose. Try again in a minute.",
  storeFull:
    "My database is full, so I can't save your request, and nothing was started. Ask your Docket admins to make room.",
  storeReadOnly: 'My database is read-only right now, so nothing was started. Try again in a minute.',
  storeRefuses:
    "My database doesn't let me save your request, so nothing was started. Ask your Docket admins to look at it.",
  outcomeUnknown:
    "My database stopped answering, so I can't tell whether I accepted this. If nothing appears here within a minute, try again.",
};

/**
 * Returns the intake, which turns requests with an answer into runs; events, which have no answer, use the stores
 * directly. A refused request has no effect, now or later. If a write's outcome is unknown, the person is informed, and
 * the run continues if it was written. Both are a `UserFacingError`.
 */
export function createIntake(parts: IntakeParts) {
  const { runs, threads, figures, isPublic, isMember, wake, timeoutMs, claimMs, monotonicMs, metrics, log } =
    parts;
  const remainingMs = ({ receivedAtMs }: Caller) => receivedAtMs + timeoutMs - monotonicMs();

  /** `send` gets a deadline on Redis' own clock, so that a Redis that was frozen refuses a late write itself. */
  async function write<T extends string | { kind: string }>(
    run: RunRef,
    request: Caller,
    send: (deadlineMs: number) => Promise<T>,
  ): Promise<T> {
    const scope = logScope();
    if (scope !== undefined) scope.run = run.id;
    // Without time left, Redis certainly refuses the write, but its answer may come too late.
    if (remainingMs(request) <= 0) throw refusedError(new Error('this process was too busy, or frozen'));
    // This answer also shows that Redis is there, before a write whose outcome could be unknown.
    const redisNowMs = await readInTime(runs.timeMs(), request);
    const deadlineMs = redisNowMs + remainingMs(request);
    const result = await withTimeout(remainingMs(request), send(deadlineMs)).catch((error: unknown) => {
      if (error instanceof ReplyError) throw refusedError(error);
      metrics.refusals.add({ reason: 'in_doubt' });
      log.warn({ err: error, run: run.id }, 'request outcome unknown: no reply from Redis');
      wake(run);
      throw new UserFacingError(message([intakeAnswers.outcomeUnknown]));
    });
    const outcome = typeof result === 'string' ? result : result.kind;
    if (['accepted', 'kept', 'repeated'].includes(outcome)) wake(run);
    return result;
  }

  const readInTime = <T>(result: Promise<T>, request: Caller): Promise<T> =>
    withTimeout(remainingMs(request), result).catch((error: unknown) => {
      // A damaged record stays damaged: it is an internal error.
      throw error instanceof z.ZodError ? error : refusedError(error);
    });

  function refusedError(error: unknown): UserFacingError {
    metrics.refusals.add({ reason: 'redis' });
    log.warn({ err: error }, 'a request was refused: Redis did not take it');
    return new UserFacingError(message([refusalText(refusalOf(error))]));
  }

  return {
    /** Stores a new run and queues it. */
    start: (run: RunBase, request: Caller, quotas?: readonly Quota[]) =>
      write(run, request, (deadlineMs) =>
        runs.accept(run, { deadlineMs, claimMs, responseUrl: request.responseUrl, quotas }),
      ),

    /**
     * The same for a run that a person changed; it has the revision that was read. With `claims` it blocks identical
     * requests, as a start does. With a `responseUrl`, later answers go to this person.
     */
    resume: (
      run: RunBase,
      request: Caller,
      { claims, ...options }: { claims?: true } & Pick<AcceptOptions, 'quotas' | 'responseUrl'> = {},
    ) =>
      write(run, request, (deadlineMs) =>
        runs.resume(run, { deadlineMs, claimMs: claims ? claimMs : 0, ...options }),
      ),

    /** Adds an event to the inbox of a run, unless it is a repeat, and wakes the run. `gone`: there is no such run. */
    appendToInbox: (job: string, id: string, what: InboxEntry, request: Caller) =>
      write({ job, id }, request, (deadlineMs) => runs.appendToInbox(job, id, what, deadlineMs)),

    /** Reads in time from the stores: never a run by an id from a request, see `loadVisible`. */
    read: <T>(
      request: Caller,
      load: (stores: Pick<IntakeParts, 'runs' | 'threads' | 'figures'>) => Promise<T>,
    ) => readInTime(load({ runs, threads, figures }), request),

    /** Loads a run by an id that we derived, or that our own write returned; never by one from a request. */
    loadKnown: <R extends RunBase>(runId: string, schema: z.ZodType<R>, request: Caller) =>
      readInTime(runs.load(runId, schema), request),

    /**
     * Loads the run that a button or a form names. Rejects with `UserFacingError`: with the message `gone` if there is
     * none of this kind, or with `hidden` if this person may not see it.
     */
    async loadVisible<R extends RunBase>(
      runId: string,
      { what, record, visible }: VisibleKind<R>,
      caller: Caller,
      gone: Message,
      hidden = message([`This ${what} is somebody else's, in a conversation that you can't see. Ask them.`]),
    ): Promise<R> {
      const run = await readInTime(runs.load(runId, record).catch(ifOtherKind), caller);
      if (run?.teamId !== caller.teamId) throw new UserFacingError(gone);
      const about = visible(run);
      if (await canSee(about, caller, isPublic)) return run;
      // On Home and in other conversations, only Slack knows the members of a private channel.
      const { channel } = about.place ?? about.asked;
      if (!about.inDirectMessage && (await isMember(channel, caller.user.id))) return run;
      throw new UserFacingError(hidden);
    },
  };
}

/** Returns undefined for a record of another kind. A damaged one is an internal error. */
function ifOtherKind(error: unknown): undefined {
  if (error instanceof z.ZodError && error.issues.some(({ path }) => path[0] === 'job')) return;
  throw error;
}

/** Returns what people read if Redis refuses a request with this word, or gives no answer. */
function refusalText(word: string | undefined): string {
  if (word === undefined) return intakeAnswers.storeUnavailable;
  if (word === 'OOM') return intakeAnswers.storeFull;
  return word === 'READONLY' ? intakeAnswers.storeReadOnly : intakeAnswers.storeRefuses;
}

/** Queues a run for a step, after the present turn. Nothing waits for it: if queueing fails, the sweeper does it. */
type Wake = (run: RunRef) => void;

const ENQUEUE_TIMEOUT_MS = 400;

/** Returns a function that queues the runs of requests with `enqueue`. */
export function createWake(enqueue: (run: RunRef) => Promise<void>, log: Log): Wake {
  return async (run) => {
    // The answer to the request goes first.
    await nextTurn();
    await withTimeout(ENQUEUE_TIMEOUT_MS, enqueue(run)).catch((error: unknown) => {
      log.warn({ err: error, run: run.id }, 'saved but not queued; sweeper will retry');
    });
  };
}

export const alreadyHandled = message(['Already handled: see the latest message in this thread.']);

/**
 * Returns the reply to a click after another one: undefined for the person who clicked first, the first click's effect
 * for others. Without `first`, no click handled it.
 */
export function handledMessage(
  first: { id: string; name: string; did: string } | undefined,
  clickerId: string,
): Message | undefined {
  if (first === undefined) return alreadyHandled;
  return first.id === clickerId ? undefined : message([`${personName(first.name)} already ${first.did}.`]);
}

/** Maximum tries of a click on a record that changes concurrently, as a watched one does. */
const MAX_ATTEMPTS = 5;

/**
 * Returns the result of `attempt`, repeated while the record changes concurrently. `what` names it to people. Rejects with
 * `UserFacingError` if it does not stop changing.
 */
export async function retryStale<T>(what: string, attempt: () => Promise<T | 'stale'>): Promise<T> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
    const result = await attempt();
    if (result !== 'stale') return result;
  }
  throw new UserFacingError(message([`This ${what} is changing too fast right now. Click again.`]));
}

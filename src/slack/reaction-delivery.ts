import type { RateLimit, RateLimitStore } from '../store/rate-limit.ts';
import type { ReactionChange, ReactionRecord, ReactionStore } from '../store/reactions.ts';
import type { SlackApi } from './client.ts';
import { SlackApiError } from './errors.ts';
import { holdWhenLimited, reactionRateLimit, reactionRemovalRateLimit } from './rate-limits.ts';
import { createReconciler, type Deliver, type RetryParts, retryOf } from './reconcile.ts';
import { tsToMs } from './timestamp.ts';

export interface ReactionDeliveryParts extends RetryParts {
  slack: Pick<SlackApi, 'addReaction' | 'removeReaction' | 'refusedForMs'>;
  reactions: ReactionStore;
  /** Returns whether Slack shows the message of this key as it is wanted. */
  isShown: (messageKey: string) => Promise<boolean>;
  rateLimiter: RateLimitStore;
}

/** Deferred reactions that are due within so long go together. */
const TOGETHER_MS = 1000;

interface ReactionCall {
  /** The reaction to add or remove, and the one that the message shows after it. */
  name: string;
  after: string | undefined;
  rateLimit: RateLimit;
  send: SlackApi['addReaction'];
}

/** Returns what brings the reactions on the messages of one run up to date, in the order of the messages. */
export function createReactionDelivery(parts: ReactionDeliveryParts): Deliver {
  const { slack, reactions, isShown, rateLimiter, timing, log } = parts;

  async function deliver(record: ReactionRecord): Promise<number | undefined> {
    let deferredMs = Infinity;
    for (const change of record.changes) {
      const waitMs = deferrableMs(change);
      if (waitMs > 0) {
        deferredMs = Math.min(deferredMs, Math.max(waitMs, TOGETHER_MS));
        continue;
      }
      const inMs = await deliverChange(record, change);
      if (inMs !== undefined) return inMs;
    }
    return deferredMs < Infinity ? deferredMs : undefined;
  }

  /** Returns how long a reaction may still wait for a message that is to show the same; 0 when it may not. */
  function deferrableMs({ deferral, shown }: ReactionChange): number {
    // Another reaction has to be removed first.
    if (deferral === undefined || shown !== undefined) return 0;
    return Math.max(0, timing.reactAfterMs - Math.max(0, deferral.waitedMs));
  }

  /** Removes the old reaction and adds the new one, unless a message shows the same. */
  async function deliverChange(record: ReactionRecord, change: ReactionChange): Promise<number | undefined> {
    const { runId, channel } = record.subject;
    const { ts, deferral, wanted } = change;
    if (deferral && change.shown === undefined && (await isShown(deferral.unlessShown))) {
      await reactions.setShown(runId, ts, wanted);
      return undefined;
    }
    const read = { ...change.read };
    for (const { name, after, rateLimit, send } of callsFor(change, record.subject.teamId)) {
      // Slots go round by thread, however many replies one of them has.
      const slot = { id: runId, sinceMs: tsToMs(ts), group: runId };
      const waitMs = await rateLimiter.takeSlot(rateLimit, slot);
      if (waitMs > 0) return waitMs;
      if (!(await reactions.beginCall(runId, { ...change, read }, name))) return 0;
      try {
        await send({ channel, ts }, name).catch(holdWhenLimited(rateLimiter, rateLimit));
      } catch (error) {
        return handleFailure(error, record, change);
      }
      await reactions.setShown(runId, ts, after, name);
      record.failures = 0;
      // The new reaction may be deferred now.
      if (deferral && after !== wanted) return 0;
      read.shown = after ?? '';
    }
    return undefined;
  }

  function callsFor({ wanted, shown }: ReactionChange, teamId: string): ReactionCall[] {
    const calls: ReactionCall[] = [];
    if (shown !== undefined && shown !== wanted) {
      const rateLimit = reactionRemovalRateLimit(teamId, timing);
      calls.push({ name: shown, after: undefined, rateLimit, send: slack.removeReaction });
    }
    if (wanted !== undefined) {
      const rateLimit = reactionRateLimit(teamId, timing);
      calls.push({ name: wanted, after: wanted, rateLimit, send: slack.addReaction });
    }
    return calls;
  }

  /** When Slack refuses for good, the reaction counts as shown. Returns as `Deliver` does. */
  async function handleFailure(
    error: unknown,
    { subject: { runId }, failures }: ReactionRecord,
    { ts, wanted }: ReactionChange,
  ): Promise<number | undefined> {
    if (!(error instanceof SlackApiError)) throw error;
    const retry = retryOf(error, failures, { run: runId, ts }, parts);
    if (retry !== undefined) {
      await reactions.setFailures(runId, retry.failures);
      return retry.inMs;
    }
    log.info({ run: runId, ts, code: error.code }, 'Slack takes no reaction there');
    await reactions.setShown(runId, ts, wanted);
    return undefined;
  }

  return createReconciler(
    {
      load: reactions.load,
      isDelivered: ({ changes }) => changes.length === 0,
      deliver,
      markDelivered: reactions.markDelivered,
    },
    slack,
  );
}

import { z } from 'zod';
import { backoffMs } from '../../runtime/timing.ts';
import { SlackApiError } from '../../slack/errors.ts';
import { reactionRateLimit, reactionRemovalRateLimit } from '../../slack/rate-limits.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import type { ReactionChange, ReactionSubject } from '../../store/reactions.ts';
import type { JobContext } from '../context.ts';
import { defineJob, done, type Outcome, runAgainIn } from '../job.ts';

/** How often those that may wait are looked at. */
const RECHECK_MS = 1000;

/** Brings the reactions on the messages of one run up to date, in the order in which those were written. */
export const reactionsJob = defineJob<{ runId: string }>({
  name: 'reactions',
  queue: 'slack-outbox',
  list: 'reactions',
  concurrency: 20,
  data: z.object({ runId: z.string() }),

  async run({ runId }, context) {
    const { reactionStore, slack } = context;
    const record = await reactionStore.load(runId);
    const refusedMs = slack.refusedForMs();
    if (record !== undefined && record.changes.length > 0 && refusedMs > 0) return runAgainIn(refusedMs);
    let leftMs = Infinity;
    for (const change of record?.changes ?? []) {
      const waitMs = deferrableMs(change, context);
      leftMs = Math.min(leftMs, waitMs || Infinity);
      const later = waitMs === 0 && record && (await deliverChange(record.subject, change, context));
      if (later) return later;
    }
    // Another may be wanted at once by then.
    if (leftMs < Infinity) return runAgainIn(Math.min(leftMs, RECHECK_MS));
    // Something else may be wanted by now.
    return (await reactionStore.markDelivered(runId)) ? done : runAgainIn(0);
  },
});

/** How long a reaction may be left out yet, since a message is to show the same; 0 where it may not. */
function deferrableMs({ deferral, shown }: ReactionChange, { timing }: JobContext): number {
  // Another one has to go.
  if (deferral === undefined || shown !== undefined) return 0;
  return Math.max(0, timing.reactAfterMs - Math.max(0, deferral.waitedMs));
}

interface ReactionCall {
  /** What it is about, and what the message shows after it. */
  name: string;
  after: string | undefined;
  rateLimit: RateLimit;
  send: (at: { channel: string; ts: string }, name: string) => Promise<void>;
}

/**
 * Takes the old reaction away and adds the new one, unless a message shows the same. Answers when to go on, unless that
 * is all.
 */
async function deliverChange(
  { teamId, runId, channel }: ReactionSubject,
  change: ReactionChange,
  context: JobContext,
): Promise<Outcome | undefined> {
  const { reactionStore, rateLimiter } = context;
  const { ts, deferral } = change;
  if (deferral && change.shown === undefined && (await context.isShown(deferral.unlessShown))) {
    await reactionStore.setShown(runId, ts, change.wanted);
    return undefined;
  }
  const read = { ...change.read };
  for (const call of callsFor(change, teamId, context)) {
    // Threads go in turn, however many replies one of them has.
    const slot = { id: runId, rank: 0, sinceMs: Number(ts) * 1000, group: runId };
    const waitMs = await rateLimiter.takeSlot(call.rateLimit, slot);
    if (waitMs > 0) return runAgainIn(waitMs);
    if (!(await reactionStore.beginCall(runId, { ...change, read }, call.name))) return runAgainIn(0);
    try {
      await call.send({ channel, ts }, call.name);
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      return handleCallError(error, call.rateLimit, runId, change, context);
    }
    await reactionStore.setShown(runId, ts, call.after, call.name);
    // The next one may wait now.
    if (deferral && call.after !== change.wanted) return runAgainIn(0);
    read.shown = call.after ?? '';
  }
  return undefined;
}

function callsFor({ wanted, shown }: ReactionChange, teamId: string, context: JobContext): ReactionCall[] {
  const { slack, timing } = context;
  const calls: ReactionCall[] = [];
  if (shown !== undefined && shown !== wanted) {
    const rateLimit = reactionRemovalRateLimit(teamId, timing);
    calls.push({ name: shown, after: undefined, rateLimit, send: slack.removeReaction });
  }
  if (wanted !== undefined) {
    calls.push({
      name: wanted,
      after: wanted,
      rateLimit: reactionRateLimit(teamId, timing),
      send: slack.addReaction,
    });
  }
  return calls;
}

/** What to do about a call that gave no result. What Slack refuses for good counts as shown. */
async function handleCallError(
  { kind, code, method, retryAfterMs }: SlackApiError,
  rateLimit: RateLimit,
  runId: string,
  { ts, wanted }: ReactionChange,
  { reactionStore, rateLimiter, timing, random, log }: JobContext,
): Promise<Outcome | undefined> {
  const about = { run: runId, ts, kind, code, method };
  switch (kind) {
    case 'limited': {
      log.warn(about, 'too many reactions for Slack');
      const waitMs = retryAfterMs ?? timing.retryMaxMs;
      await rateLimiter.hold(rateLimit, waitMs);
      return runAgainIn(waitMs);
    }
    case 'unclear':
    case 'unreachable':
    case 'token': {
      // Another call finds out whether the token works again.
      if (kind === 'token' && retryAfterMs !== undefined) return runAgainIn(retryAfterMs);
      const failures = await reactionStore.countFailure(runId);
      log.warn({ ...about, failures }, 'a reaction did not get through');
      // One that is still on its way must not come after the next.
      const leastMs = kind === 'unclear' ? timing.unclearMs : 0;
      return runAgainIn(Math.max(leastMs, backoffMs(timing, failures, random())));
    }
    case 'place':
    case 'missing':
    case 'blocks':
    case 'refused':
      log.info(about, 'Slack takes no reaction there');
      await reactionStore.setShown(runId, ts, wanted);
      return undefined;
  }
}

import { z } from 'zod';
import type { Log } from '../../runtime/log.ts';
import { backoffMs, type Timing } from '../../runtime/timing.ts';
import type { SlackApi } from '../../slack/client.ts';
import { SlackApiError } from '../../slack/errors.ts';
import { reactionPace, reactionRemovalPace } from '../../slack/rate-limits.ts';
import type { Pace, PaceStore } from '../../store/rate-limit.ts';
import type { ReactionChange, ReactionStore, ReactionSubject } from '../../store/reactions.ts';
import { defineJob, done, lookAgainIn, type Outcome } from '../job.ts';

export interface ReactionsContext {
  slack: Pick<SlackApi, 'react' | 'unreact' | 'refusedForMs'>;
  reactionStore: ReactionStore;
  /** Whether Slack shows the message of this key as it is wanted. */
  isShown: (messageKey: string) => Promise<boolean>;
  pace: PaceStore;
  timing: Timing;
  random: () => number;
  log: Log;
}

/** How often those that may wait are looked at. */
const LOOK_MS = 1000;

/** Brings the reactions on the messages of one run up to date, in the order in which those were written. */
export const reactionsJob = defineJob<{ runId: string }, ReactionsContext>({
  name: 'reactions',
  queue: 'slack-outbox',
  list: 'reactions',
  concurrency: 20,
  data: z.object({ runId: z.string() }),

  async run({ runId }, context) {
    const { reactionStore, slack } = context;
    const record = await reactionStore.load(runId);
    const refusedMs = slack.refusedForMs();
    if (record !== undefined && record.changes.length > 0 && refusedMs > 0) return lookAgainIn(refusedMs);
    let leftMs = Infinity;
    for (const change of record?.changes ?? []) {
      const waitMs = mayWaitMs(change, context);
      leftMs = Math.min(leftMs, waitMs || Infinity);
      const later = waitMs === 0 && record && (await deliver(record.subject, change, context));
      if (later) return later;
    }
    // Another may be wanted at once by then.
    if (leftMs < Infinity) return lookAgainIn(Math.min(leftMs, LOOK_MS));
    // Something else may be wanted by now.
    return (await reactionStore.settle(runId)) ? done : lookAgainIn(0);
  },
});

/** How long a reaction may be left out yet, since a message is to show the same; 0 where it may not. */
function mayWaitMs({ may, shown }: ReactionChange, { timing }: ReactionsContext): number {
  // Another one has to go.
  if (may === undefined || shown !== undefined) return 0;
  return Math.max(0, timing.reactAfterMs - Math.max(0, may.waitedMs));
}

interface Step {
  /** What it is about, and what the message shows after it. */
  name: string;
  after: string | undefined;
  pacer: Pace;
  call: (at: { channel: string; ts: string }, name: string) => Promise<void>;
}

/**
 * Takes the old reaction away and adds the new one, unless a message shows the same. Answers when to go on, unless that
 * is all.
 */
async function deliver(
  { teamId, runId, channel }: ReactionSubject,
  change: ReactionChange,
  context: ReactionsContext,
): Promise<Outcome | undefined> {
  const { reactionStore, pace } = context;
  const { ts, may } = change;
  if (may && change.shown === undefined && (await context.isShown(may.unlessShown))) {
    await reactionStore.shows(runId, ts, change.wanted);
    return undefined;
  }
  const read = { ...change.read };
  for (const step of stepsOf(change, teamId, context)) {
    // Threads go in turn, however many replies one of them has.
    const turn = { of: runId, rank: 0, sinceMs: Number(ts) * 1000, by: runId };
    const waitMs = await pace.take(step.pacer, turn);
    if (waitMs > 0) return lookAgainIn(waitMs);
    if (!(await reactionStore.calling(runId, { ...change, read }, step.name))) return lookAgainIn(0);
    try {
      await step.call({ channel, ts }, step.name);
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      return handle(error, step.pacer, runId, change, context);
    }
    await reactionStore.shows(runId, ts, step.after, step.name);
    // The next one may wait now.
    if (may && step.after !== change.wanted) return lookAgainIn(0);
    read.shown = step.after ?? '';
  }
  return undefined;
}

function stepsOf({ wanted, shown }: ReactionChange, teamId: string, context: ReactionsContext): Step[] {
  const { slack, timing } = context;
  const steps: Step[] = [];
  if (shown !== undefined && shown !== wanted) {
    const pacer = reactionRemovalPace(teamId, timing);
    steps.push({ name: shown, after: undefined, pacer, call: slack.unreact });
  }
  if (wanted !== undefined) {
    steps.push({ name: wanted, after: wanted, pacer: reactionPace(teamId, timing), call: slack.react });
  }
  return steps;
}

/** What to do about a call that gave no result. What Slack refuses for good counts as shown. */
async function handle(
  { kind, code, method, retryAfterMs }: SlackApiError,
  pacer: Pace,
  runId: string,
  { ts, wanted }: ReactionChange,
  { reactionStore, pace, timing, random, log }: ReactionsContext,
): Promise<Outcome | undefined> {
  const about = { run: runId, ts, kind, code, method };
  switch (kind) {
    case 'limited': {
      log.warn(about, 'too many reactions for Slack');
      const waitMs = retryAfterMs ?? timing.retryMaxMs;
      await pace.hold(pacer, waitMs);
      return lookAgainIn(waitMs);
    }
    case 'unclear':
    case 'unreachable':
    case 'token': {
      // Another call finds out whether the token works again.
      if (kind === 'token' && retryAfterMs !== undefined) return lookAgainIn(retryAfterMs);
      const failures = await reactionStore.failed(runId);
      log.warn({ ...about, failures }, 'a reaction did not get through');
      // One that is still on its way must not come after the next.
      const leastMs = kind === 'unclear' ? timing.unclearMs : 0;
      return lookAgainIn(Math.max(leastMs, backoffMs(timing, failures, random())));
    }
    case 'place':
    case 'missing':
    case 'blocks':
    case 'refused':
      log.info(about, 'Slack takes no reaction there');
      await reactionStore.shows(runId, ts, wanted);
      return undefined;
  }
}

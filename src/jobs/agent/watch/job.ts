import { z } from 'zod';
import { DocsApiError } from '../../../docs-api/errors.ts';
import type { AgentJob } from '../../../docs-api/schemas.ts';
import { backoffMs } from '../../../runtime/timing.ts';
import type { Pace } from '../../../store/rate-limit.ts';
import { nextLookMs } from '../../export/polling.ts';
import { defineJob, done, lookAgainIn, type Outcome, pollInMs } from '../../job.ts';
import { lookAtRun } from '../../step-run.ts';
import type { AgentContext } from '../thread/context.ts';
import { agentPollRate } from './poll-slots.ts';
import { type WatchRun, watchRun } from './record.ts';
import { gaveUp, lost, news, observed } from './rules.ts';

/** Looks wait for the platform most of the time, and a platform that hangs must not keep replies waiting. */
const SLOTS = 200;

/** Answers "not found" in a row before a job counts as unknown: a new job may not be known everywhere at once. */
const LOST_AFTER = 3;

/** How often it is tried again while an operator has to act. */
const OPERATOR_MS = 60_000;

/** Steps of one look; then other watches have their turn. */
const STEPS = 20;

/** What one step of a look came to: another step follows at once, or the look is over. */
type Step = 'next' | Outcome;

/** Looks at one agent job while a round is open or somebody waits for a look, and wakes the threads that follow it. */
export const watchJob = defineJob<{ runId: string }, AgentContext>({
  name: 'agent-watch',
  queue: 'docs-agent',
  list: 'runs',
  concurrency: SLOTS,
  data: z.object({ runId: z.string() }),

  async run({ runId }, context) {
    const open = () => context.runs.open(runId, watchRun);
    for (let steps = 0; steps < STEPS; steps += 1) {
      const taken = { step: done as Step };
      const outcome = await lookAtRun('agent-watch', runId, open, context, async ({ run, wakes }) => {
        taken.step = await stepOf(run, wakes, context);
        return taken.step === 'next' ? done : taken.step;
      });
      if (taken.step !== 'next') return outcome;
    }
    return lookAgainIn(0);
  },

  async giveUp({ runId }, context) {
    await lookAtRun(
      'agent-watch',
      runId,
      () => context.runs.open(runId, watchRun),
      context,
      async ({ run }) => {
        await save(news(gaveUp(run, context.now())), context);
        return lookAgainIn(0);
      },
    );
  },
});

function stepOf(run: WatchRun, wakes: number, context: AgentContext): Promise<Step> {
  if (run.untold) return tell(run, context);
  if (run.round === undefined && !run.lookWanted) return settle(run, wakes, context);
  return watch(run, context);
}

/** A thread that is not told now is never told: only when all have been woken is it forgotten that they were to be. */
async function tell(run: WatchRun, context: AgentContext): Promise<Step> {
  for (const id of run.threads) {
    if (id === run.knownBy) continue;
    await context.runs.wake('agent-thread', id);
    await context.wake({ job: 'agent-thread', id });
  }
  return save({ ...run, untold: false, knownBy: undefined }, context);
}

async function settle(run: WatchRun, wakes: number, context: AgentContext): Promise<Step> {
  return (await context.runs.settle(run, false, wakes)) ? done : 'next';
}

async function watch(run: WatchRun, context: AgentContext): Promise<Step> {
  const { now, timing } = context;
  const lookedAtMs = now();
  if (run.round !== undefined && lookedAtMs - run.round.sentAtMs >= timing.watchMs)
    return save(gaveUp(run, lookedAtMs), context);
  // How long trouble lasts, the platform may say.
  const longestMs = run.trouble === undefined ? timing.lookMaxMs : Infinity;
  const plannedInMs = pollInMs(run.nextLookAtMs, lookedAtMs, longestMs);
  if (plannedInMs > 0) return lookAgainIn(plannedInMs);

  const docs = context.docs(run.project);
  const projectId = context.projectId(run.project);
  if (docs === undefined || projectId === undefined) return trouble(run, 'project', OPERATOR_MS, context);
  const rate = agentPollRate(docs.keyId, context.limits.exportStatusPerSecond);
  // Where somebody waits for the answer, it comes first.
  const rank = run.lookWanted ? 0 : 1;
  const turnInMs = await context.pace.take(rate, { of: run.id, rank, sinceMs: run.nextLookAtMs });
  if (turnInMs > 0) return lookAgainIn(turnInMs);
  let job: AgentJob;
  try {
    job = await docs.getAgentJob({ projectId, jobId: run.agentJobId }, { signal: context.stopping });
  } catch (error) {
    return noLook(run, error, rate, context);
  }
  const seen = observed(run, job, lookedAtMs, timing.graceMs);
  const bounds = { minMs: timing.lookMinMs, maxMs: timing.lookMaxMs };
  const sinceMs = seen.round?.sinceMs ?? lookedAtMs;
  const inMs = nextLookMs([], sinceMs, now(), bounds, context.random());
  return save({ ...seen, nextLookAtMs: now() + inMs }, context);
}

async function noLook(run: WatchRun, error: unknown, rate: Pace, context: AgentContext): Promise<Step> {
  if (!(error instanceof DocsApiError)) throw error;
  const { kind, retryAfterMs = 0 } = error;
  const { random, timing, now } = context;
  const pauseMs = (inARow: number) => Math.max(retryAfterMs, backoffMs(timing, inARow, random()));
  switch (kind) {
    case 'aborted':
      return lookAgainIn(0);
    case 'key_rejected':
      context.log.error({ run: run.id, err: error }, 'the docs platform rejects the key');
      await context.tellAdmins(run.teamId, run.project);
      return trouble(run, 'key', OPERATOR_MS, context);
    case 'forbidden':
    case 'bad_request':
      return trouble(run, 'forbidden', OPERATOR_MS, context);
    case 'rate_limited': {
      // The limit is that of the key: no other job is polled with it meanwhile.
      const waitMs = pauseMs(inARowOf(run, 'limit'));
      await context.pace.hold(rate, waitMs);
      return trouble(run, 'limit', waitMs, context);
    }
    case 'not_found': {
      const inARow = inARowOf(run, 'lost');
      // A job that was there is not gone because the platform forgets it for a moment.
      const longEnough = run.seen === undefined || now() - sinceMsOf(run, 'lost', now()) >= timing.graceMs;
      if (inARow >= LOST_AFTER && longEnough) return save(lost(run, now()), context);
      return trouble(run, 'lost', pauseMs(inARow), context);
    }
    default:
      return trouble(run, 'down', pauseMs(inARowOf(run, 'down')), context);
  }
}

type Trouble = NonNullable<WatchRun['trouble']>;

const inARowOf = ({ trouble: before }: WatchRun, kind: Trouble['kind']) =>
  before?.kind === kind ? before.inARow + 1 : 1;

const sinceMsOf = ({ trouble: before }: WatchRun, kind: Trouble['kind'], nowMs: number) =>
  before?.kind === kind ? before.sinceMs : nowMs;

/** Threads are told of every failed look: which of them people hear of, they decide. */
function trouble(run: WatchRun, kind: Trouble['kind'], inMs: number, context: AgentContext): Promise<Step> {
  const nowMs = context.now();
  const nextMs = nowMs + inMs;
  const next = { kind, inARow: inARowOf(run, kind), sinceMs: sinceMsOf(run, kind, nowMs), nextMs };
  return save(news({ ...run, trouble: next, nextLookAtMs: nextMs }), context);
}

/** The next step finds what was saved, or what somebody else did meanwhile. */
async function save(run: WatchRun, context: AgentContext): Promise<Step> {
  const saved = await context.runs.save(run);
  if (saved === undefined) context.log.debug({ run: run.id }, 'the watch was changed meanwhile');
  return 'next';
}

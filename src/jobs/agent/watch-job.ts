import { z } from 'zod';
import { DocsApiError } from '../../docs-api/errors.ts';
import type { AgentJob } from '../../docs-api/schemas.ts';
import { backoffMs } from '../../timing.ts';
import { nextLookMs } from '../export/polling.ts';
import { defineJob, done, lookAgainIn, type Outcome } from '../job.ts';
import { lookAtRun } from '../look-at-run.ts';
import type { AgentContext } from './context.ts';
import { type WatchRun, watchRun } from './watch.ts';
import { gaveUp, lost, observed } from './watch-rules.ts';

/** Answers "not found" in a row before a job counts as unknown: a new job may not be known everywhere at once. */
const LOST_AFTER = 3;

/** How often it is tried again while an operator has to act. */
const OPERATOR_MS = 60_000;

/** Looks at one agent job while a round is open or somebody waits for a look, and wakes the threads that follow it. */
export const watchJob = defineJob<{ runId: string }, AgentContext>({
  name: 'agent-watch',
  queue: 'docs-agent',
  concurrency: 50,
  data: z.object({ runId: z.string() }),

  run: ({ runId }, context) =>
    lookAtRun(
      'agent-watch',
      runId,
      () => context.runs.open(runId, watchRun),
      context,
      async (opened) => {
        const { run, wakes } = opened;
        if (run.untold) return tell(run, context);
        if (run.round === undefined && !run.lookWanted) return settle(run, wakes, context);
        return watch(run, context);
      },
    ),

  async giveUp({ runId }, context) {
    await lookAtRun(
      'agent-watch',
      runId,
      () => context.runs.open(runId, watchRun),
      context,
      async ({ run }) => save({ ...gaveUp(run, context.now()), untold: true }, context),
    );
  },
});

/** A thread that is not told now is never told: only when all have been woken is it forgotten that they were to be. */
async function tell(run: WatchRun, context: AgentContext): Promise<Outcome> {
  for (const id of run.threads) {
    await context.runs.wake('agent-thread', id);
    await context.wake({ job: 'agent-thread', id });
  }
  return save({ ...run, untold: false }, context);
}

async function settle(run: WatchRun, wakes: number, context: AgentContext): Promise<Outcome> {
  return (await context.runs.settle(run, false, wakes)) ? done : lookAgainIn(0);
}

async function watch(run: WatchRun, context: AgentContext): Promise<Outcome> {
  const { now, timing } = context;
  const lookedAtMs = now();
  if (run.round !== undefined && lookedAtMs - run.round.sentAtMs >= timing.watchMs)
    return save(gaveUp(run, lookedAtMs), context);
  if (lookedAtMs < run.nextLookAtMs) return lookAgainIn(run.nextLookAtMs - lookedAtMs);

  const docs = context.docs(run.project);
  const projectId = context.projectId(run.project);
  if (docs === undefined || projectId === undefined) return trouble(run, 'project', OPERATOR_MS, context);
  let job: AgentJob;
  try {
    job = await docs.getAgentJob({ projectId, jobId: run.agentJobId }, { signal: context.stopping });
  } catch (error) {
    return noLook(run, error, context);
  }
  const seen = observed(run, job, lookedAtMs, timing.graceMs);
  const bounds = { minMs: timing.lookMinMs, maxMs: timing.lookMaxMs };
  const sinceMs = seen.round?.sinceMs ?? lookedAtMs;
  const inMs = nextLookMs([], sinceMs, now(), bounds, context.random());
  return save({ ...seen, nextLookAtMs: now() + inMs }, context);
}

async function noLook(run: WatchRun, error: unknown, context: AgentContext): Promise<Outcome> {
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
      return trouble(run, 'forbidden', OPERATOR_MS, context);
    case 'rate_limited':
      return trouble(run, 'limit', pauseMs(inARowOf(run, 'limit')), context);
    case 'not_found':
    case 'bad_request': {
      const inARow = inARowOf(run, 'lost');
      if (kind === 'bad_request' || inARow >= LOST_AFTER) return save(lost(run, now()), context);
      return trouble(run, 'lost', pauseMs(inARow), context);
    }
    default:
      return trouble(run, 'down', pauseMs(inARowOf(run, 'down')), context);
  }
}

type Trouble = NonNullable<WatchRun['trouble']>;

const inARowOf = ({ trouble: before }: WatchRun, kind: Trouble['kind']) =>
  before?.kind === kind ? before.inARow + 1 : 1;

/** Threads are told of every failed look: which of them people hear of, they decide. */
function trouble(
  run: WatchRun,
  kind: Trouble['kind'],
  inMs: number,
  context: AgentContext,
): Promise<Outcome> {
  const nextMs = context.now() + inMs;
  const next = { kind, inARow: inARowOf(run, kind), nextMs };
  return save({ ...run, trouble: next, nextLookAtMs: nextMs, untold: true }, context);
}

/** The next look finds what was saved, or what somebody else did meanwhile. */
async function save(run: WatchRun, context: AgentContext): Promise<Outcome> {
  const saved = await context.runs.save(run);
  if (saved === undefined) context.log.debug({ run: run.id }, 'the watch was changed meanwhile');
  return lookAgainIn(0);
}

import { z } from 'zod';
import { defineJob, done, runAgainIn } from '../../job.ts';
import { stepRun } from '../../step-run.ts';
import { auditChanges } from './audit.ts';
import { authorize, postCard } from './card-step.ts';
import { endThread } from './changes.ts';
import type { AgentContext } from './context.ts';
import { end } from './end-step.ts';
import { type Execution, follow } from './follow-step.ts';
import { threadRun } from './record.ts';
import { leaveQueue } from './send-step.ts';
import type { LoadedThread, StepResult } from './thread-step.ts';

/** Steps of one look; then other threads have their turn. */
const MAX_STEPS = 40;

/** A look waits for the platform most of the time, and one that hangs must not keep other threads waiting. */
const CONCURRENCY = 200;

/** Takes one followed thread from the wish to follow to its end: what is heard in it, what goes out, what is told. */
export const threadJob = defineJob<{ runId: string }, AgentContext>({
  name: 'agent-thread',
  queue: 'docs-agent',
  list: 'runs',
  concurrency: CONCURRENCY,
  data: z.object({ runId: z.string() }),

  async run({ runId }, context) {
    const open = () => context.threads.loadWithInbox(runId, threadRun);
    const execution: Execution = { publishedAtMs: context.now() };
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const last = { step: done as StepResult };
      const outcome = await stepRun('agent-thread', runId, open, context, async (opened) => {
        last.step = await runStep(opened, execution, context);
        return last.step === 'next' ? done : last.step;
      });
      if (last.step !== 'next') return outcome;
    }
    return runAgainIn(0);
  },

  async giveUp({ runId }, context, ref) {
    const open = () => context.threads.loadWithInbox(runId, threadRun);
    await stepRun('agent-thread', runId, open, context, async ({ run }) => {
      if (run.state === 'ended') {
        await context.runs.markIdle(run, true);
        return done;
      }
      const ended = endThread(run, { why: 'broken', ref });
      await auditChanges(run, ended, context);
      await leaveQueue(run, ended, context);
      await context.threads.save(ended, 0);
      return runAgainIn(0);
    });
  },
});

function runStep(loaded: LoadedThread, execution: Execution, context: AgentContext): Promise<StepResult> {
  switch (loaded.run.state) {
    case 'accepted':
      return authorize(loaded.run, context);
    case 'carding':
      return postCard(loaded.run, context);
    case 'following':
      return follow(loaded, execution, context);
    case 'ended':
      return end(loaded, context);
  }
}

import { z } from 'zod';
import { defineJob, done, lookAgainIn } from '../../job.ts';
import { lookAtRun } from '../../step-run.ts';
import { noteChanges } from './audit.ts';
import { admit, card } from './card-step.ts';
import { ending } from './changes.ts';
import type { AgentContext } from './context.ts';
import { end } from './end-step.ts';
import { follow, type Look } from './follow-step.ts';
import { threadRun } from './record.ts';
import { leaveLine } from './send-step.ts';
import type { Opened, Step } from './thread-step.ts';

/** Steps of one look; then other threads have their turn. */
const STEPS = 40;

/** A look waits for the platform most of the time, and one that hangs must not keep other threads waiting. */
const SLOTS = 200;

/** Takes one followed thread from the wish to follow to its end: what is heard in it, what goes out, what is told. */
export const threadJob = defineJob<{ runId: string }, AgentContext>({
  name: 'agent-thread',
  queue: 'docs-agent',
  list: 'runs',
  concurrency: SLOTS,
  data: z.object({ runId: z.string() }),

  async run({ runId }, context) {
    const open = () => context.threads.open(runId, threadRun);
    const thisLook: Look = { shownAtMs: context.now() };
    for (let steps = 0; steps < STEPS; steps += 1) {
      const taken = { step: done as Step };
      const outcome = await lookAtRun('agent-thread', runId, open, context, async (opened) => {
        taken.step = await stepOf(opened, thisLook, context);
        return taken.step === 'next' ? done : taken.step;
      });
      if (taken.step !== 'next') return outcome;
    }
    return lookAgainIn(0);
  },

  async giveUp({ runId }, context, ref) {
    const open = () => context.threads.open(runId, threadRun);
    await lookAtRun('agent-thread', runId, open, context, async ({ run }) => {
      if (run.state === 'ended') {
        await context.runs.settle(run, true);
        return done;
      }
      const ended = ending(run, { why: 'broken', ref });
      await noteChanges(run, ended, context);
      await leaveLine(run, ended, context);
      await context.threads.save(ended, 0);
      return lookAgainIn(0);
    });
  },
});

function stepOf(opened: Opened, thisLook: Look, context: AgentContext): Promise<Step> {
  switch (opened.run.state) {
    case 'accepted':
      return admit(opened.run, context);
    case 'carding':
      return card(opened.run, context);
    case 'following':
      return follow(opened, thisLook, context);
    case 'ended':
      return end(opened, context);
  }
}

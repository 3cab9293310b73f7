import { defineRunJob, markIdle } from '../../run-job.ts';
import { authorize, postCard } from './card-step.ts';
import { end } from './end-step.ts';
import { type Execution, follow } from './follow-step.ts';
import { threadNeeds } from './needs.ts';
import { type ThreadRun, threadRun } from './record.ts';
import { type LoadedThread, saveChanges } from './thread-step.ts';
import { endThread } from './transitions.ts';

/** Steps mostly wait for the platform, and a step that hangs must not delay other threads. */
const CONCURRENCY = 200;

/** Steps one followed thread from the request to its end: applies events, sends instructions, publishes messages. */
export const threadJob = defineRunJob<ThreadRun, LoadedThread, Execution>({
  name: 'agent-thread',
  queue: 'docs-agent',
  concurrency: CONCURRENCY,
  schema: threadRun,
  load: (runId, { threads }) => threads.loadWithInbox(runId, threadRun),
  async save(run, consumed, { threads }) {
    const result = await threads.save(run, consumed);
    return result.kind === 'saved' ? result : undefined;
  },
  needs: threadNeeds.of,
  newExecution: ({ now }) => ({ publishedAtMs: now() }),
  step(loaded, context, execution) {
    switch (loaded.run.state) {
      case 'accepted':
        return authorize(loaded.run, context);
      case 'postingCard':
        return postCard(loaded.run, context);
      case 'following':
        return follow(loaded, execution, context);
      case 'ended':
        return end(loaded, context);
    }
  },
  async giveUp({ run }, context, ref) {
    if (run.state !== 'ended') return saveChanges(run, endThread(run, { why: 'broken', ref }), 0, context);
    return markIdle(run, context);
  },
});

import { agentActions, threadButtonOf } from '../../jobs/agent/thread/buttons.ts';
import { jobName } from '../../jobs/agent/thread/phrases.ts';
import type { ThreadRun } from '../../jobs/agent/thread/record.ts';
import { threadLine } from '../../jobs/agent/thread/view.ts';
import { threadPermalink } from '../../jobs/agent/thread/visible.ts';
import { isInChannel } from '../../jobs/visibility.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { findThreads } from './threads.ts';

/** Lines with a button of their own: a message has 50 blocks at most. */
const MAX_LINES = 15;

/** Stops following: the one thread in this channel, or the one that follows this job wherever it is. */
export async function stopFollowing(
  { jobId, project }: { jobId: string | undefined; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const { threads, rest } = await findThreads(
    caller,
    tools,
    MAX_LINES,
    (thread) =>
      (project === undefined || thread.project === project) &&
      (jobId === undefined ? isInChannel(thread, caller.channel.id) : thread.agentJobId === jobId),
  );
  const [thread, ...others] = threads;
  if (thread === undefined) return noneFollowedMessage(jobId);
  if (others.length > 0) return chooseThreadMessage(threads, rest, tools);
  const { id, name } = caller.user;
  const entry = {
    kind: 'clicked' as const,
    action: 'stop' as const,
    by: { id, name },
    about: [],
    attempt: 1,
  };
  const outcome = await tools.intake.appendToInbox(
    'agent-thread',
    thread.id,
    { event: entry, dedupeKey: `click stop ${caller.requestId}` },
    caller,
  );
  if (outcome === 'gone') return noneFollowedMessage(jobId);
  const { agentJobId } = thread;
  await tools.audit({ subject: agentJobId ?? 'new job', job: agentJobId, result: 'stopped' });
  return message([[`I follow ${jobName(thread)} no more.`]]);
}

function noneFollowedMessage(jobId: string | undefined): Message {
  const where =
    jobId === undefined
      ? 'No agent job that you can see is followed in this channel.'
      : 'No thread that you can see follows this job.';
  return message([[where, ' ', { code: '/docs-agent list' }, ' shows what is followed.']]);
}

function chooseThreadMessage(threads: readonly ThreadRun[], rest: number, tools: CommandTools): Message {
  const parts = [
    message([['Which one?']]),
    ...threads.map((thread) =>
      message(
        [threadLine(thread, threadPermalink(thread, tools.workspaceUrl))],
        [threadButtonOf(thread, 'Stop following', agentActions.stop)],
      ),
    ),
  ];
  if (rest > 0) parts.push(message([[`and ${formatCount(rest)} more; name the job to find it.`]]));
  return {
    text: parts.map(({ text }) => text).join('\n'),
    blocks: parts.flatMap(({ blocks }) => blocks),
  };
}

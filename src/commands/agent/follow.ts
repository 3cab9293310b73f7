import { projectMessage } from '../../jobs/agent/mention/view.ts';
import { newOwnThread, threadQuotas } from '../../jobs/agent/thread/record.ts';
import { conversationOf, requestRunId } from '../../jobs/request.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { idOf } from '../../store/keys.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { resolveAgentProject } from './project.ts';

/**
 * Starts a thread that follows a job: its card is posted here as the root, or `under` a message of an existing thread.
 * `text` goes to the agent; without `jobId` it creates the job. Returns a message if that is not possible.
 */
export async function followJob(
  {
    jobId,
    text,
    project: named,
    under,
  }: {
    jobId: string | undefined;
    text: string;
    project: string | undefined;
    under?: { rootTs: string; ts?: string };
  },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const project = resolveAgentProject(tools.projects, { named, channel: caller.channel.id });
  if (project.kind === 'unclear')
    return jobId === undefined
      ? projectMessage(project.problem, '/docs-agent new …', 'new')
      : projectMessage(project.problem, `/docs-agent follow ${jobId}`);
  const { teamId, user, channel, requestId } = caller;
  const thread = newOwnThread(
    {
      id: requestRunId(caller),
      teamId,
      project: project.name,
      agentJobId: jobId,
      owner: { id: user.id, name: user.name },
      asked: { ...conversationOf(channel), ...under },
      mode: tools.replyMode,
      instructionId: idOf('instruction', teamId, requestId),
      text,
    },
    tools.now(),
  );
  const quotas = threadQuotas(thread, tools.limits);
  const acceptance = await tools.intake.start(thread, caller, quotas);
  if (acceptance.kind === 'full') {
    await tools.audit({ subject: jobId ?? 'new job', job: jobId, result: 'refused: too many threads' });
    return projectMessage({ kind: 'full', max: quotas[0].max }, '');
  }
  return acceptance.kind === 'claimed' ? followsAlready : undefined;
}

const followsAlready = message([
  ['This thread already follows a job, so nothing was sent: reply in it to instruct the agent.'],
]);

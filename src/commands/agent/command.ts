import { projectMessage } from '../../jobs/agent/mention/view.ts';
import { tooLongText } from '../../jobs/agent/thread/phrases.ts';
import { newOwnThread } from '../../jobs/agent/thread/record.ts';
import { conversationOf, requestRunId } from '../../jobs/request.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { messageToMarkdown } from '../../slack/markdown/message.ts';
import { noNames } from '../../slack/markdown/names.ts';
import { lengthOf } from '../../slack/text.ts';
import { idOf } from '../../store/ids.ts';
import { ok, unclear } from '../args.ts';
import { defineCommand, subcommand } from '../command.ts';
import { jobIdArg, optional, projectFlag } from '../params.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { resolveAgentProject, withProject } from './project.ts';
import { listThreads, stopFollowing } from './threads.ts';

const followExample = '/docs-agent follow job_41d7';
const newExample = '/docs-agent new Add error handling to the quickstart';

export const agentCommand = defineCommand({
  name: '/docs-agent',
  summary: 'Follow a docs agent job in a thread and instruct the agent',
  may: 'agent',
  subcommands: [
    subcommand({
      verb: 'follow',
      args: {
        jobId: jobIdArg(
          '<job id>',
          followExample,
          unclear('Which job? Type its id, such as ', { code: followExample }, '.'),
        ),
        instruction: optional('text', '[instruction]'),
      },
      flags: { project: projectFlag },
      summary: 'Follow a job in a thread, where replies instruct the agent',
      example: `${followExample} Also add error handling`,
      run: follow,
    }),
    subcommand({
      verb: 'new',
      args: {
        instruction: {
          takes: 'text',
          usage: '<instruction>',
          read: (typed) =>
            typed === undefined
              ? unclear('What is to be done? For example: ', { code: newExample })
              : ok(typed),
        },
      },
      flags: { project: projectFlag },
      summary: 'Start a new job, where the platform can, and follow it',
      example: newExample,
      run: follow,
    }),
    subcommand({
      verb: 'list',
      args: {},
      flags: { project: projectFlag },
      summary: 'List the jobs that are followed',
      example: '/docs-agent list',
      run: ({ project }, caller, tools) =>
        withProject(project, tools, (known) => listThreads(known, caller, tools)),
    }),
    subcommand({
      verb: 'stop',
      args: { jobId: jobIdArg('[job id]', followExample, ok(undefined)) },
      flags: { project: projectFlag },
      summary: 'Stop following a job',
      example: '/docs-agent stop job_41d7',
      run: ({ jobId, project }, caller, tools) =>
        withProject(project, tools, (known) => stopFollowing({ jobId, project: known }, caller, tools)),
    }),
  ],
});

/** Keeps a thread that its card becomes, which is posted here. Without `jobId` its instruction makes the job. */
async function follow(
  args: { jobId?: string; instruction: string | undefined; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const { jobId, project: named } = args;
  const project = resolveAgentProject(tools.projects, { named, channel: caller.channel.id });
  if (project.kind === 'unclear')
    return jobId === undefined
      ? projectMessage(project.problem, '/docs-agent new …', 'new')
      : projectMessage(project.problem, `/docs-agent follow ${jobId}`);
  // The manifest has Slack leave mentions as they were typed.
  const text = messageToMarkdown({ text: args.instruction ?? '' }, noNames).trim();
  const { instructionCharacters: max } = tools.limits;
  if (lengthOf(text) > max) return message([[`${tooLongText(lengthOf(text), max)} Nothing was sent.`]]);
  const { teamId, user, channel, requestId } = caller;
  const thread = newOwnThread(
    {
      id: requestRunId(caller),
      teamId,
      project: project.name,
      agentJobId: jobId,
      owner: { id: user.id, name: user.name },
      asked: conversationOf(channel),
      mode: tools.replyMode,
      instructionId: idOf('instruction', teamId, requestId),
      text,
    },
    tools.now(),
  );
  await tools.intake.start(thread, caller);
  return undefined;
}

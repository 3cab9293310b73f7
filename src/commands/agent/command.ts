import { projectMessage } from '../../jobs/agent/mention/view.ts';
import { tooLongText } from '../../jobs/agent/thread/phrases.ts';
import type { ThreadRun } from '../../jobs/agent/thread/record.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { messageToMarkdown } from '../../slack/markdown/message.ts';
import { noNames } from '../../slack/markdown/names.ts';
import { lengthOf } from '../../slack/text.ts';
import type { Caller, CommandTools, SlashCommand } from '../command.ts';
import { refusalText } from '../export/target.ts';
import { helpMessage } from '../gate.ts';
import { readAgentArgs } from './args.ts';
import { listThreads } from './list.ts';
import { resolveAgentProject, threadFromCommand } from './new-thread.ts';
import { stopFollowing } from './stop.ts';

export const agentCommand: SlashCommand = {
  name: '/docs-agent',
  usage: 'follow <job id> [instruction] | new <instruction> | list | stop [job id]',
  summary: 'Follows a job of the docs agent in a thread: replies there instruct the agent.',
  examples: [
    '/docs-agent follow job_41d7 Also add error handling',
    '/docs-agent new Add a quickstart --project acme',
    '/docs-agent list',
    '/docs-agent stop job_41d7',
  ],
  may: 'agent',

  async run(text, caller, tools) {
    const args = readAgentArgs(text);
    switch (args.kind) {
      case 'help':
        return helpMessage(agentCommand);
      case 'unclear':
        return message([args.message]);
      case 'follow':
        return follow(args, `/docs-agent follow ${args.jobId}`, caller, tools);
      case 'new':
        return follow({ ...args, jobId: undefined }, '/docs-agent new …', caller, tools);
      case 'list':
      case 'stop': {
        const project = findProject(args.project, tools);
        if (project.kind === 'unknown') return project.message;
        return args.kind === 'list'
          ? listThreads(project.name, caller, tools)
          : stopFollowing({ jobId: args.jobId, project: project.name }, caller, tools);
      }
    }
  },
};

/** Keeps a thread whose card is posted here. Without `jobId` its instruction makes the job. */
async function follow(
  args: { jobId: string | undefined; instruction: string; project: string | undefined },
  command: string,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const { jobId, project: named } = args;
  const project = resolveAgentProject(tools.projects, { named, channel: caller.channel.id });
  if (project.kind === 'unclear')
    return projectMessage(project.problem, command, jobId === undefined ? 'new' : 'existing');
  // The manifest has Slack leave mentions as they were typed.
  const text = messageToMarkdown({ text: args.instruction }, noNames).trim();
  const { instructionCharacters: max } = tools.limits;
  if (lengthOf(text) > max) return message([[`${tooLongText(lengthOf(text), max)} Nothing was sent.`]]);
  const thread: ThreadRun = threadFromCommand(
    { project: project.name, agentJobId: jobId, mode: tools.replyMode, text },
    caller,
    tools.now(),
  );
  await tools.intake.start(thread, caller);
  return undefined;
}

/** The name in the settings of a project that somebody typed. */
function findProject(
  named: string | undefined,
  { projects }: Pick<CommandTools, 'projects'>,
): { kind: 'known'; name: string | undefined } | { kind: 'unknown'; message: Message } {
  if (named === undefined) return { kind: 'known', name: undefined };
  const found = projects.find(({ name }) => name.toLowerCase() === named.toLowerCase());
  if (found !== undefined) return { kind: 'known', name: found.name };
  const known = projects.map(({ name }) => name);
  return { kind: 'unknown', message: message([[refusalText({ kind: 'unknownProject', named, known })]]) };
}

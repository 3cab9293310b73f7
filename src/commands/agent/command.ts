import { type TypedJob, withJob } from '../../jobs/typed-job.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { messageToMarkdown } from '../../slack/markdown/message.ts';
import { noNames } from '../../slack/markdown/names.ts';
import {
  defineCommand,
  helpMessage,
  invalid,
  jobIdArg,
  ok,
  optional,
  projectFlag,
  subcommand,
} from '../command.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import { findAgentJob, followJob, withProject } from './follow.ts';
import { instructionProblem, openInstructModal } from './modal.ts';
import { listThreads, stopFollowing } from './threads.ts';

const followExample = '/docs-agent follow job_41d7';
const stopExample = '/docs-agent stop job_41d7';
const newExample = '/docs-agent new Add error handling to the quickstart';

export const agentCommand = defineCommand({
  name: '/docs-agent',
  summary: 'Follow a docs agent job in a thread and instruct the agent',
  may: 'agent',
  subcommands: [
    subcommand({
      args: {},
      flags: {},
      summary: 'Instruct the docs agent',
      example: '/docs-agent',
      run: choose,
    }),
    subcommand({
      verb: 'follow',
      args: {
        jobId: jobIdArg(
          '<job id>',
          followExample,
          invalid('Which job? Type its ID, such as ', { code: followExample }, '.'),
        ),
        instruction: optional('text', '[instruction]'),
      },
      flags: { project: projectFlag },
      summary: 'Follow a job in a thread, where replies instruct the agent',
      example: `${followExample} Also add error handling`,
      run: followExisting,
    }),
    subcommand({
      verb: 'new',
      args: {
        instruction: {
          takes: 'text',
          usage: '<instruction>',
          read: (typed) =>
            typed === undefined
              ? invalid('What should the agent do? For example: ', { code: newExample })
              : ok(typed),
        },
      },
      flags: { project: projectFlag },
      summary: 'Start a new job and follow it, if the platform can create jobs',
      example: newExample,
      run: (request, caller, tools) => followTyped(request, caller, tools),
    }),
    subcommand({
      verb: 'list',
      args: {},
      flags: { project: projectFlag },
      summary: 'List followed jobs',
      example: '/docs-agent list',
      run: ({ project }, caller, tools) =>
        withProject(project, tools, (known) => listThreads(known, caller, tools)),
    }),
    subcommand({
      verb: 'stop',
      args: { jobId: jobIdArg('[job id]', followExample, ok(undefined)) },
      flags: { project: projectFlag },
      summary: 'Stop following a job',
      example: stopExample,
      run: ({ jobId, project }, caller, tools) =>
        withProject(project, tools, (known) => stopTyped(jobId, known, caller, tools)),
    }),
  ],
});

/** Asks in a modal for a new or an existing job; if no modal can be opened, help shows what to type. */
async function choose(_input: unknown, caller: Caller, tools: CommandTools): Promise<Message | undefined> {
  try {
    return await openInstructModal(caller, tools);
  } catch (error) {
    if (error instanceof UserFacingError) return helpMessage(agentCommand);
    throw error;
  }
}

async function followExisting(
  {
    jobId: typed,
    ...rest
  }: { jobId: TypedJob; instruction: string | undefined; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const found = await findAgentJob(typed, rest.project, caller, tools);
  return withJob(
    found,
    { typed, command: '/docs-agent follow', example: followExample },
    tools.projects,
    (job) => followTyped({ ...rest, jobId: job.id, project: rest.project ?? job.project }, caller, tools),
  );
}

async function stopTyped(
  typed: TypedJob | undefined,
  project: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  if (typed === undefined) return stopFollowing({ jobId: undefined, project }, caller, tools);
  const found = await findAgentJob(typed, project, caller, tools);
  return withJob(found, { typed, command: '/docs-agent stop', example: stopExample }, tools.projects, (job) =>
    stopFollowing({ jobId: job.id, project: project ?? job.project }, caller, tools),
  );
}

async function followTyped(
  {
    jobId,
    instruction = '',
    project,
  }: { jobId?: string; instruction: string | undefined; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  // By the manifest's settings, Slack leaves mentions as they were typed.
  const text = messageToMarkdown({ text: instruction }, noNames).trim();
  // A job can be followed without an instruction.
  const problem =
    jobId !== undefined && text === '' ? undefined : instructionProblem(text, undefined, tools.limits);
  if (problem !== undefined) return message([[`${problem} Nothing was sent.`]]);
  return followJob({ jobId, text, project }, caller, tools);
}

import { agentActions, stopButton } from '../../jobs/agent/thread/buttons.ts';
import { jobName } from '../../jobs/agent/thread/phrases.ts';
import type { ListedThread, ThreadClick, ThreadRun } from '../../jobs/agent/thread/record.ts';
import { threadLine, threadPermalink } from '../../jobs/agent/thread/view.ts';
import { mayMean, type TypedJob, withJob } from '../../jobs/typed-job.ts';
import { isInChannel } from '../../jobs/visibility.ts';
import { unknownProjectText } from '../../jobs/wording-view.ts';
import { projectNamed } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { noNames } from '../../slack/markdown/inline.ts';
import { messageToMarkdown } from '../../slack/markdown/message.ts';
import { formatCount } from '../../slack/text.ts';
import { defineCommand, invalid, jobIdArg, ok, optional, projectFlag, subcommand } from '../command.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import type { Registry } from '../registry.ts';
import { followAgainButton, startNewButton, threadButtons, tryAgainButton } from './buttons.ts';
import { messageEvents } from './events.ts';
import { auditThread, clickThread, findAgentJob, findThreads, followJob } from './follow.ts';
import { instructButton, instructionProblem, instructModal, openInstructModal } from './modal.ts';
import { sendModal, sendShortcut } from './shortcut.ts';

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
      run: (_, caller, tools) => openInstructModal(caller, tools),
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
      run: listThreads,
    }),
    subcommand({
      verb: 'stop',
      args: { jobId: jobIdArg('[job id]', followExample, ok(undefined)) },
      flags: { project: projectFlag },
      summary: 'Stop following a job',
      example: stopExample,
      run: stopFollowing,
    }),
  ],
});

async function followExisting(
  {
    jobId: typed,
    ...rest
  }: { jobId: TypedJob; instruction: string | undefined; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const found = await findAgentJob(typed, rest.project, caller, tools);
  return withJob(found, { command: '/docs-agent follow', example: followExample }, tools.projects, (job) =>
    followTyped({ ...rest, jobId: job.id, project: rest.project ?? job.project }, caller, tools),
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

/** More lines do not help, and with a button each a message has at most 50 blocks; the rest is counted. */
const MAX_LINES = 15;

/** Returns the followed threads that this person may see; with `project`, only those of that project. */
async function listThreads(
  { project }: { project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const isListed = inProject(project, tools);
  const { threads, rest } = await findThreads(caller, tools, MAX_LINES, isListed);
  if (threads.length === 0)
    return message([
      ['There are no followed agent jobs that you can see here. Follow one with '],
      [{ code: '/docs-agent follow <job id>' }],
    ]);
  const lines = threads.map((thread) => lineOf(thread, caller, tools));
  return message(rest > 0 ? [...lines, [`and ${formatCount(rest)} more`]] : lines);
}

/** Returns whether a thread is in the typed project. Rejects with `UserFacingError` if the settings have no such project. */
function inProject(named: string | undefined, { projects }: CommandTools) {
  const name = projectNamed(projects, named ?? '')?.name;
  if (named !== undefined && name === undefined) {
    const known = projects.map((one) => one.name);
    throw new UserFacingError(message([[unknownProjectText(named, known)]]));
  }
  return ({ project }: ListedThread) => named === undefined || project === name;
}

/** Stops following: the only thread in this channel, or the one that follows this job in any channel. */
async function stopFollowing(
  { jobId, project }: { jobId: TypedJob | undefined; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const isListed = inProject(project, tools);
  const isMeant = (thread: ListedThread) =>
    jobId === undefined ? isInChannel(thread, caller.channel.id) : mayMean(jobId, thread.agentJobId ?? '');
  const { threads, rest } = await findThreads(
    caller,
    tools,
    MAX_LINES,
    (thread) => isListed(thread) && isMeant(thread),
  );
  const [thread, ...others] = threads;
  if (thread === undefined) return noneFollowedMessage(jobId);
  if (others.length > 0) return chooseThreadMessage(threads, rest, caller, tools);
  const { id, name } = caller.user;
  const click: ThreadClick = {
    ...{ kind: 'clicked', action: 'stop', by: { id, name }, about: [], attempt: 1, atMs: tools.now() },
  };
  if (!(await clickThread(thread, click, caller, tools))) return noneFollowedMessage(jobId);
  await auditThread(thread, 'stopped', tools);
  return message([[`I no longer follow ${jobName(thread)}.`]]);
}

function noneFollowedMessage(jobId: TypedJob | undefined): Message {
  const where =
    jobId === undefined
      ? 'This channel has no followed agent job that you can see.'
      : 'No thread that you can see follows this job.';
  return message([[where, ' ', { code: '/docs-agent list' }, ' shows the followed jobs.']]);
}

const lineOf = (thread: ThreadRun, { user }: Caller, { workspaceUrl }: CommandTools) =>
  threadLine(thread, threadPermalink(thread, workspaceUrl), user.id);

function chooseThreadMessage(
  threads: readonly ThreadRun[],
  rest: number,
  caller: Caller,
  tools: CommandTools,
): Message {
  const parts = [
    message([['Which one?']]),
    ...threads.map((thread) => message([lineOf(thread, caller, tools)], [stopButton(thread)])),
  ];
  if (rest > 0) parts.push(message([[`and ${formatCount(rest)} more; type the job's ID to find it.`]]));
  return {
    text: parts.map(({ text }) => text).join('\n'),
    blocks: parts.flatMap(({ blocks }) => blocks),
  };
}

export const agentCommands = {
  commands: [agentCommand],
  buttons: [...threadButtons, followAgainButton, startNewButton, tryAgainButton, instructButton],
  urlActions: [agentActions.openPullRequest, agentActions.openThread],
  modals: [instructModal, sendModal],
  shortcuts: [sendShortcut],
  events: messageEvents,
} satisfies Partial<Registry>;

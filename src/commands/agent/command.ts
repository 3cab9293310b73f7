import { agentActions, stopButton } from '../../jobs/agent/thread/buttons.ts';
import { jobName } from '../../jobs/agent/thread/phrases.ts';
import type { ListedThread } from '../../jobs/agent/thread/record.ts';
import { threadLine, threadPermalink } from '../../jobs/agent/thread/view.ts';
import { type PullRequestRun, waitsForReview } from '../../jobs/pull-request/record.ts';
import { isInChannel } from '../../jobs/shared/origin.ts';
import type { TypedJob } from '../../jobs/shared/typed-job.ts';
import { unknownProjectText } from '../../jobs/shared/wording-view.ts';
import { projectNamed } from '../../projects.ts';
import { compose, type Line, type Message, message } from '../../slack/blocks.ts';
import { noNames } from '../../slack/markdown/inline.ts';
import { messageToMarkdown } from '../../slack/markdown/message.ts';
import { formatCount } from '../../slack/text.ts';
import { defineCommand, invalid, jobIdArg, ok, optional, projectFlag, subcommand } from '../command.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import { listPullRequests } from '../pull-request/pull-request.ts';
import type { Registry } from '../registry.ts';
import { agentButtons } from './buttons.ts';
import { messageEvents } from './events.ts';
import {
  appendThreadEvent,
  findAgentJob,
  findThreads,
  followExample,
  followJob,
  newClick,
} from './follow.ts';
import { agentModals, instructButton, instructionProblem, openInstructModal, sendShortcut } from './modal.ts';

const newExample = '/docs-agent new Add error handling to the quickstart';

export const agentCommand = defineCommand({
  name: '/docs-agent',
  may: 'agent',
  subcommands: [
    subcommand({
      summary: 'Ask the docs agent',
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
        instruction: optional('text', '[request]'),
      },
      flags: { project: projectFlag },
      summary: 'Follow an agent job in a thread, where replies ask the agent',
      example: `${followExample} Also add error handling`,
      async run({ jobId: typed, instruction = '', project }, caller, tools) {
        const found = await findAgentJob(typed, project, caller, tools);
        if ('problem' in found) return message([found.problem]);
        const { id, project: known } = found.job;
        return follow(instruction, { jobId: id, project: project ?? known }, caller, tools);
      },
    }),
    subcommand({
      verb: 'new',
      args: {
        instruction: {
          takes: 'text',
          usage: '<request>',
          read: (typed: string | undefined) =>
            typed === undefined
              ? invalid('What should the agent do? For example: ', { code: newExample })
              : ok(typed),
        },
      },
      flags: { project: projectFlag },
      summary: 'Start an agent job and follow it, if the platform can create jobs',
      example: newExample,
      run: ({ instruction, project }, caller, tools) => follow(instruction, { project }, caller, tools),
    }),
    subcommand({
      verb: 'list',
      flags: { project: projectFlag },
      summary: 'List followed agent jobs',
      example: '/docs-agent list',
      async run({ project }, caller, tools) {
        const { lines, rest, isOfProject } = await findListed(project, caller, tools);
        const open = await listPullRequests(caller, tools, isOfProject);
        const pulls: Line[] = open.length > 0 ? [[{ bold: 'Open pull requests' }], ...open] : [];
        if (lines.length + open.length > 0) return message([...lines, rest, ...pulls]);
        return message([
          'No agent job is followed that you can see here. Follow one with ',
          [{ code: '/docs-agent follow <job id>' }],
        ]);
      },
    }),
    subcommand({
      verb: 'reviews',
      flags: { project: projectFlag },
      summary: 'List pull requests of the agent that wait for a review',
      example: '/docs-agent reviews',
      async run({ project }, caller, tools) {
        const isOfProject = projectFilter(project, tools);
        const waits = (run: PullRequestRun) => isOfProject(run) && waitsForReview(run);
        const lines = await listPullRequests(caller, tools, waits);
        const isNamed = ({ name }: { name: string }) => isOfProject({ project: name });
        const isKnown = tools.projects.some((one) => one.pullRequests && isNamed(one));
        if (lines.length === 0 && !isKnown) return unknownReviews;
        return message(lines.length > 0 ? lines : ['No pull request of the agent waits for a review here.']);
      },
    }),
    subcommand({
      verb: 'stop',
      args: { jobId: jobIdArg('[job id]', followExample, ok(undefined)) },
      flags: { project: projectFlag },
      summary: 'Stop following an agent job',
      example: '/docs-agent stop job_41d7',
      /** Stops the only thread in this channel, or the one that follows this job in any channel. */
      async run({ jobId, project }: { jobId?: TypedJob; project: string | undefined }, caller, tools) {
        const { threads, lines, rest } = await findListed(project, caller, tools, (thread) =>
          jobId ? jobId.mayMean(thread.agentJobId ?? '') : isInChannel(thread, caller.channel.id),
        );
        const [thread, ...others] = threads;
        if (thread === undefined) {
          const where = jobId
            ? 'No thread that you can see follows this job.'
            : 'No agent job that you can see is followed in this channel.';
          return message([[where, ' ', { code: '/docs-agent list' }, ' shows the followed jobs.']]);
        }
        if (others.length > 0)
          return compose([
            message(['Which one?']),
            ...threads.map((one, index) => message([lines[index]], [stopButton(one)])),
            ...(rest ? [message([`${rest}; type the job's ID to find it.`])] : []),
          ]);
        await appendThreadEvent(thread, newClick('stop', caller, tools), caller, tools, 'stopped');
        return message([`I stopped following ${jobName(thread)}.`]);
      },
    }),
  ],
});

async function follow(
  instruction: string,
  job: { jobId?: string; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  // By the manifest's settings, Slack leaves mentions as they were typed.
  const text = messageToMarkdown({ text: instruction }, noNames).trim();
  // A job can be followed without an instruction.
  const isOptional = job.jobId !== undefined && text === '';
  const problem = isOptional ? undefined : instructionProblem(text, undefined, tools.limits);
  if (problem !== undefined) return message([`${problem} Nothing was sent.`]);
  return followJob({ ...job, text }, caller, tools);
}

/** More lines do not help, and with a button each a message has at most 50 blocks; the rest is counted. */
const MAX_LINES = 15;

/** Returns the followed threads that this person may see, and their lines; only those of the named project, if any. */
async function findListed(
  named: string | undefined,
  caller: Caller,
  tools: CommandTools,
  isMeant: (thread: ListedThread) => boolean = () => true,
) {
  const isOfProject = projectFilter(named, tools);
  const isListed = (thread: ListedThread) => isOfProject(thread) && isMeant(thread);
  const { threads, rest } = await findThreads(caller, tools, MAX_LINES, isListed);
  const lines = threads.map((thread) =>
    threadLine(thread, threadPermalink(thread, tools.workspaceUrl), caller.user.id),
  );
  return { threads, lines, rest: rest > 0 && `and ${formatCount(rest)} more`, isOfProject };
}

const unknownReviews = message([
  [
    "I don't know which pull requests wait, because the settings name no Git host. Your Docket admins can set ",
    { code: 'pullRequests' },
    '.',
  ],
]);

/** Returns whether something is of the named project; without a name, everything is. */
function projectFilter(named: string | undefined, { projects }: CommandTools) {
  const project = projectNamed(projects, named ?? '')?.name;
  if (named !== undefined && project === undefined) {
    const known = projects.map(({ name }) => name);
    throw new UserFacingError(message([unknownProjectText(named, known)]));
  }
  return (one: { project: string }) => named === undefined || one.project === project;
}

export const agentCommands = {
  commands: [agentCommand],
  buttons: [...agentButtons, instructButton],
  urlActions: [agentActions.openPullRequest, agentActions.openThread],
  modals: agentModals,
  shortcuts: [sendShortcut],
  events: messageEvents,
} satisfies Partial<Registry>;

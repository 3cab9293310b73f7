import type { ProjectProblem } from '../../jobs/agent/mention/record.ts';
import { projectMessage } from '../../jobs/agent/mention/view.ts';
import { instructEntry } from '../../jobs/agent/thread/event.ts';
import {
  type DigestOrigin,
  type ListedThread,
  listedThread,
  newThread,
  type ThreadRun,
  threadQuotas,
  threadRun,
  visibleThread,
} from '../../jobs/agent/thread/record.ts';
import { endThread } from '../../jobs/agent/thread/transitions.ts';
import { conversationOf, requestRunId } from '../../jobs/request.ts';
import { chooseJobs, mayMean, searchedProjects, type TypedJob } from '../../jobs/typed-job.ts';
import { filterVisible } from '../../jobs/visibility.ts';
import { type Project, projectsWithId, resolveProject } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { tsToMs } from '../../slack/text.ts';
import { idOf } from '../../store/keys.ts';
import type { Caller, CommandTools } from '../intake.ts';

/** A thread to start. `text` goes to the agent; without `jobId` it creates the job. */
interface FollowRequest {
  jobId: string | undefined;
  text: string;
  /** As it was typed. */
  project: string | undefined;
  /** The existing thread, and the message that requested it. Without it the card becomes the thread. */
  under?: { rootTs: string; ts?: string };
  /** The instruction is the message at `under.ts`. */
  reply?: { ts: string; files: boolean };
  /** The digest under which the job is requested. */
  origin?: DigestOrigin;
}

/** Starts a thread that follows a job. Returns a message if that is not possible. */
export async function followJob(
  { jobId, text, project: named, under, reply, origin }: FollowRequest,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const project = resolveAgentProject(tools.projects, { named, channel: caller.channel.id });
  if (project.kind === 'unclear')
    return jobId === undefined
      ? projectMessage(project.problem, '/docs-agent new …', 'new')
      : projectMessage(project.problem, `/docs-agent follow ${jobId}`);
  const { teamId, channel } = caller;
  const instruction = { ...newInstructionOf(caller, text, tools), origin };
  const thread = newThread(
    {
      id: requestRunId(caller),
      teamId,
      project: project.name,
      agentJobId: jobId,
      owner: instruction.by,
      asked: { ...conversationOf(channel), ...under },
      mode: tools.replyMode,
      instruction: {
        ...instruction,
        ...(reply && { id: reply.ts, files: reply.files, isReply: true, atMs: Math.round(tsToMs(reply.ts)) }),
      },
    },
    tools.now(),
  );
  return startThread(thread, caller, tools);
}

const newInstructionOf = ({ teamId, requestId, user }: Caller, text: string, { now }: CommandTools) => ({
  id: idOf('instruction', teamId, requestId),
  by: { id: user.id, name: user.name },
  atMs: now(),
  text,
});

/** Sends an instruction to the job of a thread. Returns whether the thread is still there. */
export async function instructThread(
  thread: ThreadRun,
  text: string,
  origin: DigestOrigin | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<boolean> {
  const entry = instructEntry({ ...newInstructionOf(caller, text, tools), origin });
  const outcome = await tools.intake.appendToInbox(thread.job, thread.id, entry, caller);
  if (outcome !== 'gone') await auditThread(thread, 'accepted', tools);
  return outcome !== 'gone';
}

/**
 * Accepts a new thread. Returns a message if its owner follows too many, or its place follows a job. If the thread was
 * requested under a digest, it then ends at once, and says so there.
 */
async function startThread(
  thread: ThreadRun,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const quotas = threadQuotas(thread, tools.limits);
  const acceptance = await tools.intake.start(thread, caller, quotas);
  if (acceptance.kind === 'full') {
    await auditThread(thread, 'refused: too many threads', tools);
    if (thread.instructions.some(({ origin }) => origin))
      await tools.intake.start(endThread(thread, { why: 'tooManyThreads' }), caller);
    return projectMessage({ kind: 'full', max: quotas[0].max }, '');
  }
  return acceptance.kind === 'claimed' ? followsAlready : undefined;
}

export const auditThread = ({ agentJobId: job }: ThreadRun, result: string, { audit }: CommandTools) =>
  audit({ subject: job ?? 'new job', job, result });

const followsAlready = message([
  ['This thread already follows a job, so nothing was sent: reply in it to instruct the agent.'],
]);

/** Returns a message if no project has an agent; else undefined. */
export function noAgentMessage(projects: readonly Project[]): Message | undefined {
  if (projectsWithId(projects).length > 0) return undefined;
  const [{ name } = { name: 'default' }] = projects;
  return projectMessage({ kind: 'noId', name }, '/docs-agent new …', 'new');
}

/** The project of a new job if only one has an agent, so that the modal had no field for it. */
export function soleAgent(projects: readonly Project[]): string | undefined {
  const [only, ...others] = projectsWithId(projects);
  return others.length === 0 ? only?.name : undefined;
}

/** The agent's project, by its name in the settings, or the problem. */
type AgentProject = { kind: 'project'; name: string } | { kind: 'unclear'; problem: ProjectProblem };

/** Returns the project of a job followed or started here. Only a project with an id has an agent. */
export function resolveAgentProject(
  projects: readonly Project[],
  request: { named?: string | undefined; channel: string },
): AgentProject {
  const resolved = resolveProject(projects, request);
  switch (resolved.kind) {
    case 'project': {
      const { name, projectId } = resolved.project;
      if (projectId !== undefined) return { kind: 'project', name };
      return { kind: 'unclear', problem: { kind: 'noId', name } };
    }
    case 'ask':
      return { kind: 'unclear', problem: { kind: 'ask', names: resolved.among.map(({ name }) => name) } };
    case 'unknownProject':
      return {
        kind: 'unclear',
        problem: { kind: 'unknown', named: request.named ?? '', names: resolved.known },
      };
    case 'domainRefused':
      throw new Error('no domain was asked for');
  }
}

/**
 * Returns matching threads that follow a job and are visible to this person: preferred ones first, then latest first,
 * at most `max`. `rest` counts the others. Rejects with `UserFacingError`.
 */
export async function findThreads(
  caller: Caller,
  { intake, isPublic }: Pick<CommandTools, 'intake' | 'isPublic'>,
  max: number,
  matches: (thread: ListedThread) => boolean = () => true,
  isPreferred: (thread: ListedThread) => boolean = () => false,
): Promise<{ threads: ThreadRun[]; rest: number }> {
  const entries = await intake.read(caller, ({ threads }) => threads.followedIndex(caller.teamId));
  // Damaged entries are left out.
  const listed = entries.flatMap((entry) => listedThread.safeParse(entry).data ?? []);
  const open = listed.filter((thread) => thread.state !== 'ended' && matches(thread));
  const visible = await filterVisible(open, visibleThread, caller, isPublic);
  const inOrder = [...visible.filter(isPreferred), ...visible.filter((thread) => !isPreferred(thread))];
  const ids = inOrder.slice(0, max).map(({ id }) => id);
  const threads = await intake.read(caller, ({ runs }) => runs.loadAll(ids, threadRun));
  return {
    threads: threads.filter(({ state }) => state !== 'ended'),
    rest: Math.max(0, visible.length - max),
  };
}

/** Returns the matching agent jobs, among those followed where this person may see them. */
export async function findAgentJob(
  typed: TypedJob,
  named: string | undefined,
  caller: Caller,
  { intake, projects, isPublic }: CommandTools,
) {
  const entries = await intake.read(caller, ({ threads }) => threads.followedIndex(caller.teamId));
  const names = searchedProjects(projects, named);
  const threads = entries.flatMap((entry) => {
    const { agentJobId: id } = entry as { agentJobId?: unknown };
    // The check of the id alone is cheap.
    if (typeof id !== 'string' || !mayMean(typed, id)) return [];
    const thread = listedThread.safeParse(entry).data;
    return thread && thread.state !== 'ended' && names.includes(thread.project) ? [{ ...thread, id }] : [];
  });
  return chooseJobs(typed, await filterVisible(threads, visibleThread, caller, isPublic));
}

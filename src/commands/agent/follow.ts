import type { Background, BackgroundSource } from '../../jobs/agent/background.ts';
import { takenMessage, tooManyThreadsMessage } from '../../jobs/agent/thread/ephemeral-view.ts';
import { endThread } from '../../jobs/agent/thread/instructions.ts';
import {
  type DigestOrigin,
  type ListedThread,
  listThreads,
  newThread,
  type ThreadClick,
  type ThreadEvent,
  type ThreadRun,
  threadKind,
  threadQuotas,
  threadRun,
  visibleThread,
} from '../../jobs/agent/thread/record.ts';
import { conversationOf, filterVisible, requestRunId } from '../../jobs/shared/origin.ts';
import { jobFilter, soleJob, type TypedJob } from '../../jobs/shared/typed-job.ts';
import { chooseProjectMessage, unknownProjectText } from '../../jobs/shared/wording-view.ts';
import { type Project, projectsWithId, resolveProject } from '../../projects.ts';
import { type Line, message } from '../../slack/blocks.ts';
import { cut, singleLine, tsToMs } from '../../slack/text.ts';
import { idOf } from '../../store/keys.ts';
import { alreadyHandled, type Caller, type CommandTools, UserFacingError } from '../intake.ts';

export const followExample = '/docs-agent follow job_41d7';

/** An instruction to a job, or a request to follow one. `text` goes to the agent. */
interface FollowRequest {
  /** The thread that follows the job. Without it, one starts. */
  thread?: ThreadRun | undefined;
  /** The job of a thread to start. Without it, `text` creates the job. */
  jobId?: string | undefined;
  text: string;
  /** As it was typed. */
  project: string | undefined;
  /** The existing thread, and the message that requested it. Without it the card becomes the thread. */
  under?: { rootTs: string; ts?: string | undefined } | undefined;
  /** The instruction is the message at `under.ts`. */
  reply?: { ts: string; files: boolean };
  origin?: DigestOrigin;
  /** The background of the instruction, or the messages that its author is asked about first. */
  background?: Background | undefined;
  backgroundSource?: BackgroundSource | undefined;
}

/**
 * Sends an instruction to a followed thread, or starts a thread, whose card is the answer. Rejects with
 * `UserFacingError` if that is not possible. If this person follows too many jobs, a thread that was requested under a
 * digest ends at once, and a line there says so.
 */
export async function followJob(
  { thread: followed, jobId, text, project, under, reply, ...along }: FollowRequest,
  caller: Caller,
  tools: CommandTools,
): Promise<undefined> {
  const { teamId, channel, requestId } = caller;
  const { id, name } = caller.user;
  const owner = { id, name };
  const instruction = {
    id: idOf('instruction', teamId, requestId),
    by: owner,
    atMs: tools.now(),
    text,
    ...along,
  };
  if (followed) return appendThreadEvent(followed, { kind: 'instruct', ...instruction }, caller, tools);
  const thread = newThread(
    {
      id: requestRunId(caller),
      teamId,
      owner,
      agentJobId: jobId,
      mode: tools.replyMode,
      project: resolveAgentProject(tools.projects, { named: project, channel: channel.id }, jobId),
      asked: { ...conversationOf(channel), ...under },
      instruction: {
        ...instruction,
        ...(reply && { id: reply.ts, files: reply.files, isReply: true, atMs: Math.round(tsToMs(reply.ts)) }),
      },
    },
    tools.now(),
  );
  const quotas = threadQuotas(thread, tools.limits);
  const { kind } = await tools.intake.start(thread, caller, quotas);
  if (kind === 'claimed') throw new UserFacingError(takenMessage);
  // The first click on either button of a mention counts.
  if (kind === 'repeated' && reply) throw new UserFacingError(alreadyHandled);
  if (kind !== 'full') return;
  await auditThread(thread, 'refused: too many threads', tools);
  if (along.origin) await tools.intake.start(endThread(thread, { why: 'tooManyThreads' }), caller);
  throw new UserFacingError(tooManyThreadsMessage(quotas[0].max));
}

/** Returns the messages around a chosen one; undefined if the job has taken an instruction there already. */
export function sourceFor(
  { rootTs, ts, before }: { rootTs: string; ts: string; before: string },
  thread: ThreadRun | undefined,
  { channel: { id: channel } }: Caller,
): BackgroundSource | undefined {
  const isHere = thread?.place?.channel === channel && thread.place.rootTs === rootTs;
  return isHere && thread.instructions.length > 0 ? undefined : { channel, rootTs, before, ownTs: ts };
}

/** The value for a new job in a modal; no run has this id. */
export const NEW_JOB = 'new';

const notFollowed = message(['That agent job is no longer followed, so nothing was sent.']);

/** Returns the thread that a modal names; undefined for a new job. Rejects with `UserFacingError`. */
export async function loadFollowed(id: string, caller: Caller, { intake }: CommandTools, project?: string) {
  if (id === NEW_JOB) return undefined;
  const thread = await intake.loadVisible(id, threadKind, caller, notFollowed, notFollowed);
  const isOther = project !== undefined && thread.project !== project;
  if (thread.state === 'ended' || isOther) throw new UserFacingError(notFollowed);
  return thread;
}

export const newClick = (
  action: ThreadClick['action'],
  { user: { id, name } }: Caller,
  { now }: CommandTools,
  { about, attempt }: Pick<ThreadClick, 'about' | 'attempt'> = { about: [], attempt: 1 },
): ThreadClick => ({ kind: 'clicked', action, by: { id, name }, about, attempt, atMs: now() });

/** Hands an event of a request to the job of a thread. Rejects with `UserFacingError`. */
export async function appendThreadEvent(
  thread: ThreadRun,
  event: ThreadEvent,
  caller: Caller,
  tools: CommandTools,
  result = 'accepted',
): Promise<undefined> {
  const entry = { event, dedupeKey: `${event.kind} ${caller.requestId}` };
  const outcome = await tools.intake.appendToInbox(thread.job, thread.id, entry, caller);
  if (outcome === 'gone') throw new UserFacingError(notFollowed);
  await auditThread(thread, result, tools);
}

const auditThread = ({ agentJobId: job }: ThreadRun, result: string, { audit }: CommandTools) =>
  audit({ subject: job ?? 'new agent job', job, result });

/** Returns the projects that have an agent. Throws `UserFacingError` if there is none. */
export function agentProjects(projects: readonly Project[]): Project[] {
  const found = projectsWithId(projects);
  if (found.length === 0) throw projectWithoutId(projects[0]?.name ?? 'default');
  return found;
}

/** Without a file of projects, the only project is called `default`. */
export function projectWithoutId(name: string, did = 'sent'): UserFacingError {
  const nothing = `so nothing was ${did}. Ask your Docket admins to`;
  const line: Line =
    name === 'default'
      ? [`I don't know the project's id, ${nothing} set `, { code: 'DOCS_PROJECT_ID' }, '.']
      : [
          `Project ${name} has no id, ${nothing} add its `,
          { code: 'projectId' },
          " to Docket's file of projects.",
        ];
  return new UserFacingError(message([line]));
}

/**
 * Returns the name of the project of a job that is followed or started here. Throws `UserFacingError` if there is none.
 * Only a project with an id has an agent. `by` is the start of the text that would name the project.
 */
export function resolveAgentProject(
  projects: readonly Project[],
  request: { named?: string | undefined; channel: string },
  jobId?: string,
  by = '/docs-agent',
): string {
  const resolved = resolveProject(projects, request);
  if (resolved.kind === 'project') {
    const { name, projectId } = resolved.project;
    if (projectId === undefined) throw projectWithoutId(name);
    return name;
  }
  if (resolved.kind !== 'ambiguous')
    throw new UserFacingError(message([unknownProjectText(request.named ?? '', resolved.known)]));
  const names = resolved.among.map(({ name }) => name);
  const [question, command] =
    jobId === undefined ? ['for', 'new …'] : ['in', `follow ${cut(singleLine(jobId), 200)}`];
  const outcome = 'Nothing was sent.';
  const reply = chooseProjectMessage(`Which project is it ${question}`, names, `${by} ${command}`, outcome);
  throw new UserFacingError(reply, names);
}

type ThreadFilter = (thread: ListedThread) => boolean;

/** Returns the matching threads that follow a job and are visible to this person, latest first. */
async function visibleThreads(caller: Caller, { intake, isPublic }: CommandTools, matches?: ThreadFilter) {
  const listed = await intake.read(caller, ({ runs }) => listThreads(runs, caller.teamId));
  const open = listed.filter((thread) => thread.state !== 'ended' && matches?.(thread) !== false);
  return filterVisible(open, visibleThread, caller, isPublic);
}

/** Returns the records of at most `max` such threads. `rest` counts the others. Rejects with `UserFacingError`. */
export async function findThreads(caller: Caller, tools: CommandTools, max: number, matches?: ThreadFilter) {
  const visible = await visibleThreads(caller, tools, matches);
  const ids = visible.slice(0, max).map(({ id }) => id);
  const threads = await tools.intake.read(caller, ({ runs }) => runs.loadAll(ids, threadRun));
  return {
    threads: threads.filter(({ state }) => state !== 'ended'),
    rest: Math.max(0, visible.length - max),
  };
}

/** Returns the typed agent job, or the problem. Known are those followed where this person may see them. */
export async function findAgentJob(
  typed: TypedJob | undefined,
  named: string | undefined,
  caller: Caller,
  tools: CommandTools,
) {
  const isMeant = typed && jobFilter(typed, named, tools.projects);
  const threads = isMeant
    ? await visibleThreads(caller, tools, (thread) => isMeant(thread.agentJobId, thread.project))
    : [];
  const known = threads.map(({ agentJobId: id = '', project }) => ({ id, project }));
  return soleJob(typed, known, followExample);
}

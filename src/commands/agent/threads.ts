import { stopButton } from '../../jobs/agent/thread/buttons.ts';
import type { ThreadEvent } from '../../jobs/agent/thread/event.ts';
import { jobName } from '../../jobs/agent/thread/phrases.ts';
import {
  type ListedThread,
  listedThread,
  type ThreadRun,
  threadRun,
  visibleThread,
} from '../../jobs/agent/thread/record.ts';
import { threadLine, threadPermalink } from '../../jobs/agent/thread/view.ts';
import { filterVisible, isInChannel } from '../../jobs/visibility.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import type { Caller, CommandTools } from '../intake.ts';

/** More lines do not help, and with a button each a message has at most 50 blocks; the rest is counted. */
const MAX_LINES = 15;

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

export const auditThread = ({ agentJobId: job }: ThreadRun, result: string, { audit }: CommandTools) =>
  audit({ subject: job ?? 'new job', job, result });

/** Returns the followed threads that this person may see; with `project`, only those of that project. */
export async function listThreads(
  project: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const matches = (thread: ListedThread) => project === undefined || thread.project === project;
  const { threads, rest } = await findThreads(caller, tools, MAX_LINES, matches);
  if (threads.length === 0)
    return message([
      ['There are no followed agent jobs that you can see here. Follow one with '],
      [{ code: '/docs-agent follow <job id>' }],
    ]);
  const lines = threads.map((thread) => lineOf(thread, caller, tools));
  return message(rest > 0 ? [...lines, [`and ${formatCount(rest)} more`]] : lines);
}

/** Stops following: the only thread in this channel, or the one that follows this job in any channel. */
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
  if (others.length > 0) return chooseThreadMessage(threads, rest, caller, tools);
  const { id, name } = caller.user;
  const click: ThreadEvent = { kind: 'clicked', action: 'stop', by: { id, name }, about: [], attempt: 1 };
  const entry = { event: click, dedupeKey: `click stop ${caller.requestId}` };
  const outcome = await tools.intake.appendToInbox(thread.job, thread.id, entry, caller);
  if (outcome === 'gone') return noneFollowedMessage(jobId);
  await auditThread(thread, 'stopped', tools);
  return message([[`I no longer follow ${jobName(thread)}.`]]);
}

function noneFollowedMessage(jobId: string | undefined): Message {
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

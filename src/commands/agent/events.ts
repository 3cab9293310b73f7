import { newMention } from '../../jobs/agent/mention/record.ts';
import type { ThreadEvent } from '../../jobs/agent/thread/event.ts';
import { newThread, type ThreadRun } from '../../jobs/agent/thread/record.ts';
import { parseThreadText, type ThreadText } from '../../jobs/agent/thread-text.ts';
import type { Project } from '../../projects.ts';
import type { Log } from '../../runtime/log.ts';
import { retention } from '../../runtime/timing.ts';
import { within } from '../../runtime/within.ts';
import type { Identity } from '../../slack/client.ts';
import { beginningOf, messageToMarkdown } from '../../slack/markdown/message.ts';
import { noNames } from '../../slack/markdown/names.ts';
import { type Reply, readReply, type UserMessage } from '../../slack/reply.ts';
import { idOf } from '../../store/ids.ts';
import type { Acceptance, RunBase, RunStore } from '../../store/runs.ts';
import type { ThreadStore } from '../../store/threads.ts';
import { resolveAgentProject } from './new-thread.ts';

export interface MessageEventParts {
  threads: Pick<ThreadStore, 'appendToThread'>;
  runs: Pick<RunStore, 'accept'>;
  /** Has a worker look at a run at once. */
  wake: (run: Pick<RunBase, 'id' | 'job'>) => Promise<void>;
  /** Who the bot is; nothing while Slack has not told yet. */
  identity: () => Identity | undefined;
  projects: readonly Project[];
  /** Which replies in a thread are instructions, unless people there say otherwise. */
  replyMode: ThreadRun['mode'];
  now: () => number;
  log: Log;
}

/** How long queueing may delay the answer; what was told is kept by then, and the sweeper queues what is not. */
const ENQUEUE_TIMEOUT_MS = 400;

type RelevantReply = Exclude<Reply, { kind: 'ignored' }>;
type NewReply = Extract<Reply, { kind: 'reply' }>;
type FollowRequest = Extract<ThreadText, { kind: 'follow' }>;

/**
 * Takes what was written, edited and deleted: `message` and `app_mention` events, with the request's body around
 * them. Rejects when it could not keep something, so that Slack tells it again; what is told again is dropped.
 */
export function createMessageEventHandler(
  parts: MessageEventParts,
): (event: unknown, envelope: unknown) => Promise<void> {
  const { threads, runs, wake, projects, replyMode, now, log } = parts;

  /** For the look of the run that follows a thread, if one does. */
  async function appendToInbox(reply: RelevantReply, threadTs: string, identity: Identity) {
    const place = { teamId: identity.teamId, channel: reply.channel, rootTs: threadTs };
    const { parentUser } = reply;
    const underOwnMessage = parentUser === undefined ? undefined : parentUser === identity.botUserId;
    const entry = { event: threadEventOf(reply), dedupeKey: dedupeKeyOf(reply) };
    const outcome = await threads.appendToThread('agent-thread', place, entry, underOwnMessage);
    if (outcome.kind === 'kept') await tryWake({ id: outcome.runId, job: 'agent-thread' });
    return outcome.kind;
  }

  const projectOf = ({ channel }: NewReply, { project: named }: FollowRequest) =>
    resolveAgentProject(projects, { named, channel });

  /** Answers whether the message has a thread follow a job: it does so once, however often Slack tells of it. */
  async function startFollowing(reply: NewReply, parsed: ThreadText, identity: Identity): Promise<boolean> {
    if (parsed.kind !== 'follow') return false;
    const project = projectOf(reply, parsed);
    if (project.kind !== 'project') return false;
    return (await accept(threadFor(reply, parsed.jobId, project.name, identity.teamId))) !== 'claimed';
  }

  async function handleMention(reply: NewReply, parsed: ThreadText, early: boolean, identity: Identity) {
    const project = parsed.kind === 'follow' ? projectOf(reply, parsed) : undefined;
    const { teamId, botUserId } = identity;
    const { threadTs } = reply;
    const problem = project?.kind === 'unclear' ? project.problem : undefined;
    await accept(newMention({ teamId, botUserId, reply: replyOf(reply), threadTs, early, problem }, now()));
  }

  function threadFor(
    { channel, ts, threadTs, user, external }: NewReply,
    agentJobId: string,
    project: string,
    teamId: string,
  ): ThreadRun {
    return newThread(
      {
        id: idOf('agent-thread', teamId, channel, ts),
        teamId,
        project,
        agentJobId,
        owner: { id: user, name: user },
        checked: false,
        // The app is in there, since it heard this; who else may read it, the event does not say.
        asked: { channel, joinable: true, isPublic: false, external, rootTs: threadTs ?? ts, ts },
        mode: replyMode,
        instruction: undefined,
      },
      now(),
    );
  }

  async function accept(run: RunBase): Promise<Acceptance['kind']> {
    const { kind } = await runs.accept(run, Number.MAX_SAFE_INTEGER, retention.runMs, undefined);
    if (kind === 'accepted') await tryWake(run);
    return kind;
  }

  async function tryWake(run: Pick<RunBase, 'id' | 'job'>): Promise<void> {
    try {
      await within(ENQUEUE_TIMEOUT_MS, wake(run));
    } catch (error) {
      log.warn({ err: error, run: run.id }, 'kept, but not queued yet; the sweeper does it');
    }
  }

  return async (event, envelope) => {
    const identity = parts.identity();
    if (identity === undefined) throw new Error('a message came before Slack told who the bot is');
    const reply = readReply(event, envelope, identity);
    if (reply.kind === 'ignored') {
      log.debug({ why: reply.why }, 'a message was ignored');
      return;
    }
    const { threadTs } = reply;
    const parsed = readAddressedText(reply, identity.botUserId);
    if (reply.kind === 'reply' && parsed && (await startFollowing(reply, parsed, identity))) return;
    const outcome = threadTs === undefined ? 'notFollowed' : await appendToInbox(reply, threadTs, identity);
    if (reply.kind !== 'reply' || !parsed || parsed.kind === 'aside') return;
    // Under a message of ours the thread may be followed in a moment: the look at the mention sees.
    if (outcome === 'notFollowed' || outcome === 'early')
      await handleMention(reply, parsed, outcome === 'early', identity);
  };
}

/** What somebody says to the app itself: with a mention of it, or in direct messages with it. */
function readAddressedText(reply: RelevantReply, botUserId: string): ThreadText | undefined {
  if (reply.kind !== 'reply') return undefined;
  const isDirect = reply.channel.startsWith('D') && reply.threadTs === undefined;
  if (!reply.mentionsBot && !isDirect) return undefined;
  return parseThreadText(
    messageToMarkdown(beginningOf(reply.content), noNames, { withoutMention: botUserId }),
  );
}

function replyOf({ channel, ts, user, external, mentionsBot, mentionsOthers, content, files }: UserMessage) {
  return { kind: 'reply' as const, channel, ts, user, external, mentionsBot, mentionsOthers, content, files };
}

function threadEventOf(reply: RelevantReply): ThreadEvent {
  if (reply.kind === 'deleted') return { kind: reply.kind, channel: reply.channel, ts: reply.ts };
  return { ...replyOf(reply), kind: reply.kind };
}

/** The same for a repeat, and for the two events of one mention. */
function dedupeKeyOf(reply: RelevantReply): string {
  switch (reply.kind) {
    case 'reply':
      return reply.ts;
    case 'edited':
      return `${reply.ts} edited ${reply.editedTs}`;
    case 'deleted':
      return `${reply.ts} deleted`;
  }
}

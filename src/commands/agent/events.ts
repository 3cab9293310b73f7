import { newMention } from '../../jobs/agent/mention.ts';
import { tooManyThreadsMessage } from '../../jobs/agent/thread/ephemeral-view.ts';
import { newReply, newThread, threadEvent, threadQuotas } from '../../jobs/agent/thread/record.ts';
import { parseThreadText, type ThreadText } from '../../jobs/agent/thread-text.ts';
import { retention } from '../../runtime/timing.ts';
import type { Message } from '../../slack/blocks.ts';
import { isDirectMessage } from '../../slack/ids.ts';
import { noNames } from '../../slack/markdown/inline.ts';
import { messageToMarkdown } from '../../slack/markdown/message.ts';
import { type Reply, readReply } from '../../slack/reply.ts';
import { idOf } from '../../store/keys.ts';
import type { Quota, RunBase } from '../../store/runs.ts';
import { UserFacingError } from '../intake.ts';
import type { EventListener, EventTools } from '../registry.ts';
import { resolveAgentProject } from './follow.ts';

type RelevantReply = Exclude<Reply, { kind: 'ignored' }>;
type NewReply = Extract<Reply, { kind: 'reply' }>;

/** New, edited and deleted messages. Slack sends a mention twice, once per event type; the dedupe key drops repeats. */
export const messageEvents: readonly EventListener[] = [
  {
    event: 'message',
    subscriptions: {
      'message.channels': 'channels:history',
      'message.groups': 'groups:history',
      'message.im': 'im:history',
      'message.mpim': 'mpim:history',
    },
    handle: handleMessage,
  },
  { event: 'app_mention', subscriptions: { app_mention: 'app_mentions:read' }, handle: handleMessage },
];

async function handleMessage(event: unknown, envelope: unknown, tools: EventTools): Promise<void> {
  const { identity, log } = tools;
  const reply = readReply(event, envelope, identity);
  if (reply.kind === 'ignored') {
    log.debug({ why: reply.why }, 'a message was ignored');
    return;
  }
  const { threadTs } = reply;
  const parsed = readAddressedText(reply, identity.botUserId);
  const isFollow = reply.kind === 'reply' && parsed?.kind === 'follow';
  let problem: Message | undefined;
  try {
    if (isFollow && (await startFollowing(reply, parsed, tools))) return;
  } catch (error) {
    if (!(error instanceof UserFacingError)) throw error;
    problem = error.reply;
  }
  // Even in a followed thread, a request to export a site is not for the agent, which cannot export.
  const namesSite = parsed?.kind === 'export' && parsed.site !== undefined && parsed.typed === undefined;
  const isAppended = threadTs !== undefined && !namesSite;
  const outcome = isAppended ? await appendToFollowedThread(reply, threadTs, tools) : 'notFollowed';
  if (reply.kind !== 'reply' || !parsed || parsed.kind === 'aside') return;
  if (outcome !== 'notFollowed' && outcome !== 'early') return;
  const { teamId, botUserId } = identity;
  const mention = { teamId, botUserId, reply: newReply.parse(reply), problem };
  await accept(newMention(mention, tools.now()), tools);
}

/** Appends a reply to the inbox of the run that follows its thread, if one does. */
async function appendToFollowedThread(reply: RelevantReply, threadTs: string, tools: EventTools) {
  const { identity, threads, wake } = tools;
  const place = { teamId: identity.teamId, channel: reply.channel, rootTs: threadTs };
  const { parentUser } = reply;
  const underOwnMessage = parentUser === undefined ? undefined : parentUser === identity.botUserId;
  const entry = { event: threadEvent.parse(reply), dedupeKey: dedupeKeyOf(reply) };
  const outcome = await threads.appendToThread(place, entry, underOwnMessage);
  if (outcome.kind === 'kept') wake({ id: outcome.runId, job: 'agent-thread' });
  return outcome.kind;
}

/** Makes the thread of a message follow a job. Returns false if it follows one already. May throw `UserFacingError`. */
async function startFollowing(
  { channel, ts, threadTs, user, external }: NewReply,
  { jobId, project: named }: { jobId: string; project?: string | undefined },
  tools: EventTools,
): Promise<boolean> {
  const project = resolveAgentProject(tools.projects, { named, channel }, jobId, '@Docket');
  const { teamId } = tools.identity;
  const place = { teamId, channel, rootTs: threadTs ?? ts };
  if (threadTs !== undefined && (await tools.threads.isClosed(place))) return false;
  const thread = newThread(
    {
      id: idOf('agent-thread', teamId, channel, ts),
      teamId,
      project,
      agentJobId: jobId,
      owner: { id: user, name: user },
      // The app is a member, since it received this; the event does not say who else may read it.
      asked: { channel, joinable: true, isPublic: false, external, rootTs: place.rootTs, ts },
      mode: tools.replyMode,
    },
    tools.now(),
  );
  const [quota] = threadQuotas(thread, tools.limits);
  const accepted = await accept(thread, tools, [quota]);
  if (accepted === 'full') throw new UserFacingError(tooManyThreadsMessage(quota.max));
  return accepted !== 'claimed';
}

async function accept(run: RunBase, { runs, wake }: EventTools, quotas: readonly Quota[] = []) {
  const { kind } = await runs.accept(run, { claimMs: retention.runMs, quotas });
  if (kind === 'accepted') wake(run);
  return kind;
}

/** Returns text addressed to the app itself: by a mention, or in direct messages with it. */
function readAddressedText(reply: RelevantReply, botUserId: string): ThreadText | undefined {
  if (reply.kind !== 'reply') return undefined;
  const isDirect = isDirectMessage(reply.channel) && reply.threadTs === undefined;
  if (!reply.mentionsBot && !isDirect) return undefined;
  return parseThreadText(messageToMarkdown(reply.content, noNames, { withoutMention: botUserId }));
}

/** Returns a key that is the same for a repeat, and for the two events of one mention. */
function dedupeKeyOf(reply: RelevantReply): string {
  if (reply.kind === 'reply') return reply.ts;
  return reply.kind === 'edited' ? `${reply.ts} edited ${reply.editedTs}` : `${reply.ts} deleted`;
}

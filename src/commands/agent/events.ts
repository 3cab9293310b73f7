import { readDomain } from '../../domain.ts';
import { newMention, type ProjectProblem } from '../../jobs/agent/mention/record.ts';
import { newReply, threadEvent } from '../../jobs/agent/thread/event.ts';
import { newThread, threadQuotas } from '../../jobs/agent/thread/record.ts';
import { parseThreadText, type ThreadText } from '../../jobs/agent/thread-text.ts';
import { type FoundJob, mayBePart, type TypedJob } from '../../jobs/typed-job.ts';
import { retention } from '../../runtime/timing.ts';
import { beginningOf, messageToMarkdown } from '../../slack/markdown/message.ts';
import { noNames } from '../../slack/markdown/names.ts';
import { type Reply, readReply } from '../../slack/reply.ts';
import { idOf } from '../../store/keys.ts';
import type { Acceptance, Quota, RunBase } from '../../store/runs.ts';
import type { EventListener, EventTools } from '../registry.ts';
import { chooseAgentJob, resolveAgentProject } from './follow.ts';

type RelevantReply = Exclude<Reply, { kind: 'ignored' }>;
type NewReply = Extract<Reply, { kind: 'reply' }>;
/** A request to follow the typed job. */
type FollowRequest = { typed: TypedJob; project?: string | undefined };

/**
 * Handles new, edited and deleted messages. Slack sends a mention twice, once per event type; the dedupe key drops this
 * and every other repeat.
 */
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
  const wanted = parsed && followRequestOf(parsed);
  if (reply.kind === 'reply' && wanted && (await startFollowing(reply, wanted, tools))) return;
  if (reply.kind === 'reply' && parsed && namesSite(parsed)) {
    // Also in a followed thread: the platform exports a site, its agent does not.
    await startMention(reply, parsed, false, tools);
    return;
  }
  const outcome =
    threadTs === undefined ? 'notFollowed' : await appendToFollowedThread(reply, threadTs, tools);
  if (reply.kind !== 'reply' || !parsed || parsed.kind === 'aside') return;
  // A thread under our message may be followed in a moment: the job of the mention checks that.
  if (outcome === 'notFollowed' || outcome === 'early')
    await startMention(reply, parsed, outcome === 'early', tools);
}

/** Appends a reply to the inbox of the run that follows its thread, if one does. */
async function appendToFollowedThread(
  reply: RelevantReply,
  threadTs: string,
  { identity, threads, wake }: EventTools,
) {
  const place = { teamId: identity.teamId, channel: reply.channel, rootTs: threadTs };
  const { parentUser } = reply;
  const underOwnMessage = parentUser === undefined ? undefined : parentUser === identity.botUserId;
  const entry = { event: threadEvent.parse(reply), dedupeKey: dedupeKeyOf(reply) };
  const outcome = await threads.appendToThread('agent-thread', place, entry, underOwnMessage);
  if (outcome.kind === 'kept') wake({ id: outcome.runId, job: 'agent-thread' });
  return outcome.kind;
}

const namesSite = (parsed: ThreadText) =>
  parsed.kind === 'export' && parsed.site !== undefined && readDomain(parsed.site).kind === 'domain';

function followRequestOf(parsed: ThreadText): FollowRequest | undefined {
  if (parsed.kind === 'follow') return { typed: { kind: 'id', id: parsed.jobId }, project: parsed.project };
  if (parsed.kind !== 'badFollow' || parsed.typed === undefined) return undefined;
  return { typed: parsed.typed, project: parsed.project };
}

/**
 * Returns the job that a text certainly means. Searches only for people who may instruct the agent, and only for
 * possible parts of an id.
 */
async function findJob(
  { user, channel, external }: NewReply,
  { typed, project }: FollowRequest,
  { threads, identity, projects, policy }: EventTools,
): Promise<FoundJob | undefined> {
  const isPart = mayBePart(typed) && (await policy.check(user, 'agent', { external })).kind === 'allowed';
  const entries = isPart ? await threads.followedIndex(identity.teamId) : [];
  const viewer = { user: { id: user, fullMember: false }, channel: { id: channel } };
  const found = await chooseAgentJob(typed, project, entries, viewer, {
    projects,
    isPublic: async () => false,
  });
  if (found.kind === 'one') return found.job;
  return typed.kind === 'id' ? { id: typed.id } : undefined;
}

const projectOf = ({ channel }: NewReply, named: string | undefined, { projects }: EventTools) =>
  resolveAgentProject(projects, { named, channel });

/** Returns whether the message makes a thread follow a job. Repeats of the message have no further effect. */
async function startFollowing(reply: NewReply, wanted: FollowRequest, tools: EventTools): Promise<boolean> {
  const job = await findJob(reply, wanted, tools);
  const project = projectOf(reply, wanted.project ?? job?.project, tools);
  if (job === undefined || project.kind !== 'project') return false;
  const { channel, ts, threadTs, user, external } = reply;
  const { teamId } = tools.identity;
  const place = { teamId, channel, rootTs: threadTs ?? ts };
  if (threadTs !== undefined && (await tools.threads.isClosed(place))) return false;
  const thread = newThread(
    {
      id: idOf('agent-thread', teamId, channel, ts),
      teamId,
      project: project.name,
      agentJobId: job.id,
      owner: { id: user, name: user },
      checked: false,
      // The app is a member, since it received this; the event does not say who else may read it.
      asked: { channel, joinable: true, isPublic: false, external, rootTs: place.rootTs, ts },
      mode: tools.replyMode,
      instruction: undefined,
    },
    tools.now(),
  );
  const [quota] = threadQuotas(thread, tools.limits);
  const accepted = await accept(thread, tools, [quota]);
  if (accepted === 'full') await startMention(reply, { kind: 'full', max: quota.max }, false, tools);
  return accepted !== 'claimed';
}

/** Starts the answer to a mention that starts nothing by itself. */
async function startMention(
  reply: NewReply,
  about: ThreadText | ProjectProblem,
  early: boolean,
  tools: EventTools,
) {
  const { teamId, botUserId } = tools.identity;
  const { threadTs } = reply;
  const project = about.kind === 'follow' ? projectOf(reply, about.project, tools) : undefined;
  const unclear = project?.kind === 'unclear' ? project.problem : undefined;
  const problem = about.kind === 'full' ? about : unclear;
  const mention = { teamId, botUserId, reply: newReply.parse(reply), threadTs, early, problem };
  await accept(newMention(mention, tools.now()), tools);
}

async function accept(
  run: RunBase,
  { runs, wake }: EventTools,
  quotas: readonly Quota[] = [],
): Promise<Acceptance['kind']> {
  const { kind } = await runs.accept(run, Number.MAX_SAFE_INTEGER, retention.runMs, undefined, quotas);
  if (kind === 'accepted') wake(run);
  return kind;
}

/** Returns text addressed to the app itself: by a mention, or in direct messages with it. */
function readAddressedText(reply: RelevantReply, botUserId: string): ThreadText | undefined {
  if (reply.kind !== 'reply') return undefined;
  const isDirect = reply.channel.startsWith('D') && reply.threadTs === undefined;
  if (!reply.mentionsBot && !isDirect) return undefined;
  return parseThreadText(
    messageToMarkdown(beginningOf(reply.content), noNames, { withoutMention: botUserId }),
  );
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

import type { MentionRun } from '../../jobs/agent/mention/record.ts';
import type { Heard } from '../../jobs/agent/thread/event.ts';
import type { ThreadRun } from '../../jobs/agent/thread/record.ts';
import { readThreadWords, type ThreadWords } from '../../jobs/agent/thread-text.ts';
import type { Project } from '../../projects.ts';
import type { Log } from '../../runtime/log.ts';
import { keep } from '../../runtime/timing.ts';
import { within } from '../../runtime/within.ts';
import type { Identity } from '../../slack/client.ts';
import { beginningOf, messageMarkdown } from '../../slack/markdown/message.ts';
import { noNames } from '../../slack/markdown/names.ts';
import { type Reply, readReply, type Written } from '../../slack/reply.ts';
import { idOf } from '../../store/ids.ts';
import type { Acceptance, RunBase, RunStore } from '../../store/runs.ts';
import type { ThreadStore } from '../../store/threads.ts';
import { agentProject, newThread } from './new-thread.ts';

export interface HeardParts {
  threads: Pick<ThreadStore, 'tell'>;
  runs: Pick<RunStore, 'accept'>;
  /** Has a worker look at a run at once. */
  wake: (run: Pick<RunBase, 'id' | 'job'>) => Promise<void>;
  /** Who the bot is; nothing while Slack has not told yet. */
  identity: () => Identity | undefined;
  projects: readonly Project[];
  /** Which replies in a thread are instructions, unless people there say otherwise. */
  replies: ThreadRun['mode'];
  now: () => number;
  log: Log;
}

/** How long queueing may delay the answer; what was told is kept by then, and the sweeper queues what is not. */
const QUEUE_MS = 400;

type Told = Exclude<Reply, { kind: 'ignored' }>;
type NewReply = Extract<Reply, { kind: 'reply' }>;
type FollowWords = Extract<ThreadWords, { kind: 'follow' }>;

/**
 * Takes what was written, edited and deleted: `message` and `app_mention` events, with the request's body around
 * them. Rejects when it could not keep something, so that Slack tells it again; what is told again is dropped.
 */
export function createHeard(parts: HeardParts): (event: unknown, envelope: unknown) => Promise<void> {
  const { threads, runs, wake, projects, replies, now, log } = parts;

  /** For the look of the run that follows a thread, if one does. */
  async function tellThread(told: Told, threadTs: string, identity: Identity) {
    const place = { teamId: identity.teamId, channel: told.channel, rootTs: threadTs };
    const { parentUser } = told;
    const underOurs = parentUser === undefined ? undefined : parentUser === identity.botUserId;
    const what = { entry: entryOf(told), once: onceOf(told) };
    const answer = await threads.tell('agent-thread', place, what, underOurs);
    if (answer.kind === 'kept') await wakeSoon({ id: answer.runId, job: 'agent-thread' });
    return answer.kind;
  }

  const projectOf = ({ channel }: NewReply, { project: named }: FollowWords) =>
    agentProject(projects, { named, channel });

  /** Answers whether the message has a thread follow a job: it does so once, however often Slack tells of it. */
  async function follows(reply: NewReply, words: ThreadWords, identity: Identity): Promise<boolean> {
    if (words.kind !== 'follow') return false;
    const project = projectOf(reply, words);
    if (project.kind !== 'project') return false;
    return (await accept(threadOf(reply, words.jobId, project.name, identity.teamId))) !== 'claimed';
  }

  async function mentioned(reply: NewReply, words: ThreadWords, early: boolean, identity: Identity) {
    const project = words.kind === 'follow' ? projectOf(reply, words) : undefined;
    const run: MentionRun = {
      v: 2,
      id: idOf('agent-mention', identity.teamId, reply.channel, reply.ts),
      teamId: identity.teamId,
      job: 'agent-mention',
      rev: 1,
      people: [],
      botUserId: identity.botUserId,
      reply: replyOf(reply),
      ...(reply.threadTs !== undefined && { threadTs: reply.threadTs }),
      early,
      ...(project?.kind === 'unclear' && { problem: project.problem }),
      sinceMs: now(),
    };
    await accept(run);
  }

  function threadOf(
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
        mode: replies,
        instruction: undefined,
      },
      now(),
    );
  }

  async function accept(run: RunBase): Promise<Acceptance['kind']> {
    const { kind } = await runs.accept(run, Number.MAX_SAFE_INTEGER, keep.runMs, undefined);
    if (kind === 'accepted') await wakeSoon(run);
    return kind;
  }

  async function wakeSoon(run: Pick<RunBase, 'id' | 'job'>): Promise<void> {
    try {
      await within(QUEUE_MS, wake(run));
    } catch (error) {
      log.warn({ err: error, run: run.id }, 'kept, but not queued yet; the sweeper does it');
    }
  }

  return async (event, envelope) => {
    const identity = parts.identity();
    if (identity === undefined) throw new Error('a message came before Slack told who the bot is');
    const told = readReply(event, envelope, identity);
    if (told.kind === 'ignored') {
      log.debug({ why: told.why }, 'a message was ignored');
      return;
    }
    const { threadTs } = told;
    const words = wordsOf(told, identity.botUserId);
    if (told.kind === 'reply' && words && (await follows(told, words, identity))) return;
    const answer = threadTs === undefined ? 'notFollowed' : await tellThread(told, threadTs, identity);
    if (told.kind !== 'reply' || !words || words.kind === 'aside') return;
    // Under a message of ours the thread may be followed in a moment: the look at the mention sees.
    if (answer === 'notFollowed' || answer === 'early')
      await mentioned(told, words, answer === 'early', identity);
  };
}

/** What somebody says to the app itself: with a mention of it, or in direct messages with it. */
function wordsOf(told: Told, botUserId: string): ThreadWords | undefined {
  if (told.kind !== 'reply') return undefined;
  const isDirect = told.channel.startsWith('D') && told.threadTs === undefined;
  if (!told.mentionsBot && !isDirect) return undefined;
  return readThreadWords(messageMarkdown(beginningOf(told.content), noNames, { withoutMention: botUserId }));
}

function replyOf({ channel, ts, user, external, mentionsBot, mentionsOthers, content, files }: Written) {
  return { kind: 'reply' as const, channel, ts, user, external, mentionsBot, mentionsOthers, content, files };
}

function entryOf(told: Told): Heard {
  if (told.kind === 'deleted') return { kind: told.kind, channel: told.channel, ts: told.ts };
  return { ...replyOf(told), kind: told.kind };
}

/** The same for a repeat, and for the two events of one mention. */
function onceOf(told: Told): string {
  switch (told.kind) {
    case 'reply':
      return told.ts;
    case 'edited':
      return `${told.ts} edited ${told.editedTs}`;
    case 'deleted':
      return `${told.ts} deleted`;
  }
}

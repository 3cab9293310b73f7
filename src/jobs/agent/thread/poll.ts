import type { DocsApi } from '../../../docs-api/client.ts';
import type { AgentJob } from '../../../docs-api/operations.ts';
import type { JobContext } from '../../engine/context.ts';
import { save } from '../../engine/job.ts';
import { isUnknownJob, nextPollMs, pollJob } from '../../engine/polling.ts';
import { previewAlias, previewSupport } from '../../site/record.ts';
import { saveChanges } from './publish.ts';
import {
  type Instruction,
  openRoundOf,
  type RoundEnding,
  type ThreadRound,
  type ThreadRun,
} from './record.ts';
import { updateInstruction } from './transitions.ts';

type JobSnapshot = NonNullable<ThreadRun['seen']>;

/**
 * Consecutive "not found" answers before a job counts as unknown, within half a minute: a new job may not be known
 * everywhere at once, and the platform may not find an old one for a moment.
 */
const NOT_FOUND_AFTER = 6;

function pollAgentJob(thread: ThreadRun, context: JobContext) {
  const { project, agentJobId: jobId = '' } = thread;
  const projectId = context.projectId(project) ?? '';
  const docs = projectId === '' ? undefined : context.docs(project);
  const get = (api: DocsApi) => api.getAgentJob({ projectId, jobId }, { signal: context.stopping });
  return pollJob(thread, 'agent-status', docs, get, context);
}

/** Looks up the job that a person named; a job that Docket makes needs no look-up. */
export async function lookUpNamedJob(thread: ThreadRun, context: JobContext) {
  if (thread.agentJobId === undefined) return 'known';
  const poll = await pollAgentJob({ ...thread, pollRequested: true }, context);
  if ('inMs' in poll) return poll.inMs;
  return isUnknownJob(poll) ? 'unknown' : 'known';
}

/** Polls the job if that is due. Returns the save of its result, or in how many milliseconds a poll is due. */
export async function pollWhenDue(thread: ThreadRun, context: JobContext) {
  const { now, random, timing } = context;
  const round = openRoundOf(thread);
  if (thread.agentJobId === undefined || thread.state === 'ended') return Infinity;
  if (!round && !thread.pollRequested) return Infinity;
  const polledAtMs = now();
  const saveNext = (next: ThreadRun) => saveChanges(thread, next, 0, context);
  if (round && polledAtMs - round.sentAtMs >= timing.watchMs)
    return saveNext(stopPolls(thread, 'gaveUp', polledAtMs));
  const poll = await pollAgentJob(thread, context);
  if ('inMs' in poll) return poll.inMs;
  if ('failure' in poll) {
    const { failure } = poll;
    const isGone = failure.kind === 'lost' && failure.inARow >= NOT_FOUND_AFTER;
    if (isGone) return saveNext(stopPolls(thread, 'gone', now()));
    return save({ ...thread, pollFailure: failure, nextPollAtMs: failure.nextMs });
  }
  const next = applyPoll(thread, poll.job, polledAtMs, timing.graceMs);
  const startedAtMs = openRoundOf(next)?.sinceMs ?? polledAtMs;
  const nextPollAtMs = now() + nextPollMs({ startedAtMs }, now(), timing, random());
  if (poll.job.status === 'active') return saveNext({ ...next, nextPollAtMs });
  // A round that was given up may be found ended, without ever being open again.
  const last = next.rounds.at(-1);
  if (last?.ending && last !== thread.rounds.at(-1)) await markPreviewOlder(next, last.n, context);
  const support = previewSupport(thread.teamId, thread.project);
  const previews = !(await context.support.isMissing(support));
  return saveNext({ ...next, previews, nextPollAtMs });
}

/** Marks the latest preview of the branch as older than a round. Runs before the save: after a crash, it is repeated. */
async function markPreviewOlder({ id, seen }: ThreadRun, n: number, { runs, wake }: JobContext) {
  const preview = seen?.ref === undefined ? undefined : await runs.byAlias(previewAlias(id, seen.ref));
  if (preview === undefined) return;
  await runs.appendToInbox('site', preview, { event: {}, dedupeKey: `round ${n}` });
  await wake({ job: 'site', id: preview });
}

/** Ends the polls, and the open round: the platform does not know the job, or the agent has worked for too long. */
function stopPolls(thread: ThreadRun, kind: 'gone' | 'gaveUp', atMs: number): ThreadRun {
  const next: ThreadRun = { ...thread, pollRequested: false };
  if (kind === 'gone') Object.assign(next, { notFound: true, pollFailure: undefined });
  const round = openRoundOf(thread);
  const afterMs = kind === 'gaveUp' && round ? atMs - round.sentAtMs : undefined;
  return round ? endRound(next, round, { kind, afterMs, atMs }) : next;
}

/** Applies a poll that began at `atMs`: the job's state, the end of the open round, or a round from elsewhere. */
export function applyPoll(thread: ThreadRun, job: AgentJob, atMs: number, graceMs: number): ThreadRun {
  const seen = snapshotOf(job, thread.seen, atMs);
  const known = { notFound: undefined, pollFailure: undefined, pollRequested: false };
  const next: ThreadRun = { ...thread, ...known, seen };
  const round = openRoundOf(thread) ?? foundRound(thread, seen);
  if (round === undefined) return next;
  const before = thread.seen && thread.seen.atMs >= round.sentAtMs ? thread.seen.status : undefined;
  // Until the job was seen active after the last send, the platform may still show the previous state.
  const isCurrent = before === 'active' || atMs - round.sentAtMs >= graceMs;
  const hasEnded =
    seen.status === 'completed' || seen.status === 'failed' ? isCurrent : seen.status === 'archived';
  return hasEnded ? endRound(next, round, endingOf(seen, round.prBefore)) : putRound(next, round);
}

/**
 * Returns a newer snapshot. A field that the platform leaves out keeps its value. But if a completed job names no pull
 * request, the snapshot has none.
 */
export function snapshotOf(job: AgentJob, before: JobSnapshot | undefined, atMs: number): JobSnapshot {
  const { status, rawStatus, repository, ref, model, prLink, createdAt, archivedAt } = job;
  return {
    status,
    rawStatus,
    repository: repository ?? before?.repository,
    ref: ref ?? before?.ref,
    model: model ?? before?.model,
    prLink: status === 'completed' ? prLink : (prLink ?? before?.prLink),
    createdAtMs: createdAt ?? before?.createdAtMs,
    archivedAtMs: archivedAt,
    atMs,
  };
}

/**
 * Returns a round in which this thread sent nothing, if the job is active; or the last one again if it was given up, so
 * that its result is shown.
 */
function foundRound(thread: ThreadRun, { status, atMs }: JobSnapshot): ThreadRound | undefined {
  const last = thread.rounds.at(-1);
  if (last?.ending?.kind === 'gaveUp' && status !== 'unknown') {
    const { sinceMs, prBefore, authors, count, last: request } = last;
    const sentAtMs = status === 'active' ? atMs : last.sentAtMs;
    return newRound(thread, { sinceMs, sentAtMs, prBefore, authors, count, last: request, found: true });
  }
  if (status !== 'active') return undefined;
  return newRound(thread, { sinceMs: atMs, sentAtMs: atMs, authors: [thread.owner], found: true });
}

const newRound = (
  thread: ThreadRun,
  more: Pick<ThreadRound, 'sinceMs' | 'sentAtMs'> & Partial<ThreadRound>,
): ThreadRound => ({
  n: (thread.rounds.at(-1)?.n ?? 0) + 1,
  count: 0,
  authors: [],
  prBefore: pullRequestOf(thread),
  ...more,
});

/** Returns the job's last known pull request. A completed job that changed no file names none. */
function pullRequestOf({ seen, rounds }: ThreadRun): string | undefined {
  const { ending, prBefore } = rounds.at(-1) ?? {};
  return seen?.prLink ?? ending?.prLink ?? prBefore;
}

const putRound = (thread: ThreadRun, round: ThreadRound): ThreadRun => ({
  ...thread,
  rounds: [...thread.rounds.filter(({ n }) => n !== round.n), round],
});

/**
 * Adds a send at `atMs` to the open round, or opens one: of this thread's instruction `one`, or of another thread. The
 * next poll is due at once.
 */
export function addSend(thread: ThreadRun, atMs: number, one?: Instruction): ThreadRun {
  const open = {
    ...(openRoundOf(thread) ?? newRound(thread, { sinceMs: atMs, sentAtMs: atMs })),
    sentAtMs: atMs,
    found: undefined,
  };
  const nextPollAtMs = Math.max(thread.pollFailure?.nextMs ?? 0, atMs);
  const next = { ...thread, nextPollAtMs };
  if (one === undefined) return putRound(next, open);
  const { id, by, excerpt } = one;
  const authors = open.authors.some((author) => author.id === by.id) ? open.authors : [...open.authors, by];
  const sent = { count: open.count + 1, last: { id, by, excerpt }, authors };
  return updateInstruction(putRound(next, { ...open, ...sent }), id, { state: 'working', round: open.n });
}

function endRound(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): ThreadRun {
  const instructions = thread.instructions.map((one): Instruction => {
    if (one.state !== 'working' || one.round !== round.n) return one;
    return { ...one, state: 'sent', ...(one.origin && { ending }) };
  });
  // A preview that is being built comes as an event, which says whether it shows this round.
  const preview = thread.preview?.isBuilding ? thread.preview : undefined;
  return putRound({ ...thread, instructions, preview }, { ...round, ending });
}

function endingOf(seen: JobSnapshot, prBefore: string | undefined): RoundEnding {
  const { status, prLink, atMs } = seen;
  if (status === 'archived' || status === 'failed') return { kind: status, atMs };
  if (prLink === undefined) return { kind: 'noPr', atMs };
  return { kind: prLink === prBefore ? 'samePr' : 'newPr', prLink, atMs };
}

import { orWait, type Wait, wait } from '../../../runtime/later.ts';
import { noNames } from '../../../slack/markdown/inline.ts';
import { findMentions, leavesSharedOut, messageToMarkdown } from '../../../slack/markdown/message.ts';
import { tsToMs } from '../../../slack/text.ts';
import { threadClaim } from '../../../store/threads.ts';
import type { JobContext } from '../../engine/context.ts';
import { defineRunJob, idle, idleWithClaim, type StepResult, save } from '../../engine/job.ts';
import { lookupRetryMs } from '../../engine/polling.ts';
import { permitted } from '../../engine/waits.ts';
import { followPullRequest } from '../../pull-request/follow.ts';
import { awaitCard } from '../../shared/place.ts';
import { reportPrivately } from '../../shared/report.ts';
import { loadNames } from '../read-background.ts';
import { auditChanges, auditOf } from './audit.ts';
import { privateEnding, threadNeeds } from './ephemeral-view.ts';
import { endThread } from './instructions.ts';
import { openQuestion, postEphemeral, react } from './publish.ts';
import { addEphemeral, type ThreadEvent, type ThreadRun, threadEvents, threadRun } from './record.ts';
import { applyEvent, type EventContext } from './replies.ts';
import { compact, retain } from './retain.ts';
import { finishSend, nextSend } from './send.ts';
import type { Strand, StrandResult } from './strand.ts';
import { cardKey, threadMessages } from './view.ts';
import { isKnownJob, watch } from './watch.ts';

/** Steps mostly wait for the platform, and a step that hangs must not delay other threads. */
const CONCURRENCY = 200;

/** Steps one followed thread from the request to its end: takes events, sends instructions, polls the job. */
export const threadJob = defineRunJob<ThreadRun, ThreadEvent>({
  name: 'agent-thread',
  queue: 'docs-agent',
  concurrency: CONCURRENCY,
  schema: threadRun,
  needs: threadNeeds.of,
  messages: (run, { slack }) => threadMessages(run, slack.workspaceUrl()),
  auditLine: auditOf,
  events: threadEvents,
  async beforeSave(before, next, context) {
    await auditChanges(before, next.run, context);
    return { ...next, run: compact(next.run) };
  },
  async step(run, context, events) {
    if (run.state === 'accepted') return authorize(run, context);
    if (run.state === 'postingCard') return postCard(run, context);
    return follow(run, context, events);
  },
  giveUp: async (run, _, ref) => save(endThread(run, { why: 'broken', ref })),
});

/** Looks up the job, and checks the owner's permission unless it was checked when the request arrived. */
async function authorize(run: ThreadRun, context: JobContext): Promise<StepResult<ThreadRun>> {
  const { external, isPublic: isKnownPublic, channel } = run.asked;
  let next = run;
  if (external !== undefined) {
    const verdict = await permitted(run.owner.id, 'agent', context, { external });
    const { id, name } = verdict.person;
    const owner = { id, name };
    if (verdict.kind === 'refused') {
      const ephemeral = { id: 'refused', to: id, kind: 'notPermitted' as const, about: verdict.contacts };
      return save(addEphemeral(endThread({ ...run, owner }, { why: 'refused' }), ephemeral));
    }
    const isPublic = isKnownPublic || (await context.slack.isPublic(channel));
    next = { ...run, owner, asked: { ...run.asked, isPublic } };
  }
  if (!(await isKnownJob(run, context))) return save(endThread(next, { why: 'unknownJob' }));
  return save({ ...next, state: 'postingCard', sinceMs: context.now() }, { audit: 'accepted' });
}

/** Posts the card first: if it cannot be posted, nothing is followed or sent. */
async function postCard(run: ThreadRun, context: JobContext): Promise<StepResult<ThreadRun>> {
  const card = await awaitCard(run, cardKey(run), context);
  if (card.kind === 'elsewhere') return save({ ...run, inDirectMessage: true });
  if (card.kind === 'refused')
    return save(endThread(run, { why: 'noPlace', code: card.code }), { audit: `refused: ${card.code}` });
  const { channel, ts } = card;
  const place = { channel, rootTs: run.inDirectMessage ? ts : (run.asked.rootTs ?? ts) };
  const claimed = { ...run, claim: threadClaim({ teamId: run.teamId, ...place }), place };
  const holder = await context.store.threads.follow(claimed, { teamId: run.teamId, ...place });
  if (holder !== undefined) return save(endThread(run, { why: 'taken' }));
  return save({ ...claimed, state: 'following', sinceMs: context.now() });
}

/** Takes what people did, and begins to send what they asked for, in one save. */
async function takeEvents(run: ThreadRun, context: JobContext, events: readonly ThreadEvent[]): StrandResult {
  const { thread, taken } = await applyEvents(run, events, context);
  if (taken === 0) return events.length > 0 ? wait(lookupRetryMs(context)) : undefined;
  return save(await withNextSend(thread, context), { taken });
}

/** Begins to send what is next, unless that has to wait. */
async function withNextSend(thread: ThreadRun, context: JobContext): Promise<ThreadRun> {
  const begun = await orWait(nextSend(thread, context));
  return begun && 'id' in begun ? begun : thread;
}

/** Polls the job, and begins to send what waited for the end of its work, in one save. */
async function watchAndSend(run: ThreadRun, context: JobContext): StrandResult {
  const watched = await watch(run, context);
  return watched?.kind === 'save' ? save(await withNextSend(watched.run, context)) : watched;
}

async function beginSend(run: ThreadRun, context: JobContext): StrandResult {
  const begun = await nextSend(run, context);
  return begun && save(begun);
}

/** An ended thread is no longer followed. If it never was, its owner reads why. */
async function closeEnded(run: ThreadRun, context: JobContext): StrandResult {
  if (run.state !== 'ended' || run.instructions.some(({ state }) => state === 'sending')) return undefined;
  await context.store.threads.unfollow(run.teamId, run.id);
  const message = privateEnding(run, context.settings.limits.threadsPerPerson);
  if (message) await reportPrivately(run, { name: 'not-followed', userId: run.owner.id, message }, context);
  return undefined;
}

/** What a followed thread does, the most important first: it sends before it polls. */
const STRANDS: readonly Strand[] = [
  finishSend,
  takeEvents,
  beginSend,
  closeEnded,
  postEphemeral,
  openQuestion,
  react,
  followPullRequest,
  retain,
  watchAndSend,
];

/**
 * Takes the first change of a strand, or waits for the strand that is due first. One that is due at once lets none come
 * before it. After the end, the platform finishes its instructions, but they are no longer shown here.
 */
async function follow(run: ThreadRun, context: JobContext, events: readonly ThreadEvent[]) {
  let next: Wait | undefined;
  for (const strand of STRANDS) {
    const result = await orWait(strand(run, context, events));
    if (result?.kind === 'save' || result?.inMs === 0) return result;
    if (result && result.inMs < (next?.inMs ?? Infinity)) next = result;
  }
  return next ?? (run.state === 'ended' ? idle : idleWithClaim);
}

/** Applies events in order, until one has an author who is not known yet. */
async function applyEvents(run: ThreadRun, events: readonly ThreadEvent[], context: JobContext) {
  let thread = run;
  let taken = 0;
  for (const event of events) {
    const about = await loadEventContext(event, context);
    if (about === undefined) break;
    // Our own defect must not stop the thread.
    try {
      thread = applyEvent(thread, event, about);
    } catch (error) {
      context.log.error({ run: run.id, kind: event.kind, err: error }, 'an event of a thread is left out');
    }
    taken += 1;
  }
  return { thread, taken };
}

/** Returns undefined while the author, or the names in the text, are unknown. */
async function loadEventContext(event: ThreadEvent, context: JobContext): Promise<EventContext | undefined> {
  const { settings, timing, policy, slack, now } = context;
  const { graceMs } = timing;
  const known = { limits: settings.limits, nowMs: now(), graceMs, contacts: '', text: '', files: false };
  // Clicks and modals have already passed the gate.
  if (!('user' in event))
    return { ...known, author: { id: '', name: '', ...('by' in event && event.by), may: true } };
  const { content, ts, user } = event;
  const botUserId = slack.botUserId();
  const verdict = await policy.check(user, 'agent', event);
  if (verdict.kind === 'unknown' || botUserId === undefined) return undefined;
  const { id, name } = verdict.person;
  const may = verdict.kind === 'allowed';
  const contacts = verdict.kind === 'refused' ? verdict.contacts : '';
  const names = may ? await loadNames(findMentions(content), tsToMs(ts), context) : noNames;
  if (names === undefined) return undefined;
  const text = messageToMarkdown(content, names, { withoutMention: botUserId });
  const files = event.files || leavesSharedOut(content, names);
  return { ...known, contacts, author: { id, name, may }, text, files };
}
